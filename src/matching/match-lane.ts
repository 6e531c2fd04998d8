import { RegistryError } from '../errors.js';
import type { ReadEvent } from '../events/draft.js';
import { faultOfBreach, presentBreach } from '../events/presentation.js';
import { readEvents } from '../events/read-events.js';
import type { RuleBreach } from '../events/rule.js';
import { validateBatch, validateEvent } from '../events/validate-event.js';
import type { components } from '../http/contract.gen.js';
import type { LaneAnswer, LaneCall, LaneHandler } from '../http/lane.js';
import type { Principal } from '../http/principal.js';
import { TypedMatchEvent } from './event-attributes.js';
import type { Explain } from './explain-match.js';
import { indexLoading, type KnownOrigin, type MatchedPair, type Replica } from './replica.js';

type MatchedSink = components['schemas']['MatchedSink'];
type Outcome = { sinks: MatchedSink[]; warnings?: Breach[]; explanations?: components['schemas']['Explanation'][] };
type Breach = components['schemas']['RuleBreach'];

export interface MatchLaneSettings {
  /** Undefined while it is being loaded. */
  replica: () => Replica | undefined;
  explain: Explain;
  /** The position that the index stands at; undefined while it is being loaded. */
  position: () => bigint | undefined;
  waitFor: (position: bigint, timeoutMs: number) => Promise<boolean>;
  /** Sink credentials of these subscriptions, by id. */
  credentials: (tenant: string, subscriptions: readonly string[]) => Promise<Map<string, Record<string, unknown>>>;
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
    const [event] = read.events as [ReadEvent];
    const { faults, outcome, pairs } = judge(event);
    if (faults.length > 0) throw refused(faults);
    return complete(settings, call, origin, [{ event, outcome, pairs }], ([only]) => ({ ...only?.outcome }));
  }
  const batch = validateBatch(origin.profile, { count: read.events.length, bytes: read.bytes });
  if (batch.faults.length > 0) throw refused(batch.faults);
  const results = read.events.map((event) => ({ event, ...judge(event) }));
  return complete(settings, call, origin, results, (all) => ({
    events: all.map(({ outcome, faults }) =>
      faults && faults.length > 0 ? { faults: faults.map(presentBreach) } : outcome,
    ),
  }));
}

interface Result {
  event: ReadEvent;
  outcome: Outcome;
  pairs: MatchedPair[];
  faults?: RuleBreach[];
}

/** Without a replica the event is judged and nothing else. */
function judgeAndMatch(replica: Replica | undefined, origin: KnownOrigin, read: ReadEvent) {
  if (!('event' in read)) return { faults: read.faults, outcome: { sinks: [] }, pairs: [] };
  const { faults, warnings } = validateEvent(origin.profile, read.event);
  if (faults.length > 0) return { faults, outcome: { sinks: [] }, pairs: [] };
  const pairs = replica?.match(origin, new TypedMatchEvent(read.event)) ?? [];
  const outcome: Outcome = { sinks: pairs.map(present) };
  if (warnings.length > 0) outcome.warnings = warnings.map(presentBreach);
  return { faults, outcome, pairs };
}

/** Adds what has to be waited for, if any of it was asked for, and writes the answer. */
function complete(
  settings: MatchLaneSettings,
  call: LaneCall,
  origin: KnownOrigin,
  results: Result[],
  bodyOf: (results: Result[]) => object,
): LaneAnswer | Promise<LaneAnswer> {
  const write = () => ({
    status: 200,
    body: JSON.stringify({ revision: String(settings.position()), origin: origin.name, ...bodyOf(results) }),
  });
  const seesCredentials = call.principal.scopes.has('assent:credentials');
  const wantsCredentials =
    seesCredentials && results.some(({ pairs }) => pairs.some(({ hasCredential }) => hasCredential));
  const isExplained = call.query['explain'] === true;
  if (!wantsCredentials && !isExplained) return write();
  return Promise.all([
    wantsCredentials ? addCredentials(settings, origin, results) : undefined,
    isExplained ? addExplanations(settings, call.principal, origin, results) : undefined,
  ]).then(write);
}

async function addCredentials(
  settings: MatchLaneSettings,
  origin: KnownOrigin,
  results: readonly Result[],
): Promise<void> {
  const ids = results.flatMap(({ pairs }) =>
    pairs.filter((pair) => pair.hasCredential).flatMap((pair) => pair.subscriptions),
  );
  const credentials = await settings.credentials(origin.tenant, [...new Set(ids)]);
  for (const sink of results.flatMap(({ outcome }) => outcome.sinks)) {
    const holder = sink.subscriptions.find((id) => credentials.has(id));
    const credential = holder === undefined ? undefined : credentials.get(holder);
    if (credential) sink.sinkcredential = credential;
  }
}

async function addExplanations(
  settings: MatchLaneSettings,
  principal: Principal,
  origin: KnownOrigin,
  results: readonly Result[],
): Promise<void> {
  for (const { event, outcome, faults } of results) {
    if (!('event' in event) || (faults && faults.length > 0)) continue;
    outcome.explanations = await settings.explain(principal, origin.name, new TypedMatchEvent(event.event));
  }
}

function originFor(replica: Replica, { tenant }: Principal, name: string | undefined): KnownOrigin {
  const origin = name === undefined ? replica.defaultOrigin(tenant) : replica.origin(tenant, name.toLowerCase());
  if (origin) return origin;
  throw name === undefined
    ? new RegistryError('no_default_origin', 'Name an origin, or have an admin make one the default.')
    : new RegistryError('origin_not_found', 'The tenant has no origin of this name.');
}

function present(pair: MatchedPair): MatchedSink {
  const { sink, subscriptions, allowedRate, expiresAt, heldUntil, protocolSettings } = pair;
  const matched: MatchedSink = {
    sink,
    subscriptions,
    allowedrate: allowedRate,
    expiresat: expiresAt,
    contentmode: 'structured',
  };
  if (heldUntil !== undefined) matched.helduntil = heldUntil;
  if (protocolSettings) matched.protocolsettings = protocolSettings;
  return matched;
}

function refused(faults: readonly RuleBreach[]): RegistryError {
  const code = faults.some(({ rule }) => tooLarge.has(rule)) ? 'event_too_large' : 'invalid_event';
  return new RegistryError(code, 'The event breaks a rule of its profile.', {
    faults: faults.map(faultOfBreach),
  });
}
