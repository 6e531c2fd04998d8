import { sinkOfPair } from '../../matching/match/match-message.js';
import type { MatchedPair } from '../../matching/replica/known-pairs.js';
import type { MatchedSink } from './delivery.js';
import { ownTenant } from './lines.js';
import type { Denied, Permission } from './leases.js';
import type { SinkCredentials } from './credentials.js';
import type { Replica } from '../../matching/replica/replica.js';

export type FoundSink = { to: MatchedSink } | { unreadable: string } | { denied: Denied };

interface SinksSettings {
  replica: () => Replica;
  permission: (origin: string, sink: string) => Permission;
  credentials: Pick<SinkCredentials, 'ofSink'>;
  /** The position of the replica in the change log. */
  revision: () => string;
  /** By the registry's clock. */
  now: () => number;
}

interface Entry {
  /** Shared by callers that ask at the same time. */
  found: Promise<FoundSink>;
  /** By the registry's clock. */
  until: number;
}

const maxKept = 10_000;

/**
 * How to deliver to each sink, as a match shows it for an event that matches every active subscription: from the replica,
 * with secrets from the registry. Kept until the feed reports a change of the pair, or a time in it has passed.
 */
export class Sinks {
  readonly #settings: SinksSettings;
  readonly #kept = new Map<string, Entry>();

  constructor(settings: SinksSettings) {
    this.#settings = settings;
  }

  /** Rejects with AssentError if the secrets are needed and the registry cannot be reached. `origin` in lower case. */
  of(origin: string, sink: string): Promise<FoundSink> {
    const { replica, permission, now } = this.#settings;
    const pair = `${origin} ${sink}`;
    const known = this.#kept.get(pair);
    if (known !== undefined && known.until > now()) return known.found;
    const denied = permission(origin, sink);
    const found = replica().sinkOf(ownTenant, origin, sink);
    if (found === undefined || (!denied.allowed && denied.denial !== 'held')) {
      return Promise.resolve({ denied: denied as Denied });
    }
    const entry = { until: found.until } as Entry;
    entry.found = this.#complete(pair, entry, origin, found.matched);
    this.#keep(pair, entry);
    return entry.found;
  }

  /** One pair; those of an origin, or all, if no more is given. */
  forget(origin: string | undefined, sink: string | undefined): void {
    if (origin === undefined || sink === undefined) this.#kept.clear();
    else this.#kept.delete(`${origin} ${sink}`);
  }

  async #complete(pair: string, entry: Entry, origin: string, matched: MatchedPair): Promise<FoundSink> {
    let isKept = false;
    try {
      const { credentials, revision } = this.#settings;
      const held = await credentials.ofSink(origin, revision(), matched);
      if ('denied' in held) return { denied: { origin, sink: matched.sink, allowed: false, ...held.denied } };
      isKept = true;
      entry.until = Math.min(entry.until, held.until);
      if (held.secrets === 'unreadable') {
        return { unreadable: `The registry cannot decrypt a secret of ${matched.sink}.` };
      }
      return { to: sinkOfPair(matched, held.secrets) };
    } finally {
      if (!isKept && this.#kept.get(pair) === entry) this.#kept.delete(pair);
    }
  }

  #keep(pair: string, entry: Entry): void {
    this.#kept.delete(pair);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= maxKept && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(pair, entry);
  }
}
