import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { openConnection } from './connection.js';
import { dialFirst } from './dial.js';
import { codeOf, RequestFailure } from './failure.js';
import { withinDeadline } from './progress.js';
import { safeRequestDefaults, type SafeRequest, type SafeRequestSettings } from './safe-request.js';

/** Whether a host of a URL is this machine: `localhost`, a name below it, or a loopback address. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/**
 * The same request over plain http, to an application under development. It connects to loopback whatever the URL names,
 * so it reaches nothing else. For tools on a developer's machine; a registry asks by https only.
 */
export function createLoopbackRequest({
  deadlineMs,
  userAgent,
}: Pick<SafeRequestSettings, 'deadlineMs' | 'userAgent'>): SafeRequest {
  const limits = { ...safeRequestDefaults, keepAliveMs: 0, maxBodyBytes: 0 };
  return ({ url, method, headers, signal: caller }) =>
    withinDeadline(deadlineMs, caller, async (progress, signal) => {
      const { hostname, port, origin } = new URL(url);
      const address = hostname.replace(/^\[(.*)\]$/, '$1');
      const candidates = isIP(address) === 0 ? ['127.0.0.1', '::1'] : [address];
      const socket = await dialFirst(
        candidates.filter((each) => each === '::1' || each.startsWith('127.')),
        () => Promise.resolve(undefined),
        (each) => {
          progress.remoteAddress = each;
          return progress.during('connectMs', dialPlain(each, Number(port || 80), signal));
        },
      );
      const connection = openConnection(socket as Socket, origin, limits);
      const request = { url, method, headers: { 'User-Agent': userAgent, ...headers } };
      const answer = await progress.during('responseMs', connection.exchange(request, signal));
      return { kind: 'answered', ...answer, remoteAddress: progress.remoteAddress ?? '' } as const;
    });
}

/** The socket does not outlive `signal`. Throws RequestFailure. */
async function dialPlain(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host, port });
  signal.addEventListener('abort', () => socket.destroy(), { once: true });
  try {
    await once(socket, 'connect', { signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw codeOf(error) === 'ECONNREFUSED'
      ? new RequestFailure('connection_refused', `Port ${port} of ${host} is closed.`, codeOf(error))
      : new RequestFailure('connection_failed', `${host} cannot be reached (${codeOf(error)}).`, codeOf(error));
  }
  // undici listens for errors from now on; until then, and after it, one would end the process.
  socket.on('error', () => undefined);
  return socket;
}
