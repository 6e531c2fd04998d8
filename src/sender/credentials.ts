import type { EventRequest } from '../events/read-events.js';
import type { BatchAnswer, Credential, CredentialOf, MatchAnswer, MatchedMessage } from '../matching/match-message.js';
import type { MatchedPair } from '../matching/pairs/known-pairs.js';
import type { RegistryClient } from './registry-client.js';

/**
 * Sink credentials in memory: as the registry last told them, until it tells a change of their sink. Those that it
 * cannot read are told to the host, and asked for again after a while.
 */
export interface SinkCredentials {
  /**
   * That of each pair of a message, which may differ between its events; asks the registry for what is not known. It
   * may know more than the replica does by then: a sink that it no longer delivers to is taken out of what was matched.
   */
  of(
    origin: string,
    revision: string,
    matched: MatchedMessage,
    message: EventRequest,
  ): Promise<{ matched: MatchedMessage; credentialOf: CredentialOf }>;
  /** Of a pair; of everything, if no sink is told. */
  forget(origin: string | undefined, sink: string | undefined): void;
}

interface Entry {
  /** `missing` if the registry does not give it to this token; undefined if there is none. */
  credential: Credential | 'missing' | undefined;
  /** By the clock that only goes forward. */
  until: number;
}
type Known = Map<string, Map<string, Entry>>;

/** No feed tells that the registry can read a credential again, or that a token has another scope. */
const unreadableMs = 60_000;
/** Characters of the lists of subscriptions that are kept, which are about forty for each of them. */
const maxKept = 2_000_000;

export function createCredentials(
  client: RegistryClient,
  onFault: (error: unknown) => void,
  /** Called for each sink whose credential this token does not get. */
  onWithheld: (origin: string, sink: string, error: Error) => void,
  signal: AbortSignal,
  /** By the clock of the registry. */
  now: () => number,
): SinkCredentials {
  /** By pair, and there by the subscriptions that want the event: it is that of the oldest that has one. */
  const known: Known = new Map();
  let kept = 0;
  let changes = 0;

  async function ask(origin: string, revision: string, message: EventRequest): Promise<Known> {
    const path = `v1/match?origin=${encodeURIComponent(origin)}&minRevision=${revision}`;
    const answer = await client.call({ method: 'POST', path, message, signal });
    const told = (await answer.json()) as MatchAnswer | BatchAnswer;
    const events = 'events' in told ? told.events : [told];
    const sinks = events.flatMap((event) => event.sinks ?? []);
    const withheld = events.flatMap((event) => event.withheld ?? []);
    const asked: Known = new Map();
    const note = ({ sink, subscriptions }: MatchAnswer['sinks'][number], one: Entry) => {
      const pair = `${origin} ${sink}`;
      asked.set(pair, (asked.get(pair) ?? new Map<string, Entry>()).set(subscriptions.join(), one));
    };
    for (const to of sinks) {
      const { sink, hascredential, sinkcredential, previouscredential } = to;
      const held = sinkcredential && { sinkcredential, ...(previouscredential && { previouscredential }) };
      if (held !== undefined || hascredential !== true) {
        note(to, { credential: held, until: Infinity });
        continue;
      }
      note(to, { credential: 'missing', until: performance.now() + unreadableMs });
      const detail = `The token lacks the scope assent:credentials, and ${sink} has a credential.`;
      onWithheld(origin, sink, new Error(`${detail} Nothing is to be delivered there.`));
    }
    for (const to of withheld) note(to, { credential: 'unreadable', until: performance.now() + unreadableMs });
    for (const sink of new Set(withheld.map((to) => to.sink))) {
      onFault(new Error(`The registry cannot read the credential of ${sink}: nothing is to be delivered there.`));
    }
    return asked;
  }

  /** No change of the sink tells that an overlap is over. */
  function presentOf(credential: Credential): Credential {
    if (credential === 'unreadable' || credential.previouscredential === undefined) return credential;
    const { sinkcredential, previouscredential } = credential;
    return Date.parse(previouscredential.until) > now() ? credential : { sinkcredential };
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

  return {
    async of(origin, revision, matched, message) {
      const pairs = matched.results.flatMap((result) => result.pairs.filter(({ hasCredential }) => hasCredential));
      const listsOf = (map: Known, { sink }: MatchedPair) => map.get(`${origin} ${sink}`);
      const isKnown = pairs.every((pair) => {
        const told = listsOf(known, pair)?.get(pair.subscriptions.join());
        return told !== undefined && told.until > performance.now();
      });
      const before = changes;
      const from = isKnown ? known : await ask(origin, revision, message);
      // What was told while something changed may be of before, and serves this once.
      if (!isKnown && changes === before) keep(from);
      // By pair: another event of the batch may be for other subscriptions to the same sink.
      const credentials = new Map<MatchedPair, Credential>();
      for (const pair of pairs) {
        const lists = listsOf(from, pair);
        // With one subscription more or less it is the same sink still.
        const told = lists?.get(pair.subscriptions.join()) ?? lists?.values().next().value;
        if (told === undefined || told.credential === 'missing') continue;
        if (told.credential !== undefined) credentials.set(pair, presentOf(told.credential));
        // It was removed, and the replica does not know yet.
        else pair.hasCredential = false;
      }
      const isTold = (pair: MatchedPair) => !pair.hasCredential || listsOf(from, pair) !== undefined;
      const results = matched.results.map((result) => ({ ...result, pairs: result.pairs.filter(isTold) }));
      return { matched: { ...matched, results }, credentialOf: (pair) => credentials.get(pair) };
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
