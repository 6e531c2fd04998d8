import { RegistryError } from '../errors.js';
import type { ReadEvent } from '../events/draft.js';
import { faultOfBreach, presentBreach } from '../events/presentation.js';
import { readEvents } from '../events/read-events.js';
import type { RuleBreach } from '../events/rule.js';
import { validateBatch, validateEvent, type Judgement } from '../events/validate-event.js';
import type { components } from '../http/contract.gen.js';
import { ageHeader, type LaneAnswer, type LaneCall, type LaneHandler } from '../http/lane.js';
import type { Principal } from '../http/principal.js';
import { TypedMatchEvent } from './event-attributes.js';
import type { Explain } from './explain-match.js';
import type { MatchedPair } from './known-pairs.js';
import { indexLoading, type KnownOrigin, type Replica } from './replica.js';

type MatchedSink = components['schemas']['MatchedSink'];
type Explanation = components['schemas']['Explanation'];
type Member = keyof MatchedSink | keyof components['schemas']['MatchAnswer'] | 'faults';
type Credentials = Map<string, Record<string, unknown>>;

export interface MatchLaneSettings {
  /** Undefined while it is being loaded. */
  replica: () => Replica | undefined;
  explain: Explain;
  /** The position that the index stands at; undefined while it is being loaded. */
  position: () => bigint | undefined;
  /** Seconds since the replica was known to be current, if that is not just now. */
  age: () => number | undefined;
  waitFor: (position: bigint, timeoutMs: number) => Promise<boolean>;
  /** Sink credentials of these subscriptions, by id. */
  credentials: (tenant: string, subscriptions: readonly string[]) => Promise<Credentials>;
  limits: { bytes: number; events: number };
}

const longestWaitMs = 5_000;
const tooLarge = new Set(['intg-std-015.size']);

/**
 * `POST /v1/match`: which sinks get this event, each once, at what rate and until when. Answered from memory and, unless
 * credentials, an explanation or a later revision are asked for, without waiting for anything.
 */
export function createMatchLane(settings: MatchLaneSettings): LaneHandler {
  const { position, waitFor } = settings;

  return (call) => {
    const wanted = call.query['min-revision'] as string | undefined;
    if (wanted === undefined || position() === undefined || BigInt(wanted) <= (position() ?? 0n)) {
      return answer(settings, call);
    }
    return waitFor(BigInt(wanted), longestWaitMs).then((isThere) => {
      if (isThere) return answer(settings, call);
      throw new RegistryError('revision_not_reached', 'The revision did not arrive in time; ask again.', {
        retryAfterSeconds: 1,
      });
    });
  };
}

function answer(settings: MatchLaneSettings, call: LaneCall): LaneAnswer | Promise<LaneAnswer> {
  const { principal, query } = call;
  const replica = settings.replica();
  if (replica === undefined) throw indexLoading();
  const origin = originFor(replica, principal, query['origin'] as string | undefined);
  const isDeliverer = principal.scopes.has('assent:deliver') || principal.scopes.has('assent:admin');
  if (!isDeliverer && query['explain'] !== true) {
    throw new RegistryError('scope_missing', 'Subscribers may ask with explain=true, and see what is theirs.');
  }
  const read = readEvents({ headers: call.request.rawHeaders, body: call.body }, settings.limits);
  if ('code' in read)
    throw new RegistryError(read.code, 'The message could not be read as events.', { faults: read.faults });

  const judge = (event: ReadEvent) => judgeAndMatch(isDeliverer ? replica : undefined, origin, event);
  if (read.mode !== 'batched') {
    const result = judge(read.events[0] as ReadEvent);
    if (result.faults.length > 0) throw refused(result.faults);
    return complete(settings, call, origin, [result], (credentials) => outcomeText(result, credentials));
  }
  const batch = validateBatch(origin.profile, { count: read.events.length, bytes: read.bytes });
  if (batch.faults.length > 0) throw refused(batch.faults);
  const results = read.events.map(judge);
  return complete(settings, call, origin, results, (credentials) => {
    const texts = results.map((result) =>
      result.faults.length > 0 ? textOf('faults', result.faults.map(presentBreach)) : outcomeText(result, credentials),
    );
    return `"events":[${texts.map((text) => `{${text}}`).join(',')}]`;
  });
}

interface Result extends Judgement {
  event: ReadEvent;
  pairs: readonly MatchedPair[];
  explanations?: Explanation[];
}

const noPairs: readonly MatchedPair[] = [];

/** Without a replica the event is judged and nothing else. */
function judgeAndMatch(replica: Replica | undefined, origin: KnownOrigin, event: ReadEvent): Result {
  if (!('event' in event)) return { event, faults: event.faults, warnings: [], pairs: noPairs };
  const { faults, warnings } = validateEvent(origin.profile, event.event);
  const pairs = faults.length === 0 ? replica?.match(origin, new TypedMatchEvent(event.event)) : undefined;
  return { event, faults, warnings, pairs: pairs ?? noPairs };
}

/** Adds what has to be waited for, if any of it was asked for, and writes the answer. */
function complete(
  settings: MatchLaneSettings,
  call: LaneCall,
  origin: KnownOrigin,
  results: readonly Result[],
  textOfResults: (credentials: Credentials | undefined) => string,
): LaneAnswer | Promise<LaneAnswer> {
  // The name is a DNS name, which needs no escapes.
  const write = (credentials?: Credentials) => ({
    status: 200,
    headers: ageHeader(settings.age()),
    body: `{"revision":"${settings.position()}","origin":"${origin.name}",${textOfResults(credentials)}}`,
  });
  const seesCredentials = call.principal.scopes.has('assent:credentials');
  const wantsCredentials =
    seesCredentials && results.some(({ pairs }) => pairs.some(({ hasCredential }) => hasCredential));
  const isExplained = call.query['explain'] === true;
  if (!wantsCredentials && !isExplained) return write();
  return Promise.all([
    wantsCredentials ? credentialsOf(settings, origin, results) : undefined,
    isExplained ? addExplanations(settings, call.principal, origin, results) : undefined,
  ]).then(([credentials]) => write(credentials));
}

function credentialsOf(settings: MatchLaneSettings, origin: KnownOrigin, results: readonly Result[]) {
  const ids = results.flatMap(({ pairs }) =>
    pairs.filter((pair) => pair.hasCredential).flatMap((pair) => pair.subscriptions),
  );
  return settings.credentials(origin.tenant, [...new Set(ids)]);
}

async function addExplanations(
  settings: MatchLaneSettings,
  principal: Principal,
  origin: KnownOrigin,
  results: readonly Result[],
): Promise<void> {
  for (const result of results) {
    if (!('event' in result.event) || result.faults.length > 0) continue;
    result.explanations = await settings.explain(principal, origin.name, new TypedMatchEvent(result.event.event));
  }
}

function originFor(replica: Replica, { tenant }: Principal, name: string | undefined): KnownOrigin {
  const origin = name === undefined ? replica.defaultOrigin(tenant) : replica.origin(tenant, name.toLowerCase());
  if (origin) return origin;
  throw name === undefined
    ? new RegistryError('no_default_origin', 'Name an origin, or have an admin make one the default.')
    : new RegistryError('origin_not_found', 'The tenant has no origin of this name.');
}

// The answer is put together as text: objects that only JSON.stringify will see cost more than all of matching.

/** The members of the answer to one event. */
function outcomeText({ pairs, warnings, explanations }: Result, credentials: Credentials | undefined): string {
  let text = '"sinks":[';
  for (let place = 0; place < pairs.length; place += 1) {
    text += (place === 0 ? '{' : ',{') + sinkText(pairs[place] as MatchedPair, credentials) + '}';
  }
  text += ']';
  if (warnings.length > 0) text += `,${textOf('warnings', warnings.map(presentBreach))}`;
  return explanations === undefined ? text : `${text},${textOf('explanations', explanations)}`;
}

function sinkText(pair: MatchedPair, credentials: Credentials | undefined): string {
  const { sink, subscriptions, allowedRate, expiresAt, heldUntil, protocolSettings } = pair;
  const rate = typeof allowedRate === 'number' ? allowedRate : `"${allowedRate}"`;
  // Ids are UUIDs, which need no escapes.
  let text = `"sink":${JSON.stringify(sink)},"subscriptions":["${subscriptions.join('","')}"],"allowedrate":${rate},"expiresat":"${expiresAt}","contentmode":"structured"`;
  if (heldUntil !== undefined) text += `,"helduntil":"${heldUntil}"`;
  if (protocolSettings !== undefined) text += `,${textOf('protocolsettings', protocolSettings)}`;
  const holder = credentials && subscriptions.find((id) => credentials.has(id));
  return holder === undefined ? text : `${text},${textOf('sinkcredential', credentials?.get(holder))}`;
}

function textOf(name: Member, value: unknown): string {
  return `"${name}":${JSON.stringify(value)}`;
}

function refused(faults: readonly RuleBreach[]): RegistryError {
  const code = faults.some(({ rule }) => tooLarge.has(rule)) ? 'event_too_large' : 'invalid_event';
  return new RegistryError(code, 'The event breaks a rule of its profile.', {
    faults: faults.map(faultOfBreach),
  });
}
