import { startProxy, type Proxy } from './proxy.js';

/**
 * Forwards everything except notifications, like a pooler in transaction mode: LISTEN succeeds, but no notification
 * ever arrives.
 */
export interface SilentProxy extends Proxy {
  /** Dropped notifications. */
  kept(): number;
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let kept = 0;
  const proxy = await startProxy(databaseUrl, (client, database) => {
    client.pipe(database);
    let rest: Buffer = Buffer.alloc(0);
    database.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      // One byte for the type, four for the length, which includes those four.
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
