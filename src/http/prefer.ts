const defaultWaitMs = 5_000;
const longestWaitMs = 30_000;

/**
 * How many milliseconds a client prefers to wait for the handshake (RFC 7240 sections 4.1 and 4.3): `wait=N` in
 * seconds, capped at 30; `respond-async` alone is 0; nothing, or nothing that can be read, is 5 seconds.
 */
export function parsePrefer(header: string | undefined): number {
  const preferences = (header ?? '')
    .split(',')
    .map((preference) => preference.split(';')[0]?.trim().toLowerCase() ?? '');
  const wait = preferences
    .map((preference) => /^wait="?(\d{1,9})"?$/.exec(preference)?.[1])
    .find((n) => n !== undefined);
  if (wait !== undefined) return Math.min(Number(wait) * 1_000, longestWaitMs);
  return preferences.includes('respond-async') ? 0 : defaultWaitMs;
}
