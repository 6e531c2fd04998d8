import type { Case, CaseResult, ConformanceProfile } from '../conformance/case.js';
import { runSender } from '../conformance/sender/run-sender.js';
import { readConfig } from '../config.js';
import { UsageError } from '../errors.js';
import { driveByCommand, driveByHand, openIdentity } from './drive-sender.js';

export interface ConformanceSenderSettings {
  cases: readonly Case[];
  profile: ConformanceProfile;
  /** HOST:PORT, where the sender finds the webhooks. */
  listen: string;
  /** With {url}; empty if a person works the sender. */
  command: string;
  isManual: boolean;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
}

/** `assent conformance sender`, up to the results. Throws a UsageError for options that contradict each other. */
export async function conformanceSender(settings: ConformanceSenderSettings): Promise<CaseResult[]> {
  const { cases, profile, command, isManual, timeoutMs, env } = settings;
  if ((command !== '') === isManual) throw new UsageError('Give --command or --manual.');
  const listen = placeOf(settings.listen);
  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const { caFile, ...certificate } = await openIdentity(dataFolder, listen.host);
  const drive = isManual
    ? driveByHand(caFile, process.stdin, (text) => void process.stderr.write(text))
    : driveByCommand(command, caFile, env);
  return runSender({ cases, profile, listen, certificate, timeoutMs, drive });
}

/** It is part of the URLs, so a name or an IPv4 address that the sender reaches. */
function placeOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || host === '0.0.0.0' || Number(port) > 65_535) {
    throw new UsageError('--listen must be HOST:PORT, with a name or an IPv4 address that the sender can reach.');
  }
  return { host: host.toLowerCase(), port: Number(port) };
}
