import { RegistryError } from '../../base/errors.js';
import type { Principal } from '../../base/contract/principal.js';
import { traced, type TraceSpan, type Tracing } from '../../base/tracing.js';
import type { MessageLimits } from '../../events/read-events.js';
import type { GrantTokens } from '../grants/grant-token.js';
import type { Follower } from '../changes/follower.js';
import { ageHeader, type OperationResponse, type OperationRequest, type Handler } from '../http/handler.js';
import type { ReadSecrets } from '../subscriptions/read-secrets.js';
import type { Explain } from './explain.js';
import {
  matchEvents,
  originFor,
  readMessage,
  spanOfMatch,
  textOfMatch,
  type MatchedMessage,
  type EventResult,
  type AdditionsOf,
  type GrantTokenOf,
  type SecretsOf,
} from '../../matching/match/match-message.js';
import { indexLoading, type KnownOrigin } from '../../matching/replica/replica.js';
import type { MatchedPair } from '../../matching/replica/known-pairs.js';
import type { Turns } from '../../matching/match/turns.js';
import { stepsPerByte, Work } from '../../matching/match/work.js';

interface MatchEventSettings {
  follower: Pick<Follower, 'replica' | 'position' | 'waitFor'>;
  explain: Explain;
  /** Seconds since the replica was last known to be current; undefined if it is current. */
  age: () => number | undefined;
  secrets: ReadSecrets;
  grantTokens: Pick<GrantTokens, 'tokensOf'>;
  limits: MessageLimits;
  turns: Turns;
  /** Steps that the filters may take for one message. */
  budget: number;
  tracing?: Tracing | undefined;
}

type MatchCall = OperationRequest<'matchEvent'>;
type MatchEventResponse = OperationResponse<'matchEvent'>;

const longestWaitMs = 5_000;

/**
 * `POST /v1/match`: which sinks get this event, each once, at what rate and until when. It responds from memory and
 * does not wait, unless the client asks for secrets, tokens, an explanation or a later revision. Only expensive matches
 * wait for their turn (turns.ts).
 */
export function createMatchEvent(settings: MatchEventSettings): Handler<'matchEvent'> {
  const { follower, turns, tracing } = settings;

  function inTurn(call: MatchCall, span?: TraceSpan): MatchEventResponse | Promise<MatchEventResponse> {
    const { tenant } = call.principal;
    return turns.isFree(tenant)
      ? answer(settings, call, span)
      : turns.enter(tenant, () => answer(settings, call, span), call.signal);
  }

  function match(call: MatchCall, span?: TraceSpan): MatchEventResponse | Promise<MatchEventResponse> {
    const reached = whenReached(follower, call.query.minRevision);
    return reached === undefined ? inTurn(call, span) : reached.then(() => inTurn(call, span));
  }

  if (tracing === undefined) return (call) => match(call);
  return (call) => traced(tracing, 'match', {}, (span) => match(call, span));
}

/** Undefined if this process knows the revision already, or no replica. Rejects with `revision_not_reached`. */
export function whenReached(
  follower: Pick<Follower, 'position' | 'waitFor'>,
  minRevision: string | undefined,
): Promise<void> | undefined {
  if (minRevision === undefined) return undefined;
  const wanted = BigInt(minRevision);
  const position = follower.position();
  if (position === undefined || wanted <= position) return undefined;
  return follower.waitFor(wanted, longestWaitMs).then((isThere) => {
    if (isThere) return;
    throw new RegistryError('revision_not_reached', 'The revision did not arrive in time. Retry the request.', {
      retryAfterSeconds: 1,
    });
  });
}

function answer(
  settings: MatchEventSettings,
  call: MatchCall,
  span: TraceSpan | undefined,
): MatchEventResponse | Promise<MatchEventResponse> {
  const { principal, query } = call;
  const { turns } = settings;
  const { replica, origin } = known(settings, call);
  const isDeliverer = principal.scopes.has('assent:deliver') || principal.scopes.has('assent:admin');
  if (!isDeliverer && query.explain !== true) {
    throw new RegistryError(
      'scope_missing',
      'With the scope assent:subscribe, send explain=true. You then see your own subscriptions.',
    );
  }
  if (query.explain === true && !principal.scopes.has('assent:admin') && !principal.scopes.has('assent:subscribe')) {
    throw new RegistryError('scope_missing', 'An explanation needs the scope assent:admin or assent:subscribe.');
  }
  turns.slice.left -= call.bytes.length * stepsPerByte;
  const message = readMessage(origin, { headers: call.rawHeaders, body: call.bytes }, settings.limits);
  if (!isDeliverer) return complete(settings, call, origin, message);
  const work = new Work(settings.budget, turns.slice);
  if (matchEvents(replica, origin, message, work, String(settings.follower.position()))) {
    span?.set(spanOfMatch(origin, message, work));
    return complete(settings, call, origin, message);
  }
  const resume = () => {
    // Meanwhile the origin may have moved to another tenant, and the replica may be a new one.
    const present = known(settings, call);
    matchEvents(present.replica, present.origin, message, work, String(settings.follower.position()));
  };
  return turns.finish(work, principal.tenant, resume, call.signal).then(() => {
    span?.set(spanOfMatch(origin, message, work));
    return complete(settings, call, origin, message);
  });
}

/** Errors: `index_loading`, and those of `originFor`. */
function known({ follower }: MatchEventSettings, { principal, query }: MatchCall) {
  const present = follower.replica();
  if (present === undefined) throw indexLoading();
  return { replica: present, origin: originFor(present, principal.tenant, query.origin) };
}

/** Adds secrets and explanations if the client asked for them, and writes the response. */
function complete(
  settings: MatchEventSettings,
  call: MatchCall,
  origin: KnownOrigin,
  matched: MatchedMessage,
): MatchEventResponse | Promise<MatchEventResponse> {
  const { results } = matched;
  // Read before waiting, because the log continues meanwhile.
  const revision = String(settings.follower.position());
  const write = (additionsOf?: AdditionsOf): MatchEventResponse => ({
    status: 200,
    headers: ageHeader(settings.age()),
    json: textOfMatch(revision, origin, matched, additionsOf),
  });
  const pairs = results.flatMap((result) => result.pairs.filter(hasSecrets));
  const wantsSecrets = pairs.length > 0 && seesSecrets(call.principal);
  const isExplained = call.query.explain === true;
  const wantsTokens = call.query.grantTokens === true;
  if (!wantsSecrets && !wantsTokens && !isExplained) return write();
  return Promise.all([
    wantsSecrets ? secretsIn(settings.secrets, origin, pairs) : undefined,
    wantsTokens ? grantTokensIn(settings, origin, results) : undefined,
    isExplained ? addExplanations(settings, call, origin, results) : undefined,
  ]).then(([secretsOf, grantTokenOf]) => write(grantTokenOf ? bothOf(secretsOf, grantTokenOf) : secretsOf));
}

const bothOf =
  (secretsOf: SecretsOf | undefined, grantTokenOf: GrantTokenOf): AdditionsOf =>
  (pair) => {
    const secrets = secretsOf?.(pair);
    return secrets === 'unreadable' ? secrets : { ...secrets, ...grantTokenOf(pair) };
  };

async function grantTokensIn(
  { grantTokens }: MatchEventSettings,
  { tenant, name }: KnownOrigin,
  results: readonly EventResult[],
): Promise<GrantTokenOf> {
  const sinks = new Set(results.flatMap(({ pairs }) => pairs.map(({ sink }) => sink)));
  const tokens = await grantTokens.tokensOf(tenant, name, [...sinks]);
  // The grant may have been deleted since the match.
  return ({ sink }) => tokens.get(sink) ?? { granttokendenial: 'no_grant' };
}

export const hasSecrets = ({ hasCredential, hasSigningSecret }: MatchedPair): boolean =>
  hasCredential || hasSigningSecret;

/** An admin does not deliver. */
export const seesSecrets = ({ scopes }: Principal): boolean =>
  scopes.has('assent:credentials') && scopes.has('assent:deliver');

export async function secretsIn(
  readSecrets: ReadSecrets,
  origin: KnownOrigin,
  pairs: readonly MatchedPair[],
): Promise<SecretsOf> {
  const sinks = pairs.flatMap(({ sink, subscriptions }) => subscriptions.map((id) => [id, sink] as const));
  const secrets = await readSecrets(origin.tenant, new Map(sinks));
  return ({ subscriptions }) => {
    const held = subscriptions.flatMap((id) => secrets.get(id) ?? []);
    const credential = held.find((each) => each.credential)?.credential;
    const signing = held.find((each) => each.signing)?.signing;
    if (credential === 'unreadable' || signing === 'unreadable') return 'unreadable';
    return credential || signing ? { ...credential, ...signing } : undefined;
  };
}

async function addExplanations(
  settings: MatchEventSettings,
  { principal, signal }: MatchCall,
  origin: KnownOrigin,
  results: readonly EventResult[],
): Promise<void> {
  const explained = results.flatMap((result) =>
    'event' in result.event && result.faults.length === 0
      ? [{ result, attributes: result.event.event.attributes }]
      : [],
  );
  const events = explained.map(({ attributes }) => attributes);
  const lists = await settings.explain(principal, origin.name, events, signal);
  explained.forEach(({ result }, place) => (result.explanations = lists[place] ?? []));
}
