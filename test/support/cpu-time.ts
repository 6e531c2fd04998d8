/**
 * Milliseconds of CPU time of this process for the work; other load does not count. The texts are so long that
 * quadratic work would take many times the limits.
 */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
