/**
 * Milliseconds of this process's own time that the work takes; what else the machine does is not in it. Work that grows
 * with the square of 100,000 characters takes ten thousand of them and more.
 */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
