import pg from 'pg';
import { LinkedController, sleep } from '../../base/until.js';

interface ListenSettings {
  databaseUrl: string;
  channel: string;
  /** Called with the payload of each notification. */
  onWake: (payload: string) => void;
  /** Called for each new connection: a notification may have been missed, and the server may be another one. */
  onConnect: () => void;
  onFault: (error: unknown) => void;
}

const heartbeatMs = 5_000;

/**
 * Listens to a channel until the signal fires, and reconnects if the connection is lost. A server process that hangs
 * causes no error, so a heartbeat checks the connection every five seconds.
 */
export async function listenForNotifications(settings: ListenSettings, signal: AbortSignal): Promise<void> {
  const { databaseUrl, channel, onWake, onConnect, onFault } = settings;
  while (!signal.aborted) {
    let client: pg.Client | undefined;
    const over = new LinkedController([signal]);
    const end = () => over.abort();
    try {
      // Throws if a file in the URL is missing, for example while certificates are being replaced.
      client = new pg.Client({
        connectionString: databaseUrl,
        connectionTimeoutMillis: heartbeatMs,
        query_timeout: heartbeatMs,
        keepAlive: true,
      });
      client.on('error', end);
      client.on('end', end);
      client.on('notification', ({ payload = '' }) => onWake(payload));
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      onConnect();
      while (!over.signal.aborted) {
        await sleep(heartbeatMs, over.signal);
        if (!over.signal.aborted) await client.query('select 1');
      }
    } catch (error) {
      if (!signal.aborted) onFault(error);
    }
    end();
    // Not awaited: a connection that hangs does not end.
    void client?.end().catch(() => undefined);
    await sleep(500, signal);
  }
}
