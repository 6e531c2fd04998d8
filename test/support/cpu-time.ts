/**
 * Milliseconds of this process's own time that the work takes; what else the machine does is not in it. Texts are so
 * long that going through them again for each character takes many times the limits.
 */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
