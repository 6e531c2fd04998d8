import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { startProgram, type Program } from './process.js';
import type { Registry } from './registry.js';
import { until } from './until.js';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** An `assent egress` in its own process, in front of the registry of a test. */
export interface RunningEgress extends Program {
  url: string;
  operationsUrl: string;
  /** Posts to a sink. Headers by name, or alternating names and values. */
  post(sink: string, options?: Posting): Promise<Posted>;
  /** Posts until the response is not this one: the process learns of a change in a moment. */
  postUntil(isWanted: (posted: Posted) => boolean, sink: string, options?: Posting): Promise<Posted>;
  /** Sends these bytes on one connection, and resolves to all that is returned until it closes. */
  raw(text: string): Promise<string>;
  stop(): Promise<number | string>;
}

export interface Posting {
  headers?: Record<string, string> | string[];
  body?: string | Buffer;
  secret?: string;
  /** In place of the sink's. */
  path?: string;
  signal?: AbortSignal;
  dispatcher?: Dispatcher;
}

export interface Posted {
  status: number;
  /** In lower case; an array if a name occurs more than once. */
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** The code of the problem, or the kind of the outcome of the webhook's response. */
  code: string;
  denial: string | undefined;
}

export interface EgressStart {
  callers?: object[] | undefined;
  env?: NodeJS.ProcessEnv;
  args?: string[];
  /** It will not be ready. */
  isWaiting?: boolean;
}

/** Settings of the registry of a test that lead to its webhooks, and to its key for development. */
const shared = ['ASSENT_DATA', 'ASSENT_SINK_PORTS', 'ASSENT_SINK_CA_FILE', 'ASSENT_DNS_SERVERS'];

export async function startEgress(registry: Registry, start: EgressStart = {}): Promise<RunningEgress> {
  const { callers = [], env = {}, args = [], isWaiting = false } = start;
  const program = startProgram('tools/cli/assent.js', {
    args: [
      ...['egress', '--registry', registry.url, '--tenant', 'gemeente'],
      ...['--listen', '127.0.0.1:0', '--operations', '127.0.0.1:0'],
      ...args,
    ],
    env: {
      ...Object.fromEntries(shared.map((name) => [name, registry.env[name]])),
      // The rest of loopback stands for what is inside.
      ASSENT_ALLOWED_NETWORKS: '127.0.0.1/32',
      ASSENT_LOG_LEVEL: 'debug',
      EGRESS_CALLERS: JSON.stringify(callers),
      ...env,
    },
  });
  const [url = '', operationsUrl = ''] = await new Promise<string[]>((resolve, reject) => {
    program.child.stderr?.on('data', () => {
      const said = /listens on (\S+)\n +Health +(\S+)\/readyz\n/.exec(program.stderr);
      if (said) resolve(said.slice(1));
    });
    void program.ended.then((code) => reject(new Error(`it ended with ${code}: ${program.stderr}`)));
  });
  const running: RunningEgress = Object.assign(program, {
    url,
    operationsUrl,
    async post(sink: string, posting: Posting = {}) {
      const { headers = {}, body = 'event', secret, path, signal, dispatcher } = posting;
      const own = Array.isArray(headers) ? headers : Object.entries(headers).flat();
      // What says nothing else has an event.
      const isEvent = own.some((name) => /^(?:content-type|ce-.*)$/i.test(name));
      const type = isEvent ? [] : ['Content-Type', 'application/cloudevents+json'];
      const all = [...type, ...own, ...(secret === undefined ? [] : ['Authorization', `Bearer ${secret}`])];
      const response = await request(`${url}${path ?? `/${sink.replace('://', '/')}`}`, {
        method: 'POST',
        headers: all,
        body,
        ...(signal && { signal }),
        ...(dispatcher && { dispatcher }),
      });
      const bytes = Buffer.from(await response.body.arrayBuffer());
      const isOwn = response.headers['assent-outcome'] === undefined;
      return {
        status: response.statusCode,
        headers: response.headers,
        body: bytes,
        code: isOwn ? JSON.parse(bytes.toString()).code : String(response.headers['assent-outcome']),
        denial: response.headers['assent-denial'] as string | undefined,
      };
    },
    async postUntil(isWanted: (posted: Posted) => boolean, sink: string, options?: Posting) {
      let posted!: Posted;
      await until(async () => isWanted((posted = await running.post(sink, options))));
      return posted;
    },
    async raw(text: string) {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      let said = '';
      socket.setEncoding('latin1').on('data', (part: string) => (said += part));
      socket.on('error', () => undefined);
      socket.write(text, 'latin1');
      await once(socket, 'close');
      return said;
    },
    stop() {
      program.child.kill('SIGTERM');
      return program.ended;
    },
  });
  if (!isWaiting) await until(async () => (await fetch(`${operationsUrl}/readyz`)).ok);
  return running;
}
