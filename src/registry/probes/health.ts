import { setTimeout as sleep } from 'node:timers/promises';

/** Whether a process keeps up, for admins. Operators have more of it, and for every process, in the metrics. */
export interface Health {
  version: string;
  /** Of the change log, as far as this process has read it; undefined while it is loading. */
  revision: string | undefined;
  /** Since the memory of this process was known to be current; undefined while it is loading. */
  secondsBehind: number | undefined;
  /** How late the oldest due handshake is that could start now; undefined while the database does not respond. */
  secondsLate: number | undefined;
  isWritable: boolean;
}

export interface HealthSources {
  version: string;
  position: () => bigint | undefined;
  secondsBehind: () => number;
  lagSeconds: () => Promise<number>;
  isWritable: () => boolean;
}

const patienceMs = 2_000;

export function createHealth(sources: HealthSources): () => Promise<Health> {
  const { version, position, secondsBehind, lagSeconds, isWritable } = sources;
  return async () => {
    const late = sleep(patienceMs, undefined, { ref: false });
    const secondsLate = await Promise.race([lagSeconds().catch(() => undefined), late]);
    const behind = secondsBehind();
    return {
      version,
      revision: position()?.toString(),
      secondsBehind: Number.isFinite(behind) ? behind : undefined,
      secondsLate,
      isWritable: isWritable(),
    };
  };
}
