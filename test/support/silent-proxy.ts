import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Stands in front of a Postgres and passes everything on but notifications, as a pooler does that gives each
 * transaction another connection: LISTEN is accepted, and nothing ever comes.
 */
export interface SilentProxy {
  /** The address of the database through it. */
  url: string;
  /** Notifications that were kept back. */
  kept(): number;
  stop(): Promise<void>;
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let kept = 0;
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    }
    client.pipe(database);
    database.once('close', () => client.destroy());
    let rest: Buffer = Buffer.alloc(0);
    database.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // One byte for the kind, four for the length of what follows, which counts those four.
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readInt32BE(1));
        rest = rest.subarray(message.length);
        if (message[0] === 'A'.charCodeAt(0)) kept += 1;
        else client.write(message);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: Object.assign(new URL(databaseUrl), { port: String(port) }).href,
    kept: () => kept,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
