import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { readConfig } from '../../../registry/app/config.js';
import { startCallbackHost, type CallbackHost } from '../../conformance/receiver/callback-host.js';
import { runReceiver } from '../../conformance/receiver/run-receiver.js';
import { hideQuery } from '../../conformance/hide-secrets.js';
import { UsageError } from '../../../base/errors.js';
import { isLoopback } from '../../../outbound/loopback-request.js';
import { parseOriginName } from '../../../consent/origin.js';
import { parseRate } from '../../../consent/rate.js';
import { textIn } from '../../../base/texts/text.js';
import type { Values } from '../command.js';
import { keyIn } from '../check/key-file.js';
import { openIdentity, type RunSide } from './side.js';

/** Milliseconds; with the usual time-out, a run without a burst ends within a minute. */
const usualDeadlineMs = 55_000;

/** `assent conformance receiver`, up to the results. */
export const conformanceReceiver: RunSide = async ({ cases, profile, timeoutMs, env }, values) => {
  const [text = ''] = String(values['sink']).split('#');
  const sink = sinkOf(text);
  const burst = values['burst'] === true;
  const expect = values['expect'] as 'consent' | 'refusal';
  const settings = {
    cases,
    profile,
    // As it was written: a URL object would change its path.
    sink: text,
    origin: originOf(String(values['origin'])),
    expect,
    rate: rateOf(String(values['rate'])),
    deliver: values['deliver'] === true,
    burst,
    token: textOf(values, 'token'),
    keys: await Promise.all((values['key'] as string[]).map((path) => keyIn('--key', path))),
    revokedKey: await optional(textOf(values, 'revoked-key'), (path) => keyIn('--revoked-key', path)),
    ca: await authoritiesOf(textOf(values, 'ca')),
    timeoutMs,
    callMs: timeoutMs,
    quietMs: timeoutMs,
    deadlineMs: burst ? Infinity : Math.max(usualDeadlineMs, 4 * timeoutMs),
  };
  const callbacks = await openCallbacks(textOf(values, 'callback-host'), sink, env);
  const run = async () => ({ ...(await runReceiver({ ...settings, callbacks })), expect });
  return { target: hideQuery(text), outcome: run().finally(() => callbacks?.stop()) };
};

const textOf = (values: Values, name: string): string | undefined => String(values[name] ?? '') || undefined;

function sinkOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['https:', 'http:'].includes(url.protocol)) {
    throw new UsageError('--sink must be the https URL of the webhook.');
  }
  if (url.username !== '' || url.password !== '') throw new UsageError('--sink must not have a user or a password.');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError('--sink may be an http URL only on this machine: localhost or 127.0.0.1.');
  }
  return url;
}

function originOf(text: string): string | undefined {
  if (text === '') return undefined;
  const parsed = parseOriginName(text);
  if (!parsed.ok) throw new UsageError(`--origin: ${textIn(parsed.detail, 'en')}`);
  return parsed.name;
}

function rateOf(text: string): number {
  const rate = parseRate(text);
  if (typeof rate !== 'number') throw new UsageError('--rate must be a positive number of requests per minute.');
  return rate;
}

const optional = async <T>(text: string | undefined, read: (text: string) => Promise<T>) =>
  text === undefined ? undefined : read(text);

async function authoritiesOf(path: string | undefined): Promise<string[] | undefined> {
  if (path === undefined) return undefined;
  const pem = await readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`--ca: ${error.message}`);
  });
  return [pem, ...rootCertificates];
}

/** Undefined if the target cannot reach this machine, as far as known. */
async function openCallbacks(
  text: string | undefined,
  sink: URL,
  env: NodeJS.ProcessEnv,
): Promise<CallbackHost | undefined> {
  const isLocal = isLoopback(sink.hostname);
  if (text === undefined && !isLocal) return undefined;
  const [, host = '', port = ''] =
    /^([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):(\d{1,5})$/.exec(text ?? '127.0.0.1:0') ?? [];
  if (host === '' || host === '0.0.0.0' || Number(port) > 65_535) {
    throw new UsageError(
      '--callback-host must be HOST:PORT, with a name or an IPv4 address that the webhook can reach.',
    );
  }
  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const certificate = await openIdentity(dataFolder, host);
  return startCallbackHost({ host, port: Number(port), certificate });
}
