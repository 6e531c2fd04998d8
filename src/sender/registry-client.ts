import { Agent, request, type Dispatcher } from 'undici';
import type { Fault } from '../errors.js';
import type { EventRequest } from '../events/read-events.js';

/** The registry answered, and not with a success. */
export class RegistryRefusal extends Error {
  override readonly name = 'RegistryRefusal';

  constructor(
    readonly status: number,
    /** Of the problem; see the table of errors. Undefined if the answer held none. */
    readonly code: string | undefined,
    readonly faults: readonly Fault<string>[],
    message: string,
  ) {
    super(message);
  }
}

/** The same call would be refused again. */
export function isFinal(error: unknown): boolean {
  return error instanceof RegistryRefusal && [400, 401, 403, 404].includes(error.status);
}

/** Milliseconds until the next try: more after each failure, and at random, so that instances do not call together. */
export function backoffMs(failures: number, firstMs: number, longestMs: number, random: () => number): number {
  return Math.min(firstMs * 2 ** failures, longestMs) * (0.5 + random());
}

export interface RegistryCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the address of the registry, without a slash at its beginning. */
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, with its lines that are of an event. */
  message?: EventRequest;
  accept?: string;
  /** The same call again does nothing twice. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
  /** How long the answer may take to begin. */
  answerMs?: number;
  /** How long the answer may be silent; for streams. */
  silenceMs?: number;
  /** Asks for a token first, and does not go on with the last one. */
  freshToken?: boolean;
  /** Of an answer that is a success. */
  onHeaders?: (headers: Dispatcher.ResponseData['headers']) => void;
}

/**
 * HTTP to the processes of one registry. They are equal: after a failure the next call goes to the next one. Rejects
 * with what undici throws where there was no answer, and with RegistryRefusal where it was no success.
 */
export interface RegistryClient {
  call(call: RegistryCall): Promise<Dispatcher.ResponseData['body']>;
  /** Milliseconds that the registry's clock is ahead of this process's; differences below two seconds are none. */
  aheadMs(): number;
  /**
   * Whether the clock of this process was set since the registry told the time last, so that it has to tell it anew.
   */
  isClockSet(): boolean;
  close(): Promise<void>;
}

export interface RegistryClientSettings {
  /** Each with a slash at its end. */
  addresses: readonly URL[];
  token: () => Promise<string> | string;
  /** PEM, trusted instead of the usual authorities. */
  ca: string | undefined;
}

const usualAnswerMs = 10_000;
const smallestSkewMs = 2_000;

export function createRegistryClient({ addresses, token, ca }: RegistryClientSettings): RegistryClient {
  const agent = new Agent({
    connect: { timeout: 5_000, ...(ca === undefined ? {} : { ca }) },
    keepAliveTimeout: 10_000,
  });
  /** Counts the failures that made us go on to the next address. */
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
      // Another process may have room, or a database.
      if (answer.statusCode >= 500 || answer.statusCode === 429) failed();
      noteClock(answer.headers['date']);
      return answer;
    } catch (error) {
      if (signal?.aborted !== true) failed();
      throw error;
    }
  }

  /** Dates have whole seconds: what is told lies between this and a second later. */
  function noteClock(date: string | string[] | undefined): void {
    notedClock = startOfClock();
    const told = typeof date === 'string' ? Date.parse(date) : NaN;
    if (Number.isNaN(told)) return;
    const ahead = told + 500 - Date.now();
    skewMs = Math.abs(ahead) < smallestSkewMs ? 0 : ahead;
  }

  async function bearer(isFresh: boolean, signal: AbortSignal | undefined): Promise<string> {
    if (isFresh || kept === undefined) kept = await unlessAborted(async () => token(), signal);
    return kept;
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

/** When the clock that only goes forward began, by the one that can be set: another time as soon as it is. */
function startOfClock(): number {
  return Date.now() - performance.now();
}

/** What the host gives us to call need not come to an end. */
function unlessAborted<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const leave = () => reject(signal?.reason as Error);
    signal?.addEventListener('abort', leave, { once: true });
    void call()
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', leave));
  });
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
    // Something between here and the registry has answered.
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
