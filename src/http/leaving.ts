import type { IncomingMessage, ServerResponse } from 'node:http';

/** Made once: a reason of its own has a stack, which costs more than the rest of the signal. */
const closed = new Error('The connection was closed.');

/**
 * Fires when the answer has been sent or nobody is there any more to have it. An answer that waits for an earlier one
 * of its connection is not told when that closes, so the connection is listened to as well.
 */
export function signalOfLeaving({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    socket.off('close', leave);
    gone.abort(closed);
  };
  response.once('close', leave);
  socket.setMaxListeners(0).once('close', leave);
  if (response.destroyed || socket.destroyed) leave();
  return gone.signal;
}
