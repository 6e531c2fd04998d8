import { runSender } from '../../conformance/sender/run-sender.js';
import { readConfig } from '../../../registry/app/config.js';
import { UsageError } from '../../../base/errors.js';
import { keySetIn } from '../check/key-file.js';
import { driveByCommand, driveByHand, killAfterMs } from './drive-sender.js';
import { openIdentity, type RunSide } from './side.js';

/** The end of commands that still run is part of the time. */
const reserveMs = killAfterMs + 1_000;

/** `assent conformance sender`. Rejects, or its results do, with a UsageError for what cannot be used. */
export const conformanceSender: RunSide = async ({ cases, profile, timeoutMs, env }, values) => {
  const command = String(values['command']);
  if ((command !== '') === values['manual']) throw new UsageError('Give --command or --manual.');
  const listen = placeOf(String(values['listen']));
  const jwks = String(values['jwks']);
  const keys = jwks === '' ? undefined : await keySetIn('--jwks', jwks);
  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const { caFile, ...certificate } = await openIdentity(dataFolder, listen.host);
  const drive =
    command === ''
      ? driveByHand(caFile, process.stdin, (text) => void process.stderr.write(text))
      : driveByCommand(command, caFile, env);
  const whileMs = Math.max(timeoutMs - reserveMs, timeoutMs / 2);
  return {
    target: command === '' ? 'a sender that a person works' : command,
    outcome: runSender({ cases, profile, listen, certificate, timeoutMs: whileMs, drive, keys }).then((results) => ({
      results,
    })),
  };
};

/** It is part of the URLs, so a name or an IPv4 address that the sender reaches. */
function placeOf(text: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):(\d{1,5})$/.exec(text) ?? [];
  if (host === '' || host === '0.0.0.0' || Number(port) > 65_535) {
    throw new UsageError('--listen must be HOST:PORT, with a name or an IPv4 address that the sender can reach.');
  }
  return { host: host.toLowerCase(), port: Number(port) };
}
