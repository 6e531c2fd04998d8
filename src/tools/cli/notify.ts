import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { join } from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../registry/app/config.js';
import { SetupError, UsageError } from '../../base/errors.js';
import { createTrustedRoute, type TrustedRoute } from '../../outbound/trusted-route.js';
import { createLog } from '../../registry/http/log.js';
import type { OutboxEntry } from '../notify/outbox.js';
import { runNotifier } from '../notify/notifier.js';
import type { Language } from '../../base/texts/text.js';
import { createToken } from './login/create-token.js';

export interface NotifyOptions {
  origin: string;
  registry: string;
  source: string;
  'type-prefix': string;
  language: Language;
  hours: string;
  tenant: string;
  data: string;
}

/** The settings that it shares with the registry: how webhooks are reached, the log, and the key for development. */
const shared = [
  'NODE_ENV',
  'ASSENT_DATA',
  'ASSENT_LOG_LEVEL',
  'ASSENT_ALLOWED_NETWORKS',
  'ASSENT_DENIED_NETWORKS',
  'ASSENT_SINK_PORTS',
  'ASSENT_SINK_CA_FILE',
  'ASSENT_DNS_SERVERS',
  'ASSENT_EGRESS_PROXY',
  'ASSENT_EGRESS_PROXY_CA_FILE',
  'ASSENT_EGRESS_NO_PROXY',
  'ASSENT_DEVELOPMENT_ISSUER',
] as const;

const scopes = ['assent:deliver', 'assent:credentials'] as const;
const tokenMs = 10_000;
const firstDelayMs = 1_000;

/** Sends notices until the signal fires. Throws a UsageError or a SetupError for people. Resolves to the exit code. */
export async function notify(options: NotifyOptions, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const { origin, language, hours } = options;
  if (origin === '') throw new UsageError('--origin must name the origin of the notices.');
  if (!/^\d{1,4}$/.test(hours) || Number(hours) < 1) throw new UsageError('--hours must be a whole number above 0.');
  const addresses = options.registry.split(',').map(addressOf);
  const given = Object.fromEntries(shared.map((name) => [name, env[name]]));
  // What production demands of a registry does not apply here.
  const config = readConfig({ ...given, NODE_ENV: undefined });
  const { ports: sinkPorts, ca: sinkCa, ...networks } = config.outbound;
  const log = createLog(config.logLevel);
  const about = ({ sink, event }: OutboxEntry) => {
    const { id, type, subject } = event as { id: string; type: string; subject: string };
    return { notice: id, type, subscription: subject, sinkhost: new URL(sink).host };
  };
  const token = tokenSource(options.tenant, env, given, createTrustedRoute(config.outbound));
  const folder = options.data === '' ? join(config.dataFolder, `notify-${origin.toLowerCase()}`) : options.data;
  log.info({ origin, folder }, 'notices start');
  await runNotifier(
    {
      registry: addresses,
      token,
      origin: origin.toLowerCase(),
      source: options.source === '' ? (addresses[0] as URL).origin : options.source,
      typePrefix: options['type-prefix'],
      language,
      folder,
      ca: await readIfNamed(env, 'NOTIFY_REGISTRY_CA_FILE'),
      guard: {
        ...networks,
        sinkPorts,
        sinkCa,
        userAgent: 'Assent notify',
      },
      keepMs: Number(hours) * 3_600_000,
      firstDelayMs,
      onDelivered: (entry) => log.debug(about(entry), 'notice delivered'),
      onDropped: (entry, why) => log.warn({ ...about(entry), why }, 'notice dropped'),
      onFault: (error) => log.warn({ err: error }, 'notify fault'),
    },
    signal,
  );
  log.info('notices stopped');
  return 0;
}

function addressOf(text: string): URL {
  const address = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
    throw new UsageError('--registry must be an http or https URL, or several with commas.');
  }
  if (!address.pathname.endsWith('/')) address.pathname += '/';
  return address;
}

/** From a file, from a token endpoint, or in development signed here. */
function tokenSource(
  tenant: string,
  env: NodeJS.ProcessEnv,
  given: NodeJS.ProcessEnv,
  route: TrustedRoute,
): () => Promise<string> {
  const { NOTIFY_TOKEN_FILE: file, NOTIFY_TOKEN_URL: url } = env;
  if (file) return async () => (await readFile(file, 'utf8')).trim();
  if (url) return () => requestToken(url, env, route);
  return () => createToken({ tenant, subscriber: 'assent-notify', scopes, minutes: 60 }, given);
}

const tokenResponse = z.object({ access_token: z.string() });

/** Client credentials (RFC 6749, section 4.4). */
async function requestToken(url: string, env: NodeJS.ProcessEnv, route: TrustedRoute): Promise<string> {
  const [id, secret] = [env['NOTIFY_CLIENT_ID'] ?? '', env['NOTIFY_CLIENT_SECRET'] ?? ''];
  const basic = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64');
  const dispatcher = await route(url);
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${basic}`,
      Accept: 'application/json',
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }).toString(),
    signal: AbortSignal.timeout(tokenMs),
    ...(dispatcher !== undefined && { dispatcher }),
  });
  if (statusCode >= 300) {
    await body.dump();
    throw new Error(`The token endpoint returned ${statusCode}.`);
  }
  return tokenResponse.parse(await body.json()).access_token;
}

async function readIfNamed(env: NodeJS.ProcessEnv, name: string): Promise<string | undefined> {
  const path = env[name];
  if (!path) return undefined;
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new SetupError(`${name} cannot be read: ${error.message}`);
  });
}
