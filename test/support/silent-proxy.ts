import { startProxy, type Proxy } from './proxy.js';

/**
 * Passes everything on but notifications, as a pooler does that gives each transaction another connection: LISTEN is
 * accepted, and nothing ever comes.
 */
export interface SilentProxy extends Proxy {
  /** Notifications that were kept back. */
  kept(): number;
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let kept = 0;
  const proxy = await startProxy(databaseUrl, (client, database) => {
    client.pipe(database);
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
  return { ...proxy, kept: () => kept };
}
