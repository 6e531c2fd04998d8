import { whenAborted } from '../../base/until.js';
import { RegistryError } from '../../base/errors.js';

/** The current readers. Each needs a connection and some memory, so their number is limited. */
export interface Readers {
  /**
   * Counts a reader until the signal fires. RegistryErrors `feed_full` (this process has no room for more) and
   * `too_many_readers` (the tenant has too many; for a consumer, the subscriber). Consumers never take the places of
   * senders.
   */
  admit(kind: ReaderKind, tenant: string, signal: AbortSignal, subscriber?: string): void;
  count(kind: ReaderKind): number;
}

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

export function createReaders(limits: ReaderLimits): Readers {
  const counts: Record<ReaderKind, number> = { stream: 0, poll: 0, consumer: 0, snapshot: 0, export: 0 };
  const followers = new Map<string, number>();
  const consumers = new Map<string, number>();
  const snapshots = new Map<string, number>();
  const exports = new Map<string, number>();

  return {
    admit(kind, tenant, signal, subscriber) {
      const isFollower = kind === 'stream' || kind === 'poll';
      const isConsumer = kind === 'consumer';
      const [all, maxOfAll, maxOfOne] = isFollower
        ? [counts.stream + counts.poll, limits.perProcess, limits.perTenant]
        : isConsumer
          ? [counts.consumer, limits.perProcess, maxOfSubscriber]
          : [counts[kind], limits.snapshots, limits.snapshotsPerTenant];
      const byOne = isFollower ? followers : isConsumer ? consumers : kind === 'snapshot' ? snapshots : exports;
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
        throw new RegistryError(
          'feed_full',
          `This process already has ${all} ${named}. Another process may have room.`,
          {
            retryAfterSeconds: 5,
          },
        );
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
    },
    count: (kind) => counts[kind],
  };
}
