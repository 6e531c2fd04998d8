import type { MessageLimits } from '../../events/read-events.js';
import { limits as usualLimits } from '../../base/limits.js';
import { createAuthentication, type AuthenticateRequest } from './authentication.js';
import { createCounter, type RequestCounter } from './counter.js';
import { answerDelivery, Gone, RetryLater, type Receive } from './delivery.js';
import { allow, BodyTakenError, headersOf, problem, type Handle } from './exchange.js';
import { fastifyAdapter } from './fastify.js';
import { fetchAdapter, honoAdapter } from './fetch.js';
import { answerHandshake } from './handshake.js';
import { koaAdapter } from './koa.js';
import { nodeAdapter } from './node.js';
import { createOriginPolicy, type AllowedOrigins, type RateOfOrigins } from './origin-policy.js';
import type { LargeIntegers } from './parse-data.js';
import { PendingRequests, type CallbackSettings, type Pending } from './pending.js';
import type { Caller } from './callback-call.js';
import { Verification, type VerifySettings } from './verification.js';

export interface WebhookSettings {
  origins: AllowedOrigins;
  /** For all origins that `origins` names without a rate, and where its function returns true. */
  rate?: RateOfOrigins | undefined;
  receive: Receive;
  /**
   * Requests without a valid token get 401. If it is left out, everyone may send who names an allowed origin; undefined
   * is an error, because it may be a variable of the environment that is not set.
   */
  authenticate?: AuthenticateRequest;
  /** Only signed requests get consent and deliver. If it is left out, signatures are not checked; undefined is an error. */
  verify?: VerifySettings;
  /** `nl-gov` accepts no access token in the query. */
  profile?: 'cloudevents' | 'nl-gov' | undefined;
  /** A body has at most so many bytes (1,048,576 if absent) and events (100 if absent). */
  limits?: Partial<MessageLimits> | undefined;
  /**
   * What an integer in JSON data becomes if a number cannot hold it: `bigint` if absent, `string`, or `refuse`, which
   * returns 400. It is never rounded.
   */
  largeIntegers?: LargeIntegers | undefined;
  /** Enforces the rates. If absent: in this process alone. */
  counter?: RequestCounter | undefined;
  /** How callback URLs are kept and called, for origins that are decided later. */
  callbacks?: CallbackSettings | undefined;
  /**
   * Gets what the functions and stores of the application throw, and why a callback URL got no consent. The sender gets
   * a 500 without these details. If absent, they go to the console.
   */
  onFault?: ((error: unknown) => void) | undefined;
}

/** One webhook. Each adapter answers its handshake and receives its events; they do the same. */
export interface Webhook {
  /** For `node:http`, and as middleware: `app.all('/events', webhook.node)` in Express. */
  node: ReturnType<typeof nodeAdapter>;
  /** A plugin: `app.register(webhook.fastify, { prefix: '/events' })`. */
  fastify: ReturnType<typeof fastifyAdapter>;
  /** `app.all('/events', webhook.hono)`. */
  hono: ReturnType<typeof honoAdapter>;
  /** `router.all('/events', webhook.koa)` with @koa/router. */
  koa: ReturnType<typeof koaAdapter>;
  /** From a Request to a Response. */
  fetch: ReturnType<typeof fetchAdapter>;
  /** For a file that exports a function for each method: `export const { OPTIONS, POST } = webhook.routes`. */
  routes: Record<'OPTIONS' | 'POST', ReturnType<typeof fetchAdapter>>;
  /** For everything else that speaks HTTP. Never rejects. */
  handle: Handle;
  /** Requests for consent whose callback URL has not expired. Those with `allowedrate` are decided and being called. */
  pending(): Promise<Pending[]>;
  /**
   * Calls again the callback URLs that are decided and not reached, once each, if their time has come. For a timer of the
   * platform where no process goes on after a response; elsewhere nobody has to call it. Rejects if the store does.
   */
  resume(): Promise<void>;
  /** Ends the calls of callback URLs. The store keeps what is not done. */
  close(): void;
}

/** `createWebhook` of `index.ts` and `web.ts`, which differ in what calls callback URLs. */
export function createWebhookWith(caller: Caller, settings: WebhookSettings): Webhook {
  const { origins, rate, receive, authenticate, profile = 'cloudevents', counter = createCounter() } = settings;
  const { largeIntegers = 'bigint' } = settings;
  checkNames(settings, settingNames, '');
  checkNames(settings.callbacks ?? {}, callbackSettingNames, 'callbacks.');
  if ('authenticate' in settings && authenticate === undefined) {
    throw new Error('`authenticate` is undefined. Leave it out if senders need no access token.');
  }
  if ('verify' in settings && settings.verify === undefined) {
    throw new Error('`verify` is undefined. Leave it out if senders need not sign.');
  }
  checkNames(settings.verify ?? {}, verifySettingNames, 'verify.');
  // A fault that nobody sees is worse than a line in the console.
  const { onFault = console.error } = settings;
  if (typeof receive !== 'function') throw new Error('`receive` is the function that gets the events.');
  if (profile !== 'cloudevents' && profile !== 'nl-gov') throw new Error('`profile` is "cloudevents" or "nl-gov".');
  const limits = { ...usualLimits.message, ...settings.limits };
  for (const [name, limit] of Object.entries(limits)) {
    if (!(Number.isInteger(limit) && limit > 0)) throw new Error(`\`limits.${name}\` is a positive integer.`);
  }
  if (!['bigint', 'string', 'refuse'].includes(largeIntegers)) {
    throw new Error('`largeIntegers` is "bigint", "string" or "refuse".');
  }
  const policy = createOriginPolicy(origins, rate);
  const pending = new PendingRequests(settings.callbacks, caller, onFault);
  const verification = settings.verify && new Verification(settings.verify, caller, onFault);
  const parts = {
    policy,
    verification,
    counter,
    receive,
    limits,
    largeIntegers,
    authenticate: createAuthentication(authenticate, profile !== 'nl-gov'),
  };

  const handle: Handle = async (request) => {
    try {
      const headers = headersOf(request.headers);
      if (request.method === 'OPTIONS') {
        return await answerHandshake({ policy, pending, verification }, request, headers);
      }
      if (request.method === 'POST') return await answerDelivery(parts, request, headers);
      return problem(405, 'This is a webhook: it takes events with POST.', { headers: allow });
    } catch (error) {
      if (error instanceof Gone) return problem(410, error.message);
      if (error instanceof RetryLater) {
        return problem(503, error.message, { headers: { 'Retry-After': String(Math.ceil(error.seconds)) } });
      }
      onFault(error);
      return problem(500, error instanceof BodyTakenError ? error.message : 'The webhook failed. Its log says why.');
    }
  };
  const fetch = fetchAdapter(handle);
  return {
    handle,
    node: nodeAdapter(handle),
    fastify: fastifyAdapter(handle),
    hono: honoAdapter(handle),
    koa: koaAdapter(handle),
    fetch,
    routes: { OPTIONS: fetch, POST: fetch },
    pending: () => pending.list(),
    resume: () => pending.resume(),
    close: () => pending.close(),
  };
}

const settingNames = {
  origins: 0,
  rate: 0,
  receive: 0,
  authenticate: 0,
  verify: 0,
  profile: 0,
  limits: 0,
  largeIntegers: 0,
  counter: 0,
  callbacks: 0,
  onFault: 0,
} satisfies Record<keyof WebhookSettings, 0>;
const callbackSettingNames = {
  onRequest: 0,
  onOutcome: 0,
  store: 0,
  lifetimeSeconds: 0,
  ca: 0,
  deadlineMs: 0,
  background: 0,
  hosts: 0,
  networks: 0,
  development: 0,
} satisfies Record<keyof CallbackSettings, 0>;

const verifySettingNames = {
  url: 0,
  keys: 0,
  secrets: 0,
  replays: 0,
  onRefused: 0,
  networks: 0,
  ca: 0,
  development: 0,
  deadlineMs: 0,
} satisfies Record<keyof VerifySettings, 0>;

/** A misspelt setting, such as `authentication`, would leave a door open. */
function checkNames(settings: object, known: object, place: string): void {
  const unknown = Object.keys(settings).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw new Error(`A webhook has no setting \`${place}${unknown}\`.`);
}
