import type { ServerResponse } from 'node:http';
import type { StreamedBody } from './handler.js';

export interface StreamSettings {
  /** Writes the head, before the first piece. */
  open: () => void;
  /** How long a client may leave a stream unread before it is cut off; milliseconds. */
  stallMs: number;
  /** Fires when the service stops: who does not read is then cut off at once. */
  stopping: AbortSignal;
}

/**
 * Writes a body as fast as it is read and no faster: what waits in the process is one piece. The answer is the last one
 * of its connection, so that none is left open at a stop.
 */
export async function writeStream(
  response: ServerResponse,
  stream: StreamedBody,
  settings: StreamSettings,
): Promise<void> {
  response.shouldKeepAlive = false;
  try {
    await stream(async (text) => {
      if (response.destroyed) throw new Error('The client has gone away.');
      if (!response.headersSent) settings.open();
      if (!response.write(text)) await untilDrained(response, settings);
    });
    if (!response.headersSent) settings.open();
    response.end();
  } catch (error) {
    if (!response.destroyed) throw error;
  }
}

function untilDrained(response: ServerResponse, { stallMs, stopping }: StreamSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without a socket, while an earlier answer of the connection has it, nothing is closed by that.
    const cutOff = () => {
      response.destroy();
      closed();
    };
    const timer = setTimeout(cutOff, stallMs);
    stopping.addEventListener('abort', cutOff);
    const end = (finish: () => void) => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', cutOff);
      response.off('drain', drained);
      response.off('close', closed);
      finish();
    };
    const drained = () => end(resolve);
    const closed = () => end(() => reject(new Error('The client has gone away.')));
    response.once('drain', drained);
    response.once('close', closed);
    if (stopping.aborted) cutOff();
  });
}
