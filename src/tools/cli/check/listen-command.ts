import { once } from 'node:events';
import { join } from 'node:path';
import { UsageError } from '../../../base/errors.js';
import { flag, portOf, text, untilStopped, type Command } from '../command.js';

export const listenCommand: Command = {
  summary: 'Shows the handshakes and events that arrive on http://localhost:PORT.',
  operands: { PORT: { type: 'string', help: 'Where to listen; 0 is a free port' } },
  options: {
    forward: text('URL', 'Your application, which responds instead. The verdict on its responses is shown'),
    origin: text('NAME', 'The only origin to consent to. Every origin if absent'),
    rate: text('N', 'Requests per minute to consent to; * is no limit', { default: '120' }),
    keys: text('FILE|URL', 'The public keys of the origin (JWKS), to check its signatures'),
    https: flag('Use the certificate of "receiver"'),
  },
  notes: 'It accepts valid events. Ctrl-C stops it.',
  examples: ['assent listen 8080', 'assent listen 8080 --forward http://localhost:3001/events'],
  async run(values, ports, { env }) {
    const { parseRate } = await import('../../../consent/rate.js');
    const { parseOriginName } = await import('../../../consent/origin.js');
    const { listen } = await import('./listen.js');
    const [port, ...others] = ports;
    if (port === undefined || others.length > 0) throw new UsageError('Name one port.');
    const forward = forwardOf(String(values['forward']));
    const origin = values['origin'] === '' ? undefined : parseOriginName(String(values['origin']));
    if (origin?.ok === false) throw new UsageError(`--origin: ${origin.detail.en}`);
    const rate = parseRate(String(values['rate']));
    if (rate === undefined) throw new UsageError('--rate must be a positive integer, or *.');
    const place = String(values['keys']);
    const keys = place === '' ? undefined : await (await import('./key-file.js')).keySetIn('--keys', place);
    const isSecure = values['https'] === true;
    const identity = isSecure ? await certificate(env) : undefined;
    const write = (lines: readonly string[]) => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    const webhook = await listen({
      port: portOf({ PORT: port }, 'PORT', 'PORT'),
      certificate: identity,
      forward,
      origin: origin?.name,
      rate,
      keys,
      write,
    });
    const url = `${isSecure ? 'https' : 'http'}://localhost:${webhook.port}`;
    const authority = identity === undefined ? '' : ` --ca ${identity.caFile}`;
    write([
      `Listening on ${url}${forward === undefined ? '' : `, forwarding to ${forward.href}`}`,
      `Ask it as a registry would: assent check ${url}${authority}`,
      '',
    ]);
    await untilStopped((stop) => once(stop, 'abort'));
    await webhook.stop();
    return 0;
  },
};

function forwardOf(value: string): URL | undefined {
  if (value === '') return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError('--forward must be an http or https URL without a query.');
  }
  return url;
}

async function certificate(env: NodeJS.ProcessEnv) {
  const { openWebhookIdentity } = await import('../try/webhook.js');
  const { readConfig } = await import('../../../registry/app/config.js');
  const { writeFile } = await import('node:fs/promises');
  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const { ca, ...identity } = await openWebhookIdentity(dataFolder);
  const caFile = join(dataFolder, 'receiver-ca.pem');
  await writeFile(caFile, ca);
  return { ...identity, caFile };
}
