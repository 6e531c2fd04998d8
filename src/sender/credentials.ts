import type { EventRequest } from '../events/read-events.js';
import type { BatchAnswer, Credentials, MatchAnswer, MatchedMessage } from '../matching/match-message.js';
import type { MatchedPair } from '../matching/known-pairs.js';
import type { RegistryClient } from './registry-client.js';

/** Sink credentials in memory: as the registry last told them, until it tells a change of their sink. */
export interface SinkCredentials {
  /**
   * Those that the sinks of a message have, by subscription; asks the registry for what is not known. The registry may
   * know more than the replica does by then: a sink that it no longer delivers to is taken out of what was matched.
   */
  of(
    origin: string,
    revision: string,
    matched: MatchedMessage,
    message: EventRequest,
  ): Promise<{ matched: MatchedMessage; credentials: Credentials }>;
  /** Of a pair; of everything, if no sink is told. */
  forget(origin: string | undefined, sink: string | undefined): void;
}

type Credential = Record<string, unknown> | undefined;
type Known = Map<string, Map<string, Credential>>;

/** Characters of the lists of subscriptions that are kept, which are about forty for each of them. */
const mostKept = 2_000_000;

export function createCredentials(client: RegistryClient, signal: AbortSignal): SinkCredentials {
  /** By pair, and there by the subscriptions that want the event: it is that of the oldest that has one. */
  const known: Known = new Map();
  let kept = 0;
  let changes = 0;

  async function ask(origin: string, revision: string, message: EventRequest): Promise<Known> {
    const path = `v1/match?origin=${encodeURIComponent(origin)}&min-revision=${revision}`;
    const answer = await client.call({ method: 'POST', path, message, signal });
    const told = (await answer.json()) as MatchAnswer | BatchAnswer;
    const sinks = 'events' in told ? told.events.flatMap((event) => event.sinks ?? []) : told.sinks;
    const asked: Known = new Map();
    for (const { sink, subscriptions, sinkcredential } of sinks) {
      const pair = `${origin} ${sink}`;
      asked.set(pair, (asked.get(pair) ?? new Map<string, Credential>()).set(subscriptions.join(), sinkcredential));
    }
    return asked;
  }

  function keep(asked: Known): void {
    if (kept >= mostKept) forgetAll();
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
      const isKnown = pairs.every((pair) => listsOf(known, pair)?.has(pair.subscriptions.join()));
      const before = changes;
      const from = isKnown ? known : await ask(origin, revision, message);
      // What was told while something changed may be of before, and serves this once.
      if (!isKnown && changes === before) keep(from);
      const credentials: Credentials = new Map();
      for (const pair of pairs) {
        const lists = listsOf(from, pair);
        const list = pair.subscriptions.join();
        // With one subscription more or less it is the same sink still.
        const credential = lists?.has(list) ? lists.get(list) : lists?.values().next().value;
        if (credential !== undefined) credentials.set(pair.subscriptions[0] ?? '', credential);
      }
      const isTold = (pair: MatchedPair) => !pair.hasCredential || listsOf(from, pair) !== undefined;
      const results = matched.results.map((result) => ({ ...result, pairs: result.pairs.filter(isTold) }));
      return { matched: { ...matched, results }, credentials };
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
