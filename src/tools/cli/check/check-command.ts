import { readFile } from 'node:fs/promises';
import { UsageError } from '../../../base/errors.js';
import { choice, flag, list, text, type Command, type Values } from '../command.js';
import type { CheckSettings } from './check.js';

const exitCodes = { consent: 0, none: 1, unreachable: 3 } as const;

export const checkCommand: Command = {
  summary: 'Asks a webhook for consent as a registry would, and shows the exchange, the verdict and what to change.',
  operands: { URL: { type: 'string', help: 'The webhook. On this machine it may also be http' } },
  options: {
    origin: text('NAME', 'The origin that asks', { default: 'eventemitter.example.com' }),
    rate: text('N|none', 'Requests per minute to ask for', { default: '120' }),
    key: text('FILE', 'Sign with this private key (JWK). It is made if there is none. Its public key is shown'),
    'callback-host': text(
      'HOST:PORT',
      'Where the webhook reaches this machine, for a callback URL. A webhook on this machine gets one without it',
    ),
    policy: choice(['strict', 'lenient'], 'strict', 'How strictly the response is read'),
    ca: text('FILE', "The authority of the webhook's certificate"),
    'allow-network': list('CIDR', 'A private network that may be asked. It is reached without the proxy'),
    proxy: text('URL', 'The egress proxy of your network. ASSENT_EGRESS_PROXY if absent'),
    'proxy-ca': text('FILE', "The authority of the proxy's certificate. ASSENT_EGRESS_PROXY_CA_FILE if absent"),
    timeout: text('SECONDS', 'How long to wait for a response', { default: '10' }),
    json: flag('Print JSON'),
  },
  notes: 'Needs no registry. Exit codes: 0 consent; 1 no consent; 2 wrong usage; 3 no response.',
  examples: [
    'assent check https://hooks.example.org/events --origin sender.example.com --key sender.jwk',
    'assent check https://localhost:8443/events --ca .assent/receiver-ca.pem --origin sender.example.com',
  ],
  async run(values, urls, { env }) {
    const { check } = await import('./check.js');
    const { attemptLines, keyLines, reportJson, reportLines, waitingLines } = await import('./show-check.js');
    const settings = await settingsOf(values, urls, env);
    const isJson = values['json'] === true;
    const write = (lines: readonly string[]) =>
      void (isJson || process.stdout.write(lines.map((line) => `${line}\n`).join('')));
    if (settings.signing !== undefined) write(keyLines(settings.signing));
    const report = await check(settings, {
      asked(attempt, isSecond) {
        write([isSecond ? 'Asked once more, without the callback:' : `Asked for ${settings.origin}:`, '']);
        write(attemptLines(attempt));
      },
      waits: (seconds) => write(waitingLines(seconds)),
    });
    write(reportLines(report));
    if (isJson) process.stdout.write(`${reportJson(report)}\n`);
    return exitCodes[report.outcome];
  },
};

async function settingsOf(values: Values, urls: readonly string[], env: NodeJS.ProcessEnv): Promise<CheckSettings> {
  const { parseOriginName } = await import('../../../consent/origin.js');
  const { version } = await import('../../../base/version.js');
  const [url, ...others] = urls;
  if (url === undefined || others.length > 0) throw new UsageError('Name one URL.');
  const origin = parseOriginName(String(values['origin']));
  if (!origin.ok) throw new UsageError(`--origin: ${origin.detail.en}`);
  const rate = String(values['rate']);
  if (rate !== 'none' && !/^[1-9]\d{0,8}$/.test(rate))
    throw new UsageError('--rate must be a positive integer, or none.');
  const seconds = Number(values['timeout']);
  if (!(seconds > 0 && seconds <= 3_600)) throw new UsageError('--timeout must be seconds above 0, at most 3600.');
  const ca = String(values['ca']);
  // An argument is visible to other users of the machine, and the URL may have a password.
  const proxy = String(values['proxy']) || (env['ASSENT_EGRESS_PROXY'] ?? '');
  const proxyCa = String(values['proxy-ca']) || (env['ASSENT_EGRESS_PROXY_CA_FILE'] ?? '');
  const allowedNetworks = [values['allow-network'] ?? []].flat().map(String);
  return {
    url,
    origin: origin.name,
    requestedRate: rate === 'none' ? undefined : Number(rate),
    signing: await signingOf(String(values['key'])),
    judgement: values['policy'] as CheckSettings['judgement'],
    callbackHost: hostOf(String(values['callback-host'])),
    ca: ca === '' ? undefined : await authorityIn('--ca', ca),
    allowedNetworks,
    proxy:
      proxy === ''
        ? undefined
        : {
            url: proxy,
            ca: proxyCa === '' ? undefined : await authorityIn('--proxy-ca', proxyCa),
            noProxy: allowedNetworks,
          },
    timeoutMs: seconds * 1_000,
    userAgent: `Assent/${version}`,
  };
}

async function signingOf(file: string): Promise<CheckSettings['signing']> {
  if (file === '') return undefined;
  const { openSigningKey } = await import('./key-file.js');
  return openSigningKey(file);
}

function hostOf(value: string): CheckSettings['callbackHost'] {
  if (value === '') return undefined;
  const [, host = '', port = ''] = /^(\[[0-9a-f:]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(value) ?? [];
  if (host === '' || Number(port) > 65_535) throw new UsageError('--callback-host must be HOST:PORT.');
  return { host, port: Number(port) };
}

async function authorityIn(option: string, file: string): Promise<string> {
  const { createSecureContext } = await import('node:tls');
  try {
    const ca = await readFile(file, 'utf8');
    createSecureContext({ ca });
    return ca;
  } catch (error) {
    throw new UsageError(
      `${option}: ${file} is no certificate that can be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}
