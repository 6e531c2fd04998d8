import { RegistryError } from '../errors.js';

/** The current readers. Each needs a connection and some memory, so their number is limited. */
export interface Readers {
  /**
   * Counts a reader until the signal fires. RegistryErrors `feed_full` (this process has no room for more) and
   * `too_many_readers` (the tenant has too many).
   */
  admit(kind: ReaderKind, tenant: string, signal: AbortSignal): void;
  count(kind: ReaderKind): number;
}

export const readerKinds = ['stream', 'poll', 'snapshot', 'export'] as const;
export type ReaderKind = (typeof readerKinds)[number];

export interface ReaderLimits {
  perProcess: number;
  perTenant: number;
  /** Of snapshots, and as many exports of the audit record. */
  snapshots: number;
  snapshotsPerTenant: number;
}

export function createReaders(limits: ReaderLimits): Readers {
  const counts: Record<ReaderKind, number> = { stream: 0, poll: 0, snapshot: 0, export: 0 };
  const followers = new Map<string, number>();
  const snapshots = new Map<string, number>();
  const exports = new Map<string, number>();

  return {
    admit(kind, tenant, signal) {
      const isFollower = kind === 'stream' || kind === 'poll';
      const [all, most, mostOfTenant] = isFollower
        ? [counts.stream + counts.poll, limits.perProcess, limits.perTenant]
        : [counts[kind], limits.snapshots, limits.snapshotsPerTenant];
      const byTenant = isFollower ? followers : kind === 'snapshot' ? snapshots : exports;
      const named = isFollower ? 'readers' : `${kind}s in progress`;
      const own = byTenant.get(tenant) ?? 0;
      if (own >= mostOfTenant) {
        throw new RegistryError('too_many_readers', `The tenant already has ${own} ${named} in this process.`, {
          retryAfterSeconds: 5,
        });
      }
      if (all >= most) {
        throw new RegistryError(
          'feed_full',
          `This process already has ${all} ${named}. Another process may have room.`,
          {
            retryAfterSeconds: 5,
          },
        );
      }
      counts[kind] += 1;
      byTenant.set(tenant, own + 1);
      const leave = () => {
        counts[kind] -= 1;
        const left = (byTenant.get(tenant) ?? 1) - 1;
        if (left > 0) byTenant.set(tenant, left);
        else byTenant.delete(tenant);
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    },
    count: (kind) => counts[kind],
  };
}
