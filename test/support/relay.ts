import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay in front of a server. It can break, delay and restore connections. */
export interface Relay {
  url: string;
  /** Current and new event streams deliver nothing more, until `mend`. */
  holdStreams(): void;
  /** The number of event streams through it. */
  openStreams(): number;
  /** The number of connections with a request and no response yet, without event streams. */
  unanswered(): number;
  /** Requests pass, but the connection breaks instead of the response, until `mend`. */
  loseAnswers(): void;
  /** Breaks every connection, and accepts none until `mend`. */
  cut(): void;
  mend(): void;
  stop(): Promise<void>;
}

export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  const asking = new Set<Socket>();
  let isCut = false;
  let isHolding = false;
  let isLosing = false;
  const server = createServer((near) => {
    if (isCut) return near.destroy();
    const far = connect(Number(port), hostname);
    near.on('data', (text: Buffer) => {
      if (!text.includes('text/event-stream')) return void asking.add(far);
      streams.add(far);
      if (isHolding) far.pause();
    });
    far.on('close', () => streams.delete(far) || asking.delete(far));
    far.on('data', () => {
      asking.delete(far);
      if (isLosing) near.destroy();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      destroyAll();
    },
    loseAnswers: () => void (isLosing = true),
    openStreams: () => streams.size,
    unanswered: () => asking.size,
    holdStreams() {
      isHolding = true;
      for (const far of streams) far.pause();
    },
    mend() {
      isCut = isHolding = isLosing = false;
      for (const far of streams) far.resume();
    },
    stop: () =>
      new Promise((resolve) => {
        destroyAll();
        server.close(() => resolve());
      }),
  };
}
