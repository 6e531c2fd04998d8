import { RegistryError } from '../errors.js';
import type { MessageLimits } from '../events/read-events.js';
import { ageHeader, type Answer, type Call, type Handler } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import type { Explain } from './explain.js';
import {
  matchMessage,
  originFor,
  textOfMatch,
  type Credential,
  type CredentialOf,
  type MatchedMessage,
  type EventResult,
} from './match-message.js';
import { indexLoading, type KnownOrigin, type Replica } from './replica.js';

export interface MatchEventSettings {
  /** Undefined while it is being loaded. */
  replica: () => Replica | undefined;
  explain: Explain;
  /** The position that the index stands at; undefined while it is being loaded. */
  position: () => bigint | undefined;
  /** Seconds since the replica was known to be current, if that is not just now. */
  age: () => number | undefined;
  waitFor: (position: bigint, timeoutMs: number) => Promise<boolean>;
  /** Sink credentials by id, of these subscriptions that still have the sink beside them. */
  credentials: (tenant: string, sinks: ReadonlyMap<string, string>) => Promise<Map<string, Credential>>;
  limits: MessageLimits;
}

type MatchCall = Call<'matchEvent'>;
type MatchEventAnswer = Answer<'matchEvent'>;

const longestWaitMs = 5_000;

/**
 * `POST /v1/match`: which sinks get this event, each once, at what rate and until when. Answered from memory and,
 * unless credentials, an explanation or a later revision are asked for, without waiting for anything.
 */
export function createMatchEvent(settings: MatchEventSettings): Handler<'matchEvent'> {
  const { position, waitFor } = settings;

  return (call) => {
    const wanted = call.query.minRevision;
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

function answer(settings: MatchEventSettings, call: MatchCall): MatchEventAnswer | Promise<MatchEventAnswer> {
  const { principal, query } = call;
  const replica = settings.replica();
  if (replica === undefined) throw indexLoading();
  const origin = originFor(replica, principal.tenant, query.origin);
  const isDeliverer = principal.scopes.has('assent:deliver') || principal.scopes.has('assent:admin');
  if (!isDeliverer && query.explain !== true) {
    throw new RegistryError('scope_missing', 'Subscribers may ask with explain=true, and see what is theirs.');
  }
  if (query.explain === true && !principal.scopes.has('assent:admin') && !principal.scopes.has('assent:subscribe')) {
    throw new RegistryError('scope_missing', 'An explanation needs the scope assent:admin or assent:subscribe.');
  }
  const message = { headers: call.rawHeaders, body: call.bytes };
  const matched = matchMessage(isDeliverer ? replica : undefined, origin, message, settings.limits);
  return complete(settings, call, origin, matched);
}

/** Adds what has to be waited for, if any of it was asked for, and writes the answer. */
function complete(
  settings: MatchEventSettings,
  call: MatchCall,
  origin: KnownOrigin,
  matched: MatchedMessage,
): MatchEventAnswer | Promise<MatchEventAnswer> {
  const { results } = matched;
  // What is waited for takes time, in which the log goes on.
  const revision = String(settings.position());
  const write = (credentialOf?: CredentialOf): MatchEventAnswer => ({
    status: 200,
    headers: ageHeader(settings.age()),
    json: textOfMatch(revision, origin, matched, credentialOf),
  });
  const { scopes } = call.principal;
  // What an admin asks is no delivery.
  const seesCredentials = scopes.has('assent:credentials') && scopes.has('assent:deliver');
  const wantsCredentials =
    seesCredentials && results.some(({ pairs }) => pairs.some(({ hasCredential }) => hasCredential));
  const isExplained = call.query.explain === true;
  if (!wantsCredentials && !isExplained) return write();
  return Promise.all([
    wantsCredentials ? credentialsOf(settings, origin, results) : undefined,
    isExplained ? addExplanations(settings, call.principal, origin, results) : undefined,
  ]).then(([credentialOf]) => write(credentialOf));
}

async function credentialsOf(
  settings: MatchEventSettings,
  origin: KnownOrigin,
  results: readonly EventResult[],
): Promise<CredentialOf> {
  const sinks = results.flatMap(({ pairs }) =>
    pairs
      .filter((pair) => pair.hasCredential)
      .flatMap(({ sink, subscriptions }) => subscriptions.map((id) => [id, sink] as const)),
  );
  const credentials = await settings.credentials(origin.tenant, new Map(sinks));
  return ({ subscriptions }) => credentials.get(subscriptions.find((id) => credentials.has(id)) ?? '');
}

async function addExplanations(
  settings: MatchEventSettings,
  principal: Principal,
  origin: KnownOrigin,
  results: readonly EventResult[],
): Promise<void> {
  const explained = results.flatMap((result) =>
    'event' in result.event && result.faults.length === 0
      ? [{ result, attributes: result.event.event.attributes }]
      : [],
  );
  const events = explained.map(({ attributes }) => attributes);
  const lists = await settings.explain(principal, origin.name, events);
  explained.forEach(({ result }, place) => (result.explanations = lists[place] ?? []));
}
