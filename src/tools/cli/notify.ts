import { join } from 'node:path';
import { UsageError } from '../../base/errors.js';
import { createTrustedRoute } from '../../outbound/trusted-route.js';
import { createLog } from '../../registry/http/log.js';
import type { OutboxEntry } from '../notify/outbox.js';
import { runNotifier } from '../notify/notifier.js';
import type { Language } from '../../base/texts/text.js';
import { readNotifySettings, registriesOf } from './sender-settings.js';
import { SenderToken } from './sender-token.js';

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

const firstDelayMs = 1_000;

/** Sends notices until the signal fires. Throws a UsageError or a SetupError for people. Resolves to the exit code. */
export async function notify(options: NotifyOptions, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const { origin, language, hours } = options;
  if (origin === '') throw new UsageError('--origin must name the origin of the notices.');
  if (!/^\d{1,4}$/.test(hours) || Number(hours) < 1) throw new UsageError('--hours must be a whole number above 0.');
  const addresses = registriesOf(options.registry);
  const { config, token: tokenSettings, registryCa, given } = readNotifySettings(env);
  const { ports: sinkPorts, ca: sinkCa, ...networks } = config.outbound;
  const log = createLog(config.logLevel);
  const about = ({ sink, event }: OutboxEntry) => {
    const { id, type, subject } = event as { id: string; type: string; subject: string };
    return { notice: id, type, subscription: subject, sinkhost: new URL(sink).host };
  };
  const token = new SenderToken({
    prefix: 'NOTIFY',
    token: tokenSettings,
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
      token: token.get,
      origin: origin.toLowerCase(),
      source: options.source === '' ? (addresses[0] as URL).origin : options.source,
      typePrefix: options['type-prefix'],
      language,
      folder,
      ca: registryCa,
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
