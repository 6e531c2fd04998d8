const longestTimer = 2 ** 31 - 1;

/** Fires when the client disconnects, the service stops, or the time is over. Leaves no listeners behind. */
export function endOf(gone: AbortSignal, stopping: AbortSignal, milliseconds?: number): AbortSignal {
  const over = new AbortController();
  const end = () => over.abort();
  const timer = milliseconds === undefined ? undefined : setTimeout(end, Math.min(milliseconds, longestTimer));
  const leave = () => {
    clearTimeout(timer);
    stopping.removeEventListener('abort', end);
    end();
  };
  stopping.addEventListener('abort', end);
  gone.addEventListener('abort', leave);
  if (gone.aborted) leave();
  if (stopping.aborted) end();
  return over.signal;
}
