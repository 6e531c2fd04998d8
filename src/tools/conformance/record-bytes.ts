import type { Socket } from 'node:net';

/** What went over a socket, each byte as one character. */
export interface WireBytes {
  sent: string;
  /** At most the first 64 KiB, to find a head in. */
  received: string;
}

const longestHead = 65_536;

/** Goes on as long as the socket lives. A new message starts with empty texts. */
export function recordBytes(socket: Socket, bytes: WireBytes): void {
  socket.on('data', (chunk: Buffer) => {
    if (bytes.received.length < longestHead) bytes.received += chunk.toString('latin1');
  });
  const write = socket.write.bind(socket) as (...parts: unknown[]) => boolean;
  socket.write = (...parts: unknown[]) => {
    const [chunk] = parts;
    bytes.sent += typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('latin1');
    return write(...parts);
  };
}
