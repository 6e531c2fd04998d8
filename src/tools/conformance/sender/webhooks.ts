import type { SenderCaseId } from '../cases.js';
import { type SentCallback, type Exchange, linesOf, type Reply } from './exchange.js';

/** One webhook that the kit plays, on an address of its own. */
export interface PlayedWebhook {
  /** The first segment of its path. */
  name: string;
  case: SenderCaseId;
  /** What it does, for people. */
  does: string;
  /** How many events the sender is asked to send. */
  events: number;
  /** How many instances of the sender send them at the same time. Absent: one. */
  instances?: number;
  onOptions(asked: Exchange, stage: Stage): Reply | Promise<Reply>;
  onDelivery?(delivery: Exchange, stage: Stage): Reply | Promise<Reply>;
}

/** What a webhook can do besides responding. */
export interface Stage {
  /** The path of a webhook of the kit, with its query. */
  targetOf(name: string): string;
  /** Calls the callback that was offered last. Resolves with the response, or while a slow sender still works on it. */
  call(method: SentCallback['method'], headers?: Record<string, string>): Promise<void>;
  /** The callback has been called, or is being called. */
  isCalled(): boolean;
  /** Continues after the response. */
  later(work: () => Promise<void>): void;
  /** Resolves when nothing has arrived at any webhook for a while. */
  untilQuiet(): Promise<void>;
  /** Resolves when the sender waits for responses of this webhook: nothing more has arrived for a moment. */
  untilHeld(): Promise<void>;
  /** Milliseconds by the monotonic clock: until then the webhook wants no requests. */
  holdUntil: number | undefined;
  retryAfterSeconds: number;
}

/** Per minute. More than any webhook gets here. */
const amply = '120';
export const lowRate = 2;
export const sharedRate = 6;
const allow = { Allow: 'POST, OPTIONS' };

const originOf = (asked: Exchange): string => linesOf(asked, 'webhook-request-origin')[0] ?? 'unnamed.example';

function consent(asked: Exchange, { origin = originOf(asked), rate = amply, status = 200 } = {}): Reply {
  return {
    status,
    headers: { ...allow, 'WebHook-Allowed-Origin': origin, 'WebHook-Allowed-Rate': rate },
  };
}

const consenting = { onOptions: (asked: Exchange) => consent(asked) };
const withheld: Reply = { status: 200, headers: {} };
/** Of a delivery, where nothing else is said. */
export const accepted: Reply = { status: 204, headers: {} };

/**
 * Calls the callback when it has been offered for the first time and the response is on its way. An event that arrives
 * before the last call has ended is answered after it: a sender may be gone when it has nothing more to send.
 */
function withholding(call: (stage: Stage) => Promise<void>): Pick<PlayedWebhook, 'onOptions' | 'onDelivery'> {
  let calling: Promise<void> | undefined;
  return {
    onOptions(asked, stage) {
      if (calling === undefined && linesOf(asked, 'webhook-request-callback').length > 0) {
        calling = stage.untilQuiet().then(() => call(stage));
        const work = calling;
        stage.later(() => work);
      }
      return withheld;
    },
    async onDelivery(_, stage) {
      if (stage.isCalled()) await calling;
      return accepted;
    },
  };
}

/** Names that a careless comparison takes for the origin. */
const nearMisses: ReadonlyArray<readonly [name: string, of: (origin: string) => string]> = [
  ['other', () => 'another-sender.example'],
  ['prefix', (origin) => `${origin}.attacker.example`],
  ['suffix', (origin) => `x${origin}`],
  ['pattern', (origin) => `*.${origin.split('.').slice(1).join('.') || origin}`],
];

/** The responses to OPTIONS and POST whose Location must never be asked. */
const redirect = (stage: Stage, name: string): Reply => ({
  status: 307,
  headers: { Location: stage.targetOf(name) },
});

function throttling(form: 'seconds' | 'date'): PlayedWebhook {
  let end: Date | undefined;
  return {
    name: `S14-${form}`,
    case: 'S14',
    does: `consents, then returns 429 with a Retry-After ${form === 'date' ? 'as a date' : 'in seconds'}`,
    events: 5,
    ...consenting,
    async onDelivery(_, stage) {
      await stage.untilHeld();
      if (stage.holdUntil !== undefined && performance.now() >= stage.holdUntil) return accepted;
      // A date has no fractions of a second.
      end ??= new Date(Math.ceil(Date.now() / 1_000 + stage.retryAfterSeconds) * 1_000);
      const left = Math.ceil((end.getTime() - Date.now()) / 1_000);
      stage.holdUntil ??= performance.now() + (form === 'date' ? end.getTime() - Date.now() : left * 1_000);
      return { status: 429, headers: { 'Retry-After': form === 'date' ? end.toUTCString() : String(left) } };
    },
  };
}

/** S15 is in every run: if it gets no events, the sender delivers none, and that none arrive elsewhere says nothing. */
export const control = 'S15';

/** The webhooks of the cases S01 to S17. Made anew for each run: a webhook remembers what it has done. */
export function createWebhooks(): PlayedWebhook[] {
  const records = { does: 'consents, and records what it is asked', events: 2, ...consenting };
  return [
    { name: 'S01', case: 'S01', ...records },
    { name: 'S02', case: 'S02', ...records },
    { name: 'S03', case: 'S03', ...records },
    {
      name: 'S04',
      case: 'S04',
      does: 'returns 200 with Allow and without WebHook headers, as a framework does on its own',
      events: 2,
      onOptions: () => ({ status: 200, headers: { Allow: 'GET, HEAD, POST' } }),
    },
    ...nearMisses.map(([name, of]): PlayedWebhook => ({
      name: `S05-${name}`,
      case: 'S05',
      does: `consents only to ${of('your-origin.example')}`,
      events: 2,
      onOptions: (asked) => consent(asked, { origin: of(originOf(asked)) }),
    })),
    ...[204, 400, 404, 405].map((status): PlayedWebhook => ({
      name: `S06-${status}`,
      case: 'S06',
      does: `consents with the status ${status}`,
      events: 2,
      onOptions: (asked) => consent(asked, { status }),
    })),
    {
      name: 'S07',
      case: 'S07',
      does: 'consents with * and *',
      events: 2,
      onOptions: (asked) => consent(asked, { origin: '*', rate: '*' }),
    },
    {
      name: 'S08',
      case: 'S08',
      does: `consents to ${sharedRate} requests a minute`,
      events: 30,
      instances: 2,
      onOptions: (asked) => consent(asked, { rate: String(sharedRate) }),
    },
    {
      name: 'S09',
      case: 'S09',
      does: 'decides later, and calls the callback by GET',
      events: 30,
      ...withholding((stage) => stage.call('GET')),
    },
    {
      name: 'S10-post',
      case: 'S10',
      does: `decides later, and calls the callback by POST with a rate of ${lowRate}`,
      events: 10,
      ...withholding((stage) => stage.call('POST', { 'WebHook-Allowed-Rate': String(lowRate) })),
    },
    {
      name: 'S10-both',
      case: 'S10',
      does: 'decides later, and calls the callback by POST and by GET',
      events: 2,
      ...withholding(async (stage) => {
        await stage.call('POST', { 'WebHook-Allowed-Rate': amply });
        await stage.call('GET');
      }),
    },
    {
      name: 'S11',
      case: 'S11',
      does: 'calls the callback before it returns its response, which is without WebHook headers',
      events: 2,
      async onOptions(asked, stage) {
        if (linesOf(asked, 'webhook-request-callback').length > 0) {
          await stage.call('POST', { 'WebHook-Allowed-Rate': amply });
        }
        return withheld;
      },
    },
    {
      name: 'S12-options',
      case: 'S12',
      does: 'redirects OPTIONS',
      events: 2,
      onOptions: (_, stage) => redirect(stage, 'S12-options-target'),
    },
    {
      name: 'S12-post',
      case: 'S12',
      does: 'consents, then redirects POST',
      events: 2,
      ...consenting,
      onDelivery: (_, stage) => redirect(stage, 'S12-post-target'),
    },
    {
      name: 'S13',
      case: 'S13',
      does: 'consents, then returns 410 for the first event',
      events: 5,
      ...consenting,
      async onDelivery(_, stage) {
        await stage.untilHeld();
        return { status: 410, headers: {} };
      },
    },
    throttling('seconds'),
    throttling('date'),
    { name: control, case: 'S15', ...records },
    { name: 'S16', case: 'S16', ...records },
    { name: 'S17', case: 'S17', ...records },
    // Where S12 leads to. No sender is asked to use them.
    ...['S12-options-target', 'S12-post-target'].map((name): PlayedWebhook => ({
      name,
      case: 'S12',
      does: 'must never be asked',
      events: 0,
      ...consenting,
    })),
  ];
}
