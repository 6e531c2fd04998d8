import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Stands in front of a Postgres and lets no settings of a session through, as PgBouncer does. */
export interface Pooler {
  /** The address of the database through it. */
  url: string;
  stop(): Promise<void>;
}

/** `refuse` says so to whoever has settings; `drop` leaves them out, as `ignore_startup_parameters` does. */
export async function startPooler(databaseUrl: string, habit: 'refuse' | 'drop'): Promise<Pooler> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => (sockets.delete(socket), other.destroy()));
    }
    database.pipe(client);
    // A connection begins with its parameters, small enough to come at once.
    client.once('data', (startup: Buffer) => {
      const parameters = startup.toString('latin1', 8).split('\0');
      const at = parameters.indexOf('options');
      if (at >= 0 && habit === 'refuse') return client.end(refusal('unsupported startup parameter: options'));
      if (at >= 0) parameters.splice(at, 2);
      const kept = Buffer.from(parameters.join('\0'), 'latin1');
      const head = Buffer.from(startup.subarray(0, 8));
      head.writeInt32BE(8 + kept.length);
      database.write(Buffer.concat([head, kept]));
      client.pipe(database);
      return undefined;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An ErrorResponse: severity, code and message. */
function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}
