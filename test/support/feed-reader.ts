import { createToken } from '../../src/tools/cli/login/create-token.js';
import type { Scope } from '../../src/base/contract/principal.js';
import { openEventStream, type EventStream } from './event-stream.js';
import type { Registry } from './registry.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;
type Query = Record<string, string | number | undefined>;

/** A sender, or a consumer, that reads the feed over real HTTP. */
export interface FeedReader {
  headers: Record<string, string>;
  /** GET /v1/changes. */
  page(query?: Query): Promise<Body>;
  /** The same, with any status. */
  ask(path: string, query?: Query): Promise<{ status: number; headers: Headers; body: Body }>;
  stream(query?: Query, lastEventId?: string): Promise<EventStream>;
  /** GET /v1/snapshot: the lines. */
  snapshot(query?: Query): Promise<Body[]>;
}

export async function createFeedReader(
  registry: Registry,
  { tenant = 'gemeente', subscriber = 'mailroom', scopes = ['assent:deliver'] as Scope[], minutes = 60 } = {},
): Promise<FeedReader> {
  const who = { tenant, subscriber, scopes, minutes };
  const headers = { Authorization: `Bearer ${await createToken(who, registry.env)}` };
  const address = (path: string, query: Query) => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    return `${registry.url}${path}?${new URLSearchParams(given).toString()}`;
  };
  const ask = async (path: string, query: Query = {}) => {
    const response = await fetch(address(path, query), { headers });
    return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
  };
  return {
    headers,
    ask,
    async page(query = {}) {
      const { status, body } = await ask('/v1/changes', query);
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body;
    },
    stream: (query = {}, lastEventId) =>
      openEventStream(address('/v1/changes', query), {
        ...headers,
        ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }),
      }),
    async snapshot(query = {}) {
      const response = await fetch(address('/v1/snapshot', query), { headers });
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
  };
}
