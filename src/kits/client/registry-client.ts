import { Agent, request, type Dispatcher } from 'undici';
import { until } from '../../base/until.js';
import { AssentError, noToken } from './assent-error.js';
import { createClient, type Client } from './create-client.js';

/**
 * The client of a server: HTTP to the processes of one registry. All are equal: after a failure the next request goes to
 * the next one. It repeats nothing but a request whose token is refused. Rejects with AssentError.
 */
export interface RegistryClient extends Client {
  /** Milliseconds that the registry's clock is ahead of this process's. Differences below two seconds count as 0. */
  aheadMs(): number;
  /** Whether this process's clock was adjusted since the registry last sent its time, which is then needed again. */
  isClockSet(): boolean;
  close(): Promise<void>;
}

interface RegistryClientSettings {
  /** Each with a trailing slash. */
  addresses: readonly URL[];
  /** Called for each stream, and whenever a token is refused. */
  token: () => Promise<string> | string;
  /** PEM. Trusted instead of the default certificate authorities. */
  ca: string | undefined;
}

/** A request would be refused again. */
export function isFinal(error: unknown): boolean {
  return error instanceof AssentError && [400, 401, 403, 404].includes(error.status);
}

/** Milliseconds until a response starts, and of silence that end it. */
const usual = { startMs: 10_000, silenceMs: 10_000 };
const streamed: Readonly<Record<string, typeof usual>> = {
  'text/event-stream': { startMs: 10_000, silenceMs: 40_000 },
  // The registry reads the whole snapshot before it sends any of it, within two minutes.
  'application/jsonl': { startMs: 130_000, silenceMs: 40_000 },
};
const smallestSkewMs = 2_000;

/** The part of a Request that is needed here. Those of fetch cost ten times as much processor time as all of the rest. */
class PlainRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal | null;

  constructor(
    readonly url: string,
    { method = 'GET', headers = new Headers(), body = null, signal = null }: RequestInit,
  ) {
    this.method = method;
    this.headers = headers as Headers;
    this.body = body as string | Uint8Array | null;
    this.signal = signal;
  }
}

export function createRegistryClient({ addresses, token, ca }: RegistryClientSettings): RegistryClient {
  const dispatcher = new Agent({
    connect: { timeout: 5_000, ...(ca !== undefined && { ca }) },
    keepAliveTimeout: 10_000,
  });
  const [first] = addresses as [URL];
  /** Counts the failures that moved us to the next address. */
  let switches = 0;
  let skewMs = 0;
  let notedClock = startOfClock();
  let kept: string | undefined;

  async function send(asked: PlainRequest, { startMs, silenceMs }: typeof usual, bearer: string): Promise<Response> {
    const { url, method, headers, body, signal } = asked;
    const chosen = switches;
    const address = addresses[chosen % addresses.length] as URL;
    const failed = () => {
      if (switches === chosen) switches += 1;
    };
    try {
      headers.set('Authorization', `Bearer ${bearer}`);
      const response = await request(new URL(url.slice(first.href.length), address), {
        method,
        headers,
        body,
        signal,
        dispatcher,
        headersTimeout: startMs,
        bodyTimeout: silenceMs,
      });
      const { statusCode: status } = response;
      // Another process may have capacity or a database connection.
      if (status >= 500 || status === 429) failed();
      return responseOf(response);
    } catch (error) {
      if (signal?.aborted !== true) failed();
      throw error;
    }
  }

  /** A Date header has whole seconds: the real time is up to one second later. */
  function noteClock(date: string | null): void {
    notedClock = startOfClock();
    const told = Date.parse(date ?? '');
    if (Number.isNaN(told)) return;
    const ahead = told + 500 - Date.now();
    skewMs = Math.abs(ahead) < smallestSkewMs ? 0 : ahead;
  }

  async function bearer(isFresh: boolean, signal: AbortSignal | null): Promise<string> {
    if (!isFresh && kept !== undefined) return kept;
    signal?.throwIfAborted();
    // The host's function may never settle.
    const asked = (async () => token())().catch((error: unknown) => {
      throw noToken(error);
    });
    const fresh = await until(asked, { signals: [signal] });
    signal?.throwIfAborted();
    return (kept = fresh as string);
  }

  async function fetch(asked: Request): Promise<Response> {
    const request = asked as unknown as PlainRequest;
    const stream = streamed[request.headers.get('Accept') ?? ''];
    let response = await send(request, stream ?? usual, await bearer(stream !== undefined, request.signal));
    if (response.status === 401) {
      await response.text();
      response = await send(request, stream ?? usual, await bearer(true, request.signal));
    }
    noteClock(response.headers.get('Date'));
    return response;
  }

  const client = createClient({ url: first, retries: 0, fetch }, PlainRequest as unknown as typeof Request);
  return {
    ...client,
    aheadMs: () => skewMs,
    isClockSet: () => Math.abs(startOfClock() - notedClock) >= smallestSkewMs,
    close: () => dispatcher.destroy(),
  };
}

/** The start of the monotonic clock in wall-clock time. It changes when the wall clock is adjusted. */
function startOfClock(): number {
  return Date.now() - performance.now();
}

/** What the client uses of a Response. Those of fetch are as expensive as its requests. */
function responseOf({ statusCode: status, headers: lines, body }: Dispatcher.ResponseData): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(lines)) headers.set(name, String(value));
  // Nothing will read it.
  if (status === 204) void body.dump();
  const ok = status >= 200 && status < 300;
  return { ok, status, headers, body, text: () => body.text(), json: () => body.json() } as unknown as Response;
}
