import { hostOf } from '../../base/formats/uri.js';
import { networkTest } from '../../outbound/address.js';
import { Arena } from '../index/arena.js';
import { StringTable } from '../index/string-table.js';
import type { BlockState } from './state.js';

const none: ReadonlySet<number> = new Set();
/** Whose deliveries a block stops that is of no single tenant. */
export const everyTenant = '*';

/**
 * The blocks in force, as look-ups compare them: the same as `blocks_pair` in the migration. A block is one entry here,
 * however many pairs it stops. A block that this version cannot compare stops everything of its tenant: an emergency
 * brake must not fail open.
 */
export class Blocks {
  /** The clients that have subscriptions, by number. */
  readonly subscribers = new StringTable(new Arena());
  readonly #known = new Map<string, { tenant: string; state: BlockState }>();
  readonly #ofTenants = new Map<string, TenantBlocks>();
  /** What `barred` returned, by tenant. */
  readonly #barred = new Map<string, ReadonlySet<number>>();
  #version = 1;

  /** Nearly always 0, and then nothing else is looked at. */
  get size(): number {
    return this.#known.size;
  }

  /** Another number whenever a block, or the tenant of an origin, changed. */
  get version(): number {
    return this.#version;
  }

  /** Null lifts it. Throws RangeError for a block that cannot be compared, which now stops everything. */
  put(tenant: string, id: string, state: BlockState | null): void {
    this.noteChange();
    const known = this.#known.get(id);
    if (known !== undefined) {
      this.#known.delete(id);
      this.#of(known.tenant).count(known.state, -1);
    }
    if (state === null) return;
    this.#known.set(id, { tenant, state });
    if (!this.#of(tenant).count(state, 1)) throw new RangeError(`No block is of the kind ${state.kind}.`);
  }

  noteChange(): void {
    this.#version += 1;
    this.#barred.clear();
  }

  /** Whether a block stops deliveries of an origin to a sink, whose webhook had this address when it gave consent. */
  stops(tenant: string, origin: string, sink: string, address: string): boolean {
    const own = this.#ofTenants.get(tenant);
    const every = this.#ofTenants.get(everyTenant);
    return own?.stops(origin, sink, address) === true || every?.stops(origin, sink, address) === true;
  }

  /** The numbers of a tenant's blocked subscribers. */
  barred(tenant: string): ReadonlySet<number> {
    let barred = this.#barred.get(tenant);
    if (barred === undefined) {
      const both = [tenant, everyTenant].flatMap((each) => [...(this.#ofTenants.get(each)?.barred ?? none)]);
      this.#barred.set(tenant, (barred = both.length === 0 ? none : new Set(both)));
    }
    return barred;
  }

  #of(tenant: string): TenantBlocks {
    let blocks = this.#ofTenants.get(tenant);
    if (blocks === undefined) this.#ofTenants.set(tenant, (blocks = new TenantBlocks(this.subscribers)));
    return blocks;
  }
}

/** Values with the number of blocks that name them. */
type Values = Map<string, number>;

class TenantBlocks {
  barred: ReadonlySet<number> = none;
  readonly #subscribers: StringTable;
  readonly #values: Record<string, Values> = {
    origin: new Map(),
    sink: new Map(),
    host: new Map(),
    domain: new Map(),
    network: new Map(),
    subscriber: new Map(),
  };
  /** Of the kind `tenant`, or of a kind that is not known. */
  #whole = 0;
  #isInNetwork: (address: string) => boolean = () => false;

  constructor(subscribers: StringTable) {
    this.#subscribers = subscribers;
  }

  /** False for a block that cannot be compared. */
  count({ kind, value }: BlockState, change: 1 | -1): boolean {
    const values = this.#values[kind];
    const canCompare = values !== undefined && (kind !== 'network' || isNetwork(value));
    if (!canCompare) {
      this.#whole += change;
      return kind === 'tenant';
    }
    const number = (values.get(value) ?? 0) + change;
    if (number > 0) values.set(value, number);
    else values.delete(value);
    if (kind === 'network') this.#isInNetwork = networkTest([...values.keys()]);
    if (kind === 'subscriber') {
      // Its number is the same for as long as it is blocked, with subscriptions or without.
      if (change > 0) this.#subscribers.acquire(value);
      else this.#subscribers.release(this.#subscribers.find(value));
      this.barred = new Set([...values.keys()].map((name) => this.#subscribers.find(name)));
    }
    return true;
  }

  stops(origin: string, sink: string, address: string): boolean {
    if (this.#whole > 0) return true;
    const { origin: origins, sink: sinks, host: hosts, domain: domains, network: networks } = this.#values as Named;
    if (origins.size > 0 && origins.has(origin)) return true;
    if (sinks.size > 0 && sinks.has(sink)) return true;
    if (hosts.size + domains.size + networks.size === 0) return false;
    const host = hostOf(sink);
    if (hosts.has(host)) return true;
    if (domains.size > 0) {
      for (let from = 0; ;) {
        if (domains.has(host.slice(from))) return true;
        const dot = host.indexOf('.', from);
        if (dot < 0) break;
        from = dot + 1;
      }
    }
    if (networks.size === 0) return false;
    return this.#isInNetwork(/^(?:\[.*\]|[\d.]+)$/.test(host) ? host.replace(/^\[|\]$/g, '') : address);
  }
}

type Named = Record<'origin' | 'sink' | 'host' | 'domain' | 'network', Values>;

function isNetwork(value: string): boolean {
  try {
    networkTest([value]);
    return true;
  } catch {
    return false;
  }
}
