import type { EventRequest } from '../../events/read-events.js';
import {
  sinkOfPair,
  type BatchResult,
  type MatchResult,
  type MatchedMessage,
  type Secrets,
  type SecretsOf,
} from '../../matching/match/match-message.js';
import type { MatchedPair } from '../../matching/replica/known-pairs.js';
import { AssentError } from '../client/assent-error.js';
import type { Client } from '../client/create-client.js';
import { deniedBy } from './leases.js';

/**
 * Sink credentials and signing secrets in memory, as last fetched from the registry, until the feed reports a change of their sink. Those
 * that the registry cannot decrypt are reported to the host and fetched again after a while.
 */
export interface SinkCredentials {
  /**
   * The secrets of each pair of a message, which may differ between its events. Fetches unknown ones. The registry may
   * be ahead of the replica: a sink that is no longer deliverable is removed from the match.
   */
  of(
    origin: string,
    revision: string,
    matched: MatchedMessage,
    message: EventRequest,
  ): Promise<{ matched: MatchedMessage; secretsOf: SecretsOf }>;
  /**
   * The secrets of one sink, for the subscriptions of the pair, and until when that holds by the registry's clock if the
   * feed reports no change. `denied` if the registry is ahead of the replica and the origin may not send any more.
   */
  ofSink(
    origin: string,
    revision: string,
    pair: MatchedPair,
  ): Promise<{ secrets: Secrets | undefined; until: number } | ReturnType<typeof deniedBy>>;
  /** One pair, or everything if no sink is given. */
  forget(origin: string | undefined, sink: string | undefined): void;
}

interface Entry {
  /** `missing` if this token may not read it; undefined if there is none. */
  secrets: Secrets | 'missing' | undefined;
  /** Monotonic. */
  until: number;
}
type Known = Map<string, Map<string, Entry>>;

/** The feed does not report that a secret can be decrypted again, or that a token has another scope. */
const unreadableMs = 60_000;
/** Characters of cached subscription lists; about forty for each subscription. */
const maxKept = 2_000_000;

export function createCredentials(
  client: Client,
  onFault: (error: unknown) => void,
  /** Called for each sink whose secrets this token may not read. */
  onWithheld: (origin: string, sink: string, error: Error) => void,
  signal: AbortSignal,
  /** By the registry's clock. */
  now: () => number,
): SinkCredentials {
  /** By pair, then by the matching subscriptions. */
  const known: Known = new Map();
  let kept = 0;
  let changes = 0;

  async function askForMatch(origin: string, minRevision: string, message: EventRequest) {
    const { data } = await client.POST('/match', {
      params: { query: { origin, minRevision } },
      headers: headersOf(message),
      body: message.body as never,
      bodySerializer: () => message.body,
      signal,
    });
    return data as MatchResult | BatchResult;
  }

  async function askForSink(origin: string, minRevision: string, pair: MatchedPair): Promise<MatchResult> {
    try {
      const query = { origin, sink: pair.sink, minRevision };
      const { data } = await client.GET('/deliveries/settings', { params: { query }, signal });
      return data;
    } catch (error) {
      if (!(error instanceof AssentError) || error.code !== 'secret_unavailable') throw error;
      return { origin, revision: minRevision, sinks: [], withheld: [sinkOfPair(pair)] };
    }
  }

  /** Reports what this token may not read, and what the registry cannot decrypt. */
  function read(origin: string, told: MatchResult | BatchResult): Known {
    const events = 'events' in told ? told.events : [told];
    const sinks = events.flatMap((event) => event.sinks ?? []);
    const withheld = events.flatMap((event) => event.withheld ?? []);
    const asked: Known = new Map();
    const note = ({ sink, subscriptions }: MatchResult['sinks'][number], one: Entry) => {
      const pair = `${origin} ${sink}`;
      asked.set(pair, (asked.get(pair) ?? new Map<string, Entry>()).set(subscriptions.join(), one));
    };
    for (const to of sinks) {
      const { sink, hascredential, sinkcredential, previouscredential } = to;
      const { hassigningsecret, signingsecrets, signingoverlapuntil } = to;
      const lacksCredential = hascredential === true && sinkcredential === undefined;
      if (!lacksCredential && (hassigningsecret !== true || signingsecrets !== undefined)) {
        const secrets = {
          ...(sinkcredential && { sinkcredential }),
          ...(previouscredential && { previouscredential }),
          ...(signingsecrets && { signingsecrets }),
          ...(signingoverlapuntil !== undefined && { signingoverlapuntil }),
        };
        note(to, { secrets: Object.keys(secrets).length > 0 ? secrets : undefined, until: Infinity });
        continue;
      }
      note(to, { secrets: 'missing', until: performance.now() + unreadableMs });
      const what = lacksCredential ? 'credential' : 'signing secret';
      const detail = `The token lacks the scope assent:credentials, and ${sink} has a ${what}.`;
      onWithheld(origin, sink, new Error(`${detail} Deliver nothing there.`));
    }
    for (const to of withheld) note(to, { secrets: 'unreadable', until: performance.now() + unreadableMs });
    for (const sink of new Set(withheld.map((to) => to.sink))) {
      onFault(new Error(`The registry cannot decrypt a secret of ${sink}: deliver nothing there.`));
    }
    return asked;
  }

  /** The end of an overlap is not a change of the sink. */
  function presentOf(secrets: Secrets): Secrets {
    if (secrets === 'unreadable') return secrets;
    const { previouscredential, signingsecrets, signingoverlapuntil, ...present } = secrets;
    const isOver = (until = '') => Date.parse(until) <= now();
    return {
      ...present,
      ...(previouscredential && !isOver(previouscredential.until) && { previouscredential }),
      ...(signingsecrets &&
        (isOver(signingoverlapuntil)
          ? { signingsecrets: signingsecrets.slice(0, 1) }
          : { signingsecrets, ...(signingoverlapuntil !== undefined && { signingoverlapuntil }) })),
    };
  }

  function keep(asked: Known): void {
    if (kept >= maxKept) forgetAll();
    for (const [pair, lists] of asked) {
      const before = known.get(pair);
      for (const list of lists.keys()) if (!before?.has(list)) kept += list.length;
      known.set(pair, new Map([...(before ?? []), ...lists]));
    }
  }

  function forgetAll(): void {
    known.clear();
    kept = 0;
  }

  /** The secrets of each pair, from memory if all are there. */
  async function find(origin: string, pairs: readonly MatchedPair[], ask: () => Promise<MatchResult | BatchResult>) {
    const listsOf = (map: Known, { sink }: MatchedPair) => map.get(`${origin} ${sink}`);
    const isKnown = pairs.every((pair) => {
      const told = listsOf(known, pair)?.get(pair.subscriptions.join());
      return told !== undefined && told.until > performance.now();
    });
    const before = changes;
    const from = isKnown ? known : read(origin, await ask());
    // A response that overlapped a change may be stale: use it once, do not cache it.
    if (!isKnown && changes === before) keep(from);
    // By pair: another event of the batch may match other subscriptions to the same sink.
    const secrets = new Map<MatchedPair, Secrets>();
    const found = new Map<MatchedPair, Entry>();
    for (const pair of pairs) {
      const lists = listsOf(from, pair);
      // One subscription more or less does not change the sink.
      const told = lists?.get(pair.subscriptions.join()) ?? lists?.values().next().value;
      if (told === undefined) continue;
      found.set(pair, told);
      if (told.secrets === 'missing') continue;
      if (told.secrets !== undefined) secrets.set(pair, presentOf(told.secrets));
      if (told.secrets === 'unreadable') continue;
      // One was removed, and the replica is behind.
      pair.hasCredential = told.secrets?.sinkcredential !== undefined;
      pair.hasSigningSecret = told.secrets?.signingsecrets !== undefined;
    }
    return { found, secrets };
  }

  return {
    async of(origin, revision, matched, message) {
      const pairs = matched.results.flatMap((result) => result.pairs.filter(hasSecrets));
      const { found, secrets } = await find(origin, pairs, () => askForMatch(origin, revision, message));
      const isTold = (pair: MatchedPair) => !hasSecrets(pair) || found.has(pair);
      const results = matched.results.map((result) => ({ ...result, pairs: result.pairs.filter(isTold) }));
      return { matched: { ...matched, results }, secretsOf: (pair) => secrets.get(pair) };
    },
    async ofSink(origin, revision, pair) {
      if (!hasSecrets(pair)) return { secrets: undefined, until: Infinity };
      const asked = await find(origin, [pair], () => askForSink(origin, revision, pair)).catch(deniedBy);
      if ('denied' in asked) return asked;
      const secrets = asked.secrets.get(pair);
      const { until = 0 } = asked.found.get(pair) ?? {};
      const ends = [now() + until - performance.now()];
      if (typeof secrets === 'object') {
        const { previouscredential, signingoverlapuntil } = secrets;
        for (const end of [previouscredential?.until, signingoverlapuntil])
          if (end !== undefined) ends.push(Date.parse(end));
      }
      return { secrets, until: Math.min(...ends) };
    },
    forget(origin, sink) {
      changes += 1;
      if (origin === undefined || sink === undefined) return forgetAll();
      const pair = `${origin} ${sink}`;
      for (const list of known.get(pair)?.keys() ?? []) kept -= list.length;
      known.delete(pair);
    },
  };
}

const hasSecrets = ({ hasCredential, hasSigningSecret }: MatchedPair) => hasCredential || hasSigningSecret;

/** Those of the event, and no other type of its content. */
function headersOf({ headers }: EventRequest): Record<string, string | null> {
  const own: Record<string, string | null> = { 'content-type': null };
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (name === 'content-type' || name.startsWith('ce-')) own[name] = headers[at + 1] as string;
  }
  return own;
}
