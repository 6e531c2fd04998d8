import { startProxy, type Proxy } from './proxy.js';

/**
 * Passes no session settings on, like PgBouncer: `refuse` rejects clients that send any, `drop` removes them, like its
 * `ignore_startup_parameters`.
 */
export function startPooler(databaseUrl: string, habit: 'refuse' | 'drop'): Promise<Proxy> {
  return startProxy(databaseUrl, (client, database) => {
    database.pipe(client);
    // A connection starts with its parameters, which fit into one packet.
    client.once('data', (startup: Buffer) => {
      const parameters = startup.toString('latin1', 8).split('\0');
      const at = parameters.indexOf('options');
      if (at >= 0 && habit === 'refuse') {
        client.end(refusal('unsupported startup parameter: options'));
        return;
      }
      if (at >= 0) parameters.splice(at, 2);
      const kept = Buffer.from(parameters.join('\0'), 'latin1');
      const head = Buffer.from(startup.subarray(0, 8));
      head.writeInt32BE(8 + kept.length);
      database.write(Buffer.concat([head, kept]));
      client.pipe(database);
    });
  });
}

/** An ErrorResponse: severity, code and message. */
function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
