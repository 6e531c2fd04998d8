import { connect, type Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { startHostileServer } from './hostile-server.js';

/** A proxy on loopback that forwards connections, or misbehaves. */
export interface EgressProxy {
  port: number;
  /** The heads of all requests, as received. */
  heads: string[];
  /** TCP connections accepted so far. */
  connections(): number;
  /** Resolves when all connections are closed. */
  deserted(): Promise<void>;
  stop(): Promise<void>;
}

export interface EgressProxyBehaviour {
  /** It is an https proxy. */
  tls?: TlsOptions;
  /** What it does after a head, instead of forwarding. */
  answer?: ((socket: Socket, authority: string) => void) | undefined;
  /** The same, chosen for each request; undefined forwards it. */
  intercept?: () => ((socket: Socket) => void) | undefined;
}

/** Whatever address it is asked for, it connects to the port at loopback: nothing leaves the machine. */
export async function startEgressProxy(behaviour: EgressProxyBehaviour = {}): Promise<EgressProxy> {
  const { tls, answer, intercept } = behaviour;
  const heads: string[] = [];
  const behind = new Set<Socket>();
  function forward(socket: Socket, authority: string): void {
    const target = connect(Number(authority.slice(authority.lastIndexOf(':') + 1)), '127.0.0.1');
    behind.add(target);
    target.on('error', () => socket.destroy()).once('close', () => socket.destroy());
    socket.once('close', () => target.destroy());
    target.once('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
  }
  const handle = (socket: Socket, head: string) => {
    const [, authority = ''] = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head) ?? [];
    (answer ?? intercept?.() ?? forward)(socket, authority);
  };
  const read = (socket: Socket) => {
    let head = '';
    socket.on('data', function next(chunk: Buffer) {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', next);
      heads.push(head);
      handle(socket, head);
    });
  };
  const server = await startHostileServer(
    tls === undefined
      ? { answer: read }
      : {
          tls,
          answer: (socket) => {
            const head = server.requests.at(-1) ?? '';
            heads.push(head);
            handle(socket, head);
          },
        },
  );
  return {
    port: server.port,
    heads,
    connections: () => server.connections,
    deserted: async () => {
      await server.deserted();
      const left = [...behind].filter((each) => !each.closed);
      await Promise.all(left.map((each) => new Promise((resolve) => each.once('close', resolve))));
    },
    stop: () => server.stop(),
  };
}
