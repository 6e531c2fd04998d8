// A load generator that costs little itself: requests are bytes made beforehand, sent over keep-alive connections, and
// of an answer only the status and the length are read.
import { connect } from 'node:net';
import { setImmediate } from 'node:timers';

/**
 * Sends `requests` (a list, taken in turn, or a function of the number of the request) over `connections` connections
 * for a while; every answer must begin with `status` and hold `text`. Returns answers a second and the p99 in
 * microseconds. `sleeps` where other processes than the server work for the answers too: it would take one of their
 * cores.
 */
export async function load({ port, requests, connections = 64, seconds = 3, status = 200, text = '', sleeps = false }) {
  const requestAt = typeof requests === 'function' ? requests : (number) => requests[number % requests.length];
  const until = performance.now() + seconds * 1_000;
  const times = [];
  let answers = 0;
  let next = 0;
  let refused = 0;
  const one = () =>
    new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let buffered = '';
      let sentAt = 0;
      const send = () => {
        sentAt = performance.now();
        socket.write(requestAt(next++));
      };
      socket.setEncoding('latin1');
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('A connection was closed.')));
      socket.on('data', (chunk) => {
        buffered = buffered === '' ? chunk : buffered + chunk;
        const end = buffered.indexOf('\r\n\r\n');
        if (end === -1) return;
        const at = buffered.toLowerCase().indexOf('content-length: ');
        const length = Number(buffered.slice(at + 16, buffered.indexOf('\r', at)));
        if (buffered.length < end + 4 + length) return;
        if (!buffered.startsWith(`HTTP/1.1 ${status}`) || !buffered.includes(text)) refused += 1;
        buffered = '';
        answers += 1;
        if ((answers & 7) === 0) times.push(performance.now() - sentAt);
        if (performance.now() < until) return send();
        socket.removeAllListeners('close');
        socket.end();
        resolve();
      });
    });
  const startedAt = performance.now();
  // It never sleeps: whoever writes to a process that sleeps has to wake it, which takes a server as long as the write
  // itself, and the slower of two servers finds it asleep more often.
  let isRunning = true;
  const stayAwake = () => void (isRunning && setImmediate(stayAwake));
  if (!sleeps) stayAwake();
  await Promise.all(Array.from({ length: connections }, one)).finally(() => (isRunning = false));
  if (refused > 0) throw new Error(`${refused} of ${answers} requests were refused.`);
  times.sort((a, b) => a - b);
  return {
    answers,
    persecond: answers / ((performance.now() - startedAt) / 1_000),
    p99us: Math.round((times[Math.floor(times.length * 0.99)] ?? 0) * 1_000),
  };
}

/** The bytes of one request. */
export function requestBytes({ method, path, headers = {}, body = '' }) {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, 'Content-Length': Buffer.byteLength(body) });
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`,
  );
}
