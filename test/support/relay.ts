import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP relay in front of a server: what connects through it can be cut off, held up, and let through again. */
export interface Relay {
  url: string;
  /** Nothing more comes on event streams, those that there are and those to come, until `mend`. */
  holdStreams(): void;
  /** How many event streams go through it at present. */
  openStreams(): number;
  /** How many connections were asked something and have no answer yet; event streams are none of them. */
  unanswered(): number;
  /** What is asked comes through, and where an answer should come the connection breaks, until `mend`. */
  loseAnswers(): void;
  /** Breaks every connection, and lets none through until `mend`. */
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
