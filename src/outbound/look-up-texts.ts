import { codeOf } from './failure.js';
import { meansNoAddress, resolverOf, unusable, type LookUpSettings } from './look-up.js';
import { ended, withinDeadline, type NoResponse, type Timing } from './progress.js';

/** The TXT records of a name, each of its strings joined; none if there is no such name or record. */
export type FoundTexts = ({ kind: 'found'; texts: string[] } | NoResponse) & { timing: Timing };

/** Looks up TXT records by the same name servers as `lookUp`. Returns every outcome as a value. */
export function createLookUpTexts(settings: { dnsServers: readonly string[]; deadlineMs: number }) {
  const { dnsServers, deadlineMs } = settings;
  const servers = { dnsServers, tryTimeoutMs: Math.ceil(deadlineMs / 5) };
  return (name: string, caller?: AbortSignal): Promise<FoundTexts> =>
    withinDeadline(deadlineMs, caller, async (progress, signal) => {
      const texts = await progress.during('lookupMs', Promise.race([ended(signal), findTexts(name, servers, signal)]));
      return { kind: 'found', texts } as const;
    });
}

async function findTexts(name: string, settings: LookUpSettings, signal: AbortSignal): Promise<string[]> {
  try {
    const records = await resolverOf(settings, signal).resolveTxt(name);
    return records.map((strings) => strings.join(''));
  } catch (error) {
    const code = codeOf(error);
    if (meansNoAddress.has(code)) return [];
    throw unusable(name, code);
  }
}
