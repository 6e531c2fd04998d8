import { join } from 'node:path';
import { readConfig } from '../../registry/app/config.js';
import { SetupError, UsageError } from '../../base/errors.js';
import { createTrustedRoute } from '../../outbound/trusted-route.js';
import { createLog } from '../../registry/http/log.js';
import type { OutboxEntry } from '../notify/outbox.js';
import { runNotifier } from '../notify/notifier.js';
import type { Language } from '../../base/texts/text.js';
import { createTokenSource, readNamedFile, registriesOf, sharedSettings } from './sender-process.js';

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

const scopes = ['assent:deliver', 'assent:credentials'] as const;
const firstDelayMs = 1_000;

/** Sends notices until the signal fires. Throws a UsageError or a SetupError for people. Resolves to the exit code. */
export async function notify(options: NotifyOptions, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const { origin, language, hours } = options;
  if (origin === '') throw new UsageError('--origin must name the origin of the notices.');
  if (!/^\d{1,4}$/.test(hours) || Number(hours) < 1) throw new UsageError('--hours must be a whole number above 0.');
  const addresses = registriesOf(options.registry);
  const given = sharedSettings(env);
  // What production demands of a registry does not apply here.
  const config = readConfig({ ...given, NODE_ENV: undefined });
  const { ports: sinkPorts, ca: sinkCa, ...networks } = config.outbound;
  const ca = await readNamedFile(env['NOTIFY_REGISTRY_CA_FILE']);
  if (ca.fault !== undefined) throw new SetupError(`NOTIFY_REGISTRY_CA_FILE ${ca.fault}`);
  const log = createLog(config.logLevel);
  const about = ({ sink, event }: OutboxEntry) => {
    const { id, type, subject } = event as { id: string; type: string; subject: string };
    return { notice: id, type, subscription: subject, sinkhost: new URL(sink).host };
  };
  const token = createTokenSource({
    prefix: 'NOTIFY',
    env,
    scopes,
    route: createTrustedRoute(config.outbound),
    tenant: options.tenant,
    subscriber: 'assent-notify',
    given,
  });
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
      ca: ca.text,
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
