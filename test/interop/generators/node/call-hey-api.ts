import { listChanges, listGrants, matchEvent } from './hey-api';
import { client } from './hey-api/client.gen';

declare const process: { env: Record<'REGISTRY' | 'TOKEN' | 'TYPE' | 'CURSOR', string> };
const { REGISTRY, TOKEN, TYPE, CURSOR } = process.env;
client.setConfig({ baseUrl: REGISTRY, auth: () => TOKEN, throwOnError: true });

async function call() {
  const event = { specversion: '1.0' as const, id: '1', source: 'urn:example:a', type: TYPE };
  const { data: matched } = await matchEvent({ body: event, throwOnError: true });
  const { data: listed } = await listGrants({ query: { state: 'live' }, throwOnError: true });
  const { data: followed } = await listChanges({ query: { after: CURSOR }, throwOnError: true });
  if (!('sinks' in matched)) throw new Error('The answer is one to a batch.');
  const sinks = matched.sinks.map(({ sink, allowedrate, contentmode, sinkcredential: held }) => {
    const rate: number | '*' = allowedrate;
    return [sink, rate, held?.credentialtype === 'PLAIN' ? held.secret : null, contentmode];
  });
  const grants = listed.map(({ sink, allowedrate, state }) => [sink, allowedrate, state]);
  if (typeof followed === 'string') throw new Error('The response is a stream.');
  const changes = followed.changes.map(({ kind }) => kind);
  console.log(JSON.stringify({ sinks, grants, changes }));
}

void call();
