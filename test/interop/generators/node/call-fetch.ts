// openapi-typescript gives the types, openapi-fetch the client.
import createClient from 'openapi-fetch';
import type { paths } from './types';

declare const process: { env: Record<'REGISTRY' | 'TOKEN' | 'TYPE', string> };
const { REGISTRY, TOKEN, TYPE } = process.env;
const client = createClient<paths>({ baseUrl: REGISTRY, headers: { Authorization: `Bearer ${TOKEN}` } });

async function call() {
  const event = { specversion: '1.0' as const, id: '1', source: 'urn:example:a', type: TYPE };
  const matched = await client.POST('/match', {
    body: event,
    headers: { 'Content-Type': 'application/cloudevents+json' },
  });
  const listed = await client.GET('/grants', { params: { query: { state: 'live' } } });
  if (matched.data === undefined || !('sinks' in matched.data)) throw new Error(matched.error?.detail);
  const sinks = matched.data.sinks.map(({ sink, allowedrate, sinkcredential: held }) => {
    const rate: number | '*' = allowedrate;
    return [sink, rate, held?.credentialtype === 'PLAIN' ? held.secret : null];
  });
  const grants = listed.data?.map(({ sink, allowedrate, state }) => [sink, allowedrate, state]);
  console.log(JSON.stringify({ sinks, grants }));
}

void call();
