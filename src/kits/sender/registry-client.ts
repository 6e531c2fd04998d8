import { Agent, request, type Dispatcher } from 'undici';
import { until } from '../../base/until.js';
import type { Fault } from '../../base/errors.js';
import type { EventRequest } from '../../events/read-events.js';

/** The registry responded with an error. */
export class RegistryRefusal extends Error {
  override readonly name = 'RegistryRefusal';

  constructor(
    readonly status: number,
    /** The code of the problem (see the table of errors). Undefined if the response has none. */
    readonly code: string | undefined,
    readonly faults: readonly Fault<string>[],
    message: string,
  ) {
    super(message);
  }
}

/** A retry would be refused again. */
export function isFinal(error: unknown): boolean {
  return error instanceof RegistryRefusal && [400, 401, 403, 404].includes(error.status);
}

export interface RegistryCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative to the registry's URL, without a leading slash. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, with its event headers. */
  message?: EventRequest;
  accept?: string;
  /** Makes a retry safe. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds until the response must start. */
  answerMs?: number;
  /** Milliseconds of silence that end a stream. */
  silenceMs?: number;
  /** Fetches a new token instead of reusing the last one. */
  freshToken?: boolean;
  /** Called with the headers of a successful response. */
  onHeaders?: (headers: Dispatcher.ResponseData['headers']) => void;
}

/**
 * HTTP to the processes of one registry. All are equal: after a failure the next call goes to the next one. Rejects with
 * undici's error if there was no response, and with RegistryRefusal if it was an error.
 */
export interface RegistryClient {
  call(call: RegistryCall): Promise<Dispatcher.ResponseData['body']>;
  /** Milliseconds that the registry's clock is ahead of this process's. Differences below two seconds count as 0. */
  aheadMs(): number;
  /**
   * Whether this process's clock was adjusted since the registry last sent its time, which is then needed again.
   */
  isClockSet(): boolean;
  close(): Promise<void>;
}

export interface RegistryClientSettings {
  /** Each with a trailing slash. */
  addresses: readonly URL[];
  token: () => Promise<string> | string;
  /** PEM. Trusted instead of the default certificate authorities. */
  ca: string | undefined;
}

const usualAnswerMs = 10_000;
const smallestSkewMs = 2_000;

export function createRegistryClient({ addresses, token, ca }: RegistryClientSettings): RegistryClient {
  const agent = new Agent({
    connect: { timeout: 5_000, ...(ca === undefined ? {} : { ca }) },
    keepAliveTimeout: 10_000,
  });
  /** Counts the failures that moved us to the next address. */
  let switches = 0;
  let skewMs = 0;
  let notedClock = startOfClock();
  let kept: string | undefined;

  async function send(call: RegistryCall, bearer: string) {
    const { method, path, body, message, accept, idempotencyKey, signal, answerMs, silenceMs } = call;
    const address = addresses[switches % addresses.length] as URL;
    const chosen = switches;
    const failed = () => {
      if (switches === chosen) switches += 1;
    };
    try {
      const answer = await request(new URL(path, address), {
        method,
        dispatcher: agent,
        headersTimeout: answerMs ?? usualAnswerMs,
        bodyTimeout: silenceMs ?? usualAnswerMs,
        signal: signal ?? null,
        headers: {
          authorization: `Bearer ${bearer}`,
          ...(accept === undefined ? {} : { accept }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(message === undefined ? {} : linesOfEvent(message)),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(message === undefined ? {} : { body: message.body }),
      });
      // Another process may have capacity or a database connection.
      if (answer.statusCode >= 500 || answer.statusCode === 429) failed();
      noteClock(answer.headers['date']);
      return answer;
    } catch (error) {
      if (signal?.aborted !== true) failed();
      throw error;
    }
  }

  /** A Date header has whole seconds: the real time is up to one second later. */
  function noteClock(date: string | string[] | undefined): void {
    notedClock = startOfClock();
    const told = typeof date === 'string' ? Date.parse(date) : NaN;
    if (Number.isNaN(told)) return;
    const ahead = told + 500 - Date.now();
    skewMs = Math.abs(ahead) < smallestSkewMs ? 0 : ahead;
  }

  async function bearer(isFresh: boolean, signal: AbortSignal | undefined): Promise<string> {
    if (!isFresh && kept !== undefined) return kept;
    signal?.throwIfAborted();
    // The host's function may never settle.
    const fresh = await until((async () => token())(), { signals: [signal] });
    signal?.throwIfAborted();
    return (kept = fresh as string);
  }

  return {
    async call(call) {
      let answer = await send(call, await bearer(call.freshToken ?? false, call.signal));
      if (answer.statusCode === 401) {
        await answer.body.dump();
        answer = await send(call, await bearer(true, call.signal));
      }
      if (answer.statusCode >= 300) throw await refusalOf(answer);
      call.onHeaders?.(answer.headers);
      return answer.body;
    },
    aheadMs: () => skewMs,
    isClockSet: () => Math.abs(startOfClock() - notedClock) >= smallestSkewMs,
    close: () => agent.destroy(),
  };
}

/** The start of the monotonic clock in wall-clock time. It changes when the wall clock is adjusted. */
function startOfClock(): number {
  return Date.now() - performance.now();
}

function linesOfEvent({ headers }: EventRequest): Record<string, string> {
  const lines: Record<string, string> = {};
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (name === 'content-type' || name.startsWith('ce-')) lines[name] = headers[at + 1] as string;
  }
  return lines;
}

async function refusalOf({ statusCode, body }: Dispatcher.ResponseData): Promise<RegistryRefusal> {
  const text = await body.text().catch(() => '');
  let problem: { code?: unknown; detail?: unknown; faults?: unknown } = {};
  try {
    problem = JSON.parse(text) as typeof problem;
  } catch {
    // A proxy in between responded, not the registry.
  }
  const code = typeof problem.code === 'string' ? problem.code : undefined;
  const detail = typeof problem.detail === 'string' ? ` ${problem.detail}` : '';
  return new RegistryRefusal(
    statusCode,
    code,
    Array.isArray(problem.faults) ? (problem.faults as Array<Fault<string>>) : [],
    `The registry answered ${statusCode}${code === undefined ? '' : ` (${code})`}.${detail}`,
  );
}
