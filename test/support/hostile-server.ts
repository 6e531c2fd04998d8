import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from 'node:tls';

export interface HostileServer {
  port: number;
  /** TCP connections accepted so far. */
  connections: number;
  /** The head of every request, as received. */
  requests: string[];
  /** TLS connections so far. */
  sessions: Array<{ servername: unknown; alpn: unknown; protocol: string | null; isResumed: boolean }>;
  /** Resolves when a connection arrives, or has already arrived. */
  reached: Promise<void>;
  /** Resolves when all connections are closed. */
  deserted(): Promise<void>;
  stop(): Promise<void>;
}

export interface HostileSettings {
  /** Without it the server uses plain TCP, and calls `answer` immediately. */
  tls?: TlsOptions;
  /** What to do on a connection after a request was read. Nothing by default: the target stalls. */
  answer?: (socket: Socket) => void;
  onSession?: (socket: TLSSocket) => void;
  host?: string;
  port?: number;
}

/** A target on loopback that does whatever a test needs. */
export async function startHostileServer({
  tls,
  answer,
  onSession,
  host,
  port,
}: HostileSettings = {}): Promise<HostileServer> {
  const open = new Set<Socket>();
  const listener: Server = tls ? createTlsServer(tls) : createServer();
  let announce = () => {};
  const server: HostileServer = {
    port: 0,
    connections: 0,
    requests: [],
    sessions: [],
    reached: new Promise<void>((resolve) => (announce = resolve)),
    async deserted() {
      // `once` of node:events would reject for a reset.
      await Promise.all([...open].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    },
    async stop() {
      for (const socket of open) socket.destroy();
      const closed = once(listener, 'close');
      listener.close();
      await closed;
    },
  };

  listener.on('connection', (socket: Socket) => {
    server.connections += 1;
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    announce();
    if (!tls) {
      socket.resume(); // without reading it would never notice a disconnect
      answer?.(socket);
    }
  });
  listener.on('tlsClientError', () => {});
  listener.on('secureConnection', (socket: TLSSocket) => {
    server.sessions.push({
      servername: (socket as TLSSocket & { servername?: string }).servername,
      alpn: socket.alpnProtocol,
      protocol: socket.getProtocol(),
      isResumed: socket.isSessionReused(),
    });
    onSession?.(socket);
    socket.on('error', () => {});
    let head = '';
    socket.on('data', function read(chunk: Buffer) {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      socket.off('data', read);
      server.requests.push(head);
      answer?.(socket);
    });
  });

  listener.listen(port ?? 0, host ?? '127.0.0.1');
  await once(listener, 'listening');
  server.port = (listener.address() as AddressInfo).port;
  return server;
}

/** Calls `write` every `everyMs` until the connection is closed. */
export function drip(socket: Socket, everyMs: number, write: () => void): void {
  const timer = setInterval(write, everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** Writes the same text as fast as the other side reads it, until the connection is closed. */
export function flood(socket: Socket, text: string): void {
  const chunk = text.repeat(Math.ceil(16_384 / text.length));
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}
