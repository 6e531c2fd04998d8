import { whenAborted } from '../../base/until.js';
import { RegistryError } from '../../base/errors.js';

export const readerKinds = ['stream', 'poll', 'consumer', 'snapshot', 'export'] as const;
export type ReaderKind = (typeof readerKinds)[number];

interface ReaderLimits {
  perProcess: number;
  perTenant: number;
  /** Of snapshots, and as many exports of the audit record. */
  snapshots: number;
  snapshotsPerTenant: number;
}

/** Streams and polls of one subscriber. */
const maxOfSubscriber = 4;

/** The current readers. Each needs a connection and some memory, so their number is limited. */
export class Readers {
  readonly #limits: ReaderLimits;
  readonly #counts: Record<ReaderKind, number> = { stream: 0, poll: 0, consumer: 0, snapshot: 0, export: 0 };
  /** How many each tenant has; of consumers, each subscriber. */
  readonly #byOne = {
    follower: new Map<string, number>(),
    consumer: new Map<string, number>(),
    snapshot: new Map<string, number>(),
    export: new Map<string, number>(),
  };

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /**
   * Counts a reader until the signal fires. RegistryErrors `feed_full` (this process has no room for more) and
   * `too_many_readers` (the tenant has too many; for a consumer, the subscriber). Consumers never take the places of
   * senders.
   */
  admit(kind: ReaderKind, tenant: string, signal: AbortSignal, subscriber?: string): void {
    const counts = this.#counts;
    const limits = this.#limits;
    const isFollower = kind === 'stream' || kind === 'poll';
    const isConsumer = kind === 'consumer';
    const [all, maxOfAll, maxOfOne] = isFollower
      ? [counts.stream + counts.poll, limits.perProcess, limits.perTenant]
      : isConsumer
        ? [counts.consumer, limits.perProcess, maxOfSubscriber]
        : [counts[kind], limits.snapshots, limits.snapshotsPerTenant];
    const byOne = this.#byOne[isFollower ? 'follower' : kind];
    const named = isFollower || isConsumer ? 'readers' : `${kind}s in progress`;
    // A tenant's name contains no NUL.
    const one = isConsumer ? `${tenant}\0${subscriber}` : tenant;
    const own = byOne.get(one) ?? 0;
    if (own >= maxOfOne) {
      const whose = isConsumer ? 'The subscriber' : 'The tenant';
      throw new RegistryError('too_many_readers', `${whose} already has ${own} ${named} in this process.`, {
        retryAfterSeconds: 5,
      });
    }
    if (all >= maxOfAll) {
      throw new RegistryError('feed_full', `This process already has ${all} ${named}. Another process may have room.`, {
        retryAfterSeconds: 5,
      });
    }
    counts[kind] += 1;
    byOne.set(one, own + 1);
    const leave = () => {
      counts[kind] -= 1;
      const left = (byOne.get(one) ?? 1) - 1;
      if (left > 0) byOne.set(one, left);
      else byOne.delete(one);
    };
    whenAborted([signal], leave);
  }

  count(kind: ReaderKind): number {
    return this.#counts[kind];
  }
}
