import type { TLSSocket } from 'node:tls';
import type { Client } from 'undici';

/** A checked connection on which TLS stands, and what ends it. */
export interface Connection {
  socket: TLSSocket;
  client: Client;
  openedAt: number;
  end: () => void;
}

/** Whose it is, and where it leads: nothing of it may differ between two requests on one connection. */
export interface ConnectionKey {
  tenant: string;
  host: string;
  port: number;
  /** That the name leads to now. */
  address: string;
}

/**
 * Connections that wait for another request of the same tenant to the same place.
 *
 *   in use -> idle      put: its answer was read to the end
 *   idle -> in use      take
 *   idle -> closed      two seconds without a request, a minute after it was opened, the target says so or says
 *                       anything at all, or there are too many: the one that waits longest goes
 */
export interface KeptConnections {
  take(key: ConnectionKey): Connection | undefined;
  put(key: ConnectionKey, connection: Connection): void;
}

const idleMs = 2_000;
/** So that a certificate that ran out, or was taken back, does not live on. */
const longestMs = 60_000;
const most = 256;

export function createKeptConnections(): KeptConnections {
  /** The one that was used last comes last. */
  const byKey = new Map<string, Connection[]>();
  /** Oldest first: a connection comes to the end each time that it is put. */
  const idle = new Map<Connection, { name: string; leave: () => void }>();

  function remove(connection: Connection): void {
    const entry = idle.get(connection);
    if (entry === undefined) return;
    idle.delete(connection);
    entry.leave();
    const others = byKey.get(entry.name) ?? [];
    others.splice(others.lastIndexOf(connection), 1);
    if (others.length === 0) byKey.delete(entry.name);
  }

  function drop(connection: Connection): void {
    remove(connection);
    connection.end();
  }

  return {
    take(key) {
      // The one that was used last: the others may close.
      const connection = byKey.get(nameOf(key))?.at(-1);
      if (connection !== undefined) remove(connection);
      return connection;
    },

    put(key, connection) {
      const { socket, openedAt } = connection;
      const leftMs = Math.min(idleMs, openedAt + longestMs - performance.now());
      if (!socket.writable || leftMs <= 0) return connection.end();
      const name = nameOf(key);
      const close = () => drop(connection);
      const timer = setTimeout(close, leftMs).unref();
      socket.once('close', close);
      socket.once('end', close);
      const leave = () => {
        clearTimeout(timer);
        socket.off('close', close);
        socket.off('end', close);
      };
      idle.set(connection, { name, leave });
      const others = byKey.get(name);
      if (others === undefined) byKey.set(name, [connection]);
      else others.push(connection);
      const [oldest] = idle.keys();
      if (idle.size > most && oldest !== undefined) drop(oldest);
    },
  };
}

function nameOf({ tenant, host, port, address }: ConnectionKey): string {
  return JSON.stringify([tenant, host, port, address]);
}
