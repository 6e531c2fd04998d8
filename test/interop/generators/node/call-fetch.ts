// openapi-typescript gives the types, openapi-fetch the client.
import createClient from 'openapi-fetch';
import type { paths } from './types';

declare const process: { env: Record<'REGISTRY' | 'TOKEN' | 'TYPE' | 'CURSOR', string> };
const { REGISTRY, TOKEN, TYPE, CURSOR } = process.env;
const client = createClient<paths>({ baseUrl: REGISTRY, headers: { Authorization: `Bearer ${TOKEN}` } });

async function call() {
  const event = { specversion: '1.0' as const, id: '1', source: 'urn:example:a', type: TYPE };
  const matched = await client.POST('/match', {
    body: event,
    headers: { 'Content-Type': 'application/cloudevents+json' },
  });
  const listed = await client.GET('/grants', { params: { query: { state: 'live' } } });
  const followed = await client.GET('/changes', { params: { query: { after: CURSOR } } });
  if (matched.data === undefined || !('sinks' in matched.data)) throw new Error(matched.error?.detail);
  const sinks = matched.data.sinks.map(({ sink, allowedrate, contentmode, sinkcredential: held }) => {
    const rate: number | '*' = allowedrate;
    return [sink, rate, held?.credentialtype === 'PLAIN' ? held.secret : null, contentmode];
  });
  const grants = listed.data?.map(({ sink, allowedrate, state }) => [sink, allowedrate, state]);
  if (typeof followed.data !== 'object') throw new Error('The response is a stream.');
  const changes = followed.data.changes.map(({ kind }) => kind);
  console.log(JSON.stringify({ sinks, grants, changes }));
}

void call();
