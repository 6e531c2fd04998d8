// A request becomes a validated definition (`definition.ts`, `rules.ts`), which is written together with its handshake
// and its change (`register.ts`, `write.ts`). Then the handshake runs for as long as the client waits. The
// response is the current state (`read.ts`) with an explanation (`status-details.ts`).

import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import { lintSubscription } from '../../events/check-event.js';
import { presentBreach } from '../../events/rule.js';
import { presentAttempt, presentHandshake } from '../handshake/presentation.js';
import { createHandshakeReader } from '../handshake/read-handshake.js';
import { isStatusDetailCode, statusDetailCodes } from '../../consent/status.js';
import { isVerdict, verdicts } from '../../consent/verdicts.js';
import { mergePatch } from '../http/body.js';
import type { components } from '../../base/contract/contract.gen.js';
import { requireConditions, versionTag } from '../http/entity-tag.js';
import { allOf, csvOf, exportOf } from '../http/export.js';
import {
  actorOf,
  idempotent,
  parsePrefer,
  replayHeader,
  type OperationRequest,
  type Handlers,
  type Identity,
} from '../http/handler.js';
import { foundHeaders, pageHeaders, readListCursor } from '../http/page.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { beforeAllIds, isUuid } from '../../base/files/ids.js';
import { isPlace } from '../storage/search.js';
import { contractTexts, requestTexts } from '../../base/texts/requests.js';
import { statusTexts } from '../../base/texts/status.js';
import type { Language, Text } from '../../base/texts/text.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { limits } from '../../base/limits.js';
import { findUnlikely } from '../../matching/filters/unlikely.js';
import { faultsIn } from '../../base/problem.js';
import { ruleRoutes } from './allowed.js';
import { invalid, parseDefinition, type Requested } from './definition.js';
import { Backlog } from './backlog.js';
import type { TenantLimits } from './prices.js';
import { createQuota } from './quota.js';
import { ownerOf } from './read-secrets.js';
import { createSubscriptionReader, type SubscriptionReader } from './read.js';
import { createRegister, type Caller, type Preview, type Previewed, type Written } from './register.js';
import type { SubscriptionRequest } from './rules.js';
import { statusDetails } from './status-details.js';
import { definitionMembers, type Subscription } from './columns.js';
import { createSubscriptionWriter, type SubscriptionWriter } from './write.js';

type SubscriptionOperation =
  | 'listSubscriptions'
  | 'createSubscription'
  | 'getSubscription'
  | 'replaceSubscription'
  | 'updateSubscription'
  | 'deleteSubscription'
  | 'suspendSubscription'
  | 'resumeSubscription';

/** What the routes of subscriptions and of their handshakes share. */
interface Shared {
  reader: SubscriptionReader;
  writer: SubscriptionWriter;
  preview: Preview;
  /** Returns when the handshake is settled or the wait is over. */
  attend: (handshake: string, waitMs: number, signal: AbortSignal) => Promise<void>;
}

export function routes(
  context: Context,
): Handlers<SubscriptionOperation | HandshakeOperation | 'checkSubscriptionRules'> {
  const { config, database, dryRun, follower, now, queue, stopping, tracing, vault, worker } = context;
  const { perTenant, prices } = config.subscriptions;
  const backlog = new Backlog(config.handshake.duePerTenant);
  const limited: TenantLimits = {
    prices,
    refuseOverQuota: createQuota(perTenant, follower),
    refuseOverBacklog: (sql, asked) => backlog.refuse(sql, asked),
  };
  const { register, preview } = createRegister({
    database,
    vault,
    queue,
    adopt: worker.adopt,
    dryRun,
    tracing,
    ...limited,
  });
  const shared: Shared = {
    reader: createSubscriptionReader(database, now),
    writer: createSubscriptionWriter({ database, vault, register, ...limited }),
    preview,
    attend: (handshake, waitMs, signal) => worker.attend(handshake, waitMs, [signal, stopping]),
  };
  return { ...subscriptionRoutes(context, shared), ...handshakeRoutes(context, shared), ...ruleRoutes(context) };
}

function subscriptionRoutes(
  context: Context,
  { reader, writer, preview, attend }: Shared,
): Handlers<SubscriptionOperation> {
  const { config, contract, faultOfSink, vault } = context;
  const registry = config.publicUrl ?? '';
  const matches =
    ({ header }: Pick<OperationRequest<'getSubscription'>, 'header'>) =>
    (present: Subscription) =>
      requireConditions(header, present.version);

  return {
    listSubscriptions: async (call) => {
      const { query, principal, address, language, preferred } = call;
      const { cursor, limit = 50, host, origin, code, ...where } = query;
      const { createdsince, createduntil, expiressince, expiresuntil, sort } = query;
      if (code !== undefined && !isStatusDetailCode(code))
        throw unknownCode('query/code', Object.keys(statusDetailCodes).sort());
      const search = {
        ...where,
        host: host?.toLowerCase(),
        origin: origin?.toLowerCase(),
        code,
        createdsince: createdsince === undefined ? undefined : timeOf(createdsince),
        createduntil: createduntil === undefined ? undefined : timeOf(createduntil),
        expiressince: expiressince === undefined ? undefined : timeOf(expiressince),
        expiresuntil: expiresuntil === undefined ? undefined : timeOf(expiresuntil),
        after: readListCursor(cursor, address, isPlace(sort), sort),
      };
      const headers = { Vary: 'Accept' };
      const mediaType = preferred('application/json', 'text/csv');
      if (mediaType === 'text/csv') {
        const form = csvOf(columns, cellsOf(language, registry));
        const stream = exportOf(
          context,
          call,
          allOf((after, limit) => reader.list(principal, { ...search, count: false, after, limit }), search.after),
          form,
        );
        return { status: 200, mediaType, headers, stream };
      }
      const page = await reader.list(principal, { ...search, limit });
      const body = page.entries.map((subscription) => membersOf(subscription, language, registry));
      return { status: 200, headers: { ...headers, ...foundHeaders(address, query, page) }, body };
    },

    createSubscription: async (call) => {
      const { dryrun = false, ask = false } = call.query;
      if (ask && !dryrun) throw unfitParameter('query/ask', contractTexts.onlyWith('dryrun=true'));
      const requested = parseDefinition(call.body, faultOfSink);
      if (dryrun) {
        return {
          status: 200,
          body: presentPreview(await preview(callerOf(call), requested, ask), {
            isAdmin: call.principal.scopes.has('assent:admin'),
            language: call.language,
            registry,
          }),
        };
      }
      // Without the secrets, which must not be guessable from the stored fingerprint of the request.
      const { sinkcredential, signingsecret } = call.body;
      const content = {
        ...call.body,
        sinkcredential: sinkcredential?.credentialtype,
        signingsecret: signingsecret && { make: signingsecret.make === true },
      };
      const request = idempotent(call, 'createSubscription', content);
      const waitMs = parsePrefer(call.header['prefer']);
      const registered = await writer.create(callerOf(call), requested, request, waitMs > 0);
      const { id, handshake } = registered;
      if (handshake !== undefined) await attend(handshake, waitMs, call.signal);
      const subscription = await reader.read(call.principal, id);
      return {
        status: 201,
        body: withMade(subscription, requested, present(subscription, call.language, registry)),
        headers: {
          ETag: versionTag(subscription.version),
          Location: `${call.address}/${registered.id}`,
          ...replayHeader(registered.replayed),
        },
      };
    },

    getSubscription: async ({ path, principal, language }) => answer(await reader.read(principal, path.id), language),

    replaceSubscription: (call) => replace(call, () => call.body),

    updateSubscription: (call) =>
      replace(call, (stored) => {
        const merged = mergePatch(membersOf(stored, call.language, registry), call.body) as SubscriptionRequest;
        const faults = contract.operationOf('replaceSubscription').checkBody(merged);
        if (faults.length > 0) throw invalid(faults);
        return merged;
      }),

    deleteSubscription: async (call) =>
      answer(await writer.remove(callerOf(call), call.path.id, matches(call)), call.language),

    suspendSubscription: async (call) => {
      const { id } = call.path;
      const request = idempotent(call, 'suspendSubscription', [id, call.body]);
      return written(call, await writer.suspend(callerOf(call), id, call.body.reason, request, matches(call)));
    },

    resumeSubscription: async (call) => {
      const { id } = call.path;
      const request = idempotent(call, 'resumeSubscription', [id, call.body ?? {}]);
      return written(call, await writer.resume(callerOf(call), id, call.body?.reason, request, matches(call)));
    },
  };

  async function replace(
    call: OperationRequest<'replaceSubscription' | 'updateSubscription'>,
    requestFor: (stored: Subscription) => SubscriptionRequest,
  ) {
    const { id } = call.path;
    let requested: Requested | undefined;
    const result = await writer.replace(callerOf(call), id, (stored) => {
      requireConditions(call.header, stored.version);
      const request = requestFor(stored);
      if (request.id !== undefined && request.id !== id) {
        throw invalid([{ pointer: '/id', rule: 'id_changed', detail: subscriptionTexts.idChanged }]);
      }
      requested = parseDefinition(request, faultOfSink);
      return requested;
    });
    return written(call, result, requested);
  }

  function answer(subscription: Subscription, language: Language, replayed = false, requested?: Requested) {
    const headers = { ETag: versionTag(subscription.version), ...replayHeader(replayed) };
    const body = withMade(subscription, requested, present(subscription, language, registry));
    return { status: 200 as const, headers, body };
  }

  /**
   * With the signing secret that this request had made. It is not shown if it is not the stored one: the response is that
   * of an earlier request, or a later one has replaced it.
   */
  function withMade({ id, tenant }: Subscription, requested: Requested | undefined, body: Presented): Presented {
    const asked = requested?.secrets.signingsecret;
    const { signingsecret } = body;
    if (asked?.kind !== 'given' || asked.isMade !== true || signingsecret === undefined) return body;
    if (vault.fingerprint(asked.value, ownerOf(tenant, id)) !== signingsecret.fingerprint) return body;
    return { ...body, signingsecret: { ...asked.value, ...signingsecret } };
  }

  /** Waits for the handshake as long as the client prefers, then reads the current state. */
  async function written(
    {
      path,
      header,
      principal,
      signal,
      language,
    }: Pick<OperationRequest<'getSubscription'>, 'path' | 'header' | 'principal' | 'signal' | 'language'>,
    { handshake, replayed }: Written & { replayed?: boolean },
    requested?: Requested,
  ) {
    if (handshake !== undefined) await attend(handshake, parsePrefer(header['prefer']), signal);
    return answer(await reader.read(principal, path.id), language, replayed, requested);
  }
}

function unknownCode(pointer: string, codes: readonly string[]): RegistryError {
  return unfitParameter(pointer, contractTexts.mustBeOneOf(codes));
}

function unfitParameter(pointer: string, detail: Text): RegistryError {
  return new RegistryError('invalid_request', requestTexts.brokenParameters, {
    faults: [{ pointer, rule: 'value_not_allowed', detail }],
  });
}

export function callerOf(call: Identity): Caller {
  return { principal: call.principal, actor: actorOf(call) };
}

/** A list leaves out the warnings: checking a thousand types takes long, and a page can have many times that. */
function present(subscription: Subscription, language: Language, registry: string): Presented {
  const { warnings: breaches } = lintSubscription(subscription.profile, subscription);
  const unlikely = faultsIn(findUnlikely(subscription), language);
  const warnings = [...unlikely, ...breaches.map(presentBreach)].slice(0, limits.faults);
  return { ...membersOf(subscription, language, registry), ...(warnings.length > 0 && { warnings }) };
}

/** Nothing of it is stored, so its id is that of no subscription. */
function presentPreview({ subscription, asked }: Previewed, reader: Parameters<typeof presentAttempt>[2]): Presented {
  const { statusdetails, ...members } = present(subscription, reader.language, reader.registry);
  const { handshake: _unstored, next, ...details } = statusdetails;
  // Nobody can do anything with a subscription that does not exist.
  const isPossible = next !== undefined && !next.includes(subscription.id);
  return {
    ...members,
    id: beforeAllIds,
    statusdetails: { ...details, ...(isPossible && { next }) },
    dryrun: true,
    ...(asked && { attempt: presentAttempt(asked.question, asked.attempt, reader) }),
  };
}

/** Of CSV. */
const columns = ['id', 'status', 'code', 'sink', 'origin', 'subscriber', 'allowedrate', 'createdat'] as const;

const cellsOf = (language: Language, registry: string) => (subscription: Subscription) => {
  const { statusdetails, ...members } = membersOf(subscription, language, registry);
  return { ...members, code: statusdetails.code, allowedrate: statusdetails.allowedrate };
};

type Presented = components['schemas']['Subscription'];

/** The members of the draft first, then our additions. Members without a value are left out. */
export function membersOf(subscription: Subscription, language: Language, registry: string): Presented {
  const { secrets, suspension } = subscription;
  const { price, ...members } = definitionMembers.present(subscription);
  return {
    id: subscription.id,
    ...members,
    ...secrets,
    origin: subscription.origin,
    status: subscription.status,
    statusdetails: statusDetails(subscription, language, registry),
    subscriber: subscription.subscriber,
    ...(price === 0 ? {} : { price }),
    suspended: suspension !== undefined,
    suspension: suspension && suspensionOf(suspension, language),
    createdat: subscription.createdAt.toISOString(),
    updatedat: subscription.updatedAt.toISOString(),
  };
}

function suspensionOf({ at, by, person, reason }: NonNullable<Subscription['suspension']>, language: Language) {
  return { at: at.toISOString(), by, ...(person && { person }), reason: reason ?? statusTexts.draftReason[language] };
}

type HandshakeOperation = 'listHandshakes' | 'listSubscriptionHandshakes' | 'askWebhook' | 'getHandshake';

/** The handshakes of a subscription, for callers that may see the subscription; and of a tenant, for admins. */
function handshakeRoutes(
  { config, database, now }: Context,
  { reader, writer, attend }: Shared,
): Handlers<HandshakeOperation> {
  const registry = config.publicUrl ?? '';
  const handshakes = createHandshakeReader(database, config.handshake.deadlineMs, now);
  return {
    listHandshakes: async ({ query, principal, address, language }) => {
      const { cursor, limit = 50, host, origin, verdict, createdsince, createduntil, ...where } = query;
      if (verdict !== undefined && !isVerdict(verdict)) throw unknownCode('query/verdict', Object.keys(verdicts));
      const page = await handshakes.find({
        ...where,
        host: host?.toLowerCase(),
        origin: origin?.toLowerCase(),
        verdict,
        createdsince: createdsince === undefined ? undefined : timeOf(createdsince),
        createduntil: createduntil === undefined ? undefined : timeOf(createduntil),
        tenant: principal.tenant,
        after: readListCursor(cursor, address, isUuid),
        limit,
      });
      const body = page.entries.map((handshake) => presentHandshake(handshake, { isAdmin: true, language, registry }));
      return { status: 200, headers: foundHeaders(address, query, page), body };
    },

    listSubscriptionHandshakes: async ({ path, query, principal, address, language }) => {
      const subscription = await reader.read(principal, path.id);
      const after = readListCursor(query.cursor, address, isUuid);
      const page = await handshakes.list(subscription, after, query.limit ?? 50);
      const isAdmin = principal.scopes.has('assent:admin');
      return {
        status: 200,
        headers: pageHeaders(address, query, page.next),
        body: page.entries.map((handshake) => presentHandshake(handshake, { isAdmin, language, registry })),
      };
    },

    askWebhook: async (call) => {
      const { path, principal, header, signal, language } = call;
      const started = await writer.askAgain(callerOf(call), path.id, idempotent(call, 'askWebhook', path.id));
      if (started.handshake !== undefined) await attend(started.handshake, parsePrefer(header['prefer']), signal);
      const subscription = await reader.read(principal, path.id);
      const handshake = await handshakes.read(subscription, started.id);
      return {
        status: 201,
        headers: {
          Location: `${call.address}/${handshake.id}`,
          ...replayHeader(started.replayed),
        },
        body: presentHandshake(handshake, { isAdmin: principal.scopes.has('assent:admin'), language, registry }),
      };
    },

    getHandshake: async ({ path, principal, language }) => {
      const subscription = await reader.read(principal, path.id);
      const handshake = await handshakes.read(subscription, path.handshake);
      return {
        status: 200,
        body: presentHandshake(handshake, { isAdmin: principal.scopes.has('assent:admin'), language, registry }),
      };
    },
  };
}
