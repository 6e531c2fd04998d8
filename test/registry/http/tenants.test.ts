import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  documentText,
  methods,
  resolve,
  type OpenApiDocument,
  type ParameterObject,
} from '../../../src/base/contract/document.js';
import { scopes, type Scope } from '../../../src/base/contract/principal.js';
import { newSigningKey, signed, startJwksServer, type JwksServer } from '../../support/jwks-server.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/**
 * Every operation of the contract, by every role of another tenant, on what is ours: an operation that is new in the
 * contract is in the list by itself. The other tenant has a client of the same name, and its issuer may name that
 * tenant only, which limits operators too.
 */
const document = JSON.parse(documentText()) as OpenApiDocument;

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  methods.flatMap((method) => {
    const operation = item[method];
    const allowed = operation?.security?.map(({ oauth = [] }) => oauth) ?? [];
    // A callback URL has a key of its own.
    if (operation === undefined || allowed.length === 0) return [];
    const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
      resolve<ParameterObject>(document, each),
    );
    const prefix = item.servers === undefined ? '/v1' : '';
    const body = Object.entries(operation.requestBody?.content ?? {})[0];
    return [{ id: operation.operationId, method, path: `${prefix}${path}`, allowed, parameters, body }];
  }),
);
type Operation = (typeof operations)[number];

const roles: Array<[string, readonly Scope[]]> = [
  ...scopes.map((scope): [string, Scope[]] => [scope, [scope]]),
  ['every scope', scopes],
];

const origin = 'ours.example.com';
/** What no request names. */
const marker = 'planted-5d1c';

let registry: Registry;
let issuer: JwksServer;
let anyone: Client;
let ours: Record<'subscription' | 'handshake' | 'grant' | 'block' | 'lease' | 'key' | 'sink' | 'host', string>;
let tokenOf: (scopes: readonly Scope[]) => Promise<string>;

beforeAll(async () => {
  const key = await newSigningKey('one');
  issuer = await startJwksServer();
  issuer.publishes(key.publicJwk);
  const entry = { issuer: 'https://login.example.com', audience: 'assent', jwks: issuer.url, tenants: ['provincie'] };
  registry = await startRegistry({ start: false, env: { ASSENT_ISSUERS: JSON.stringify([entry]) } });
  tokenOf = (granted) => {
    const now = Math.floor(Date.now() / 1_000);
    const who = { tenant: 'provincie', client_id: 'zaaksysteem', sub: 'zaaksysteem', scope: granted.join(' ') };
    return signed(key, { iss: entry.issuer, aud: 'assent', iat: now, exp: now + 3_000, ...who });
  };
  const admin = await registry.as(['assent:admin', 'assent:subscribe', 'assent:deliver']);
  anyone = admin;
  const reason = `Because of ${marker}.`;
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  const path = '/ours';
  registry.receiver.consent(path);
  const sink = registry.receiver.sink(path);
  const registration = { sink, protocol: 'HTTP', source: `urn:${marker}`, types: ['com.example.someevent'] };
  const { body } = await admin.post('/v1/subscriptions').set('Prefer', 'respond-async').send(registration).expect(201);
  await registry.service.worker.drain();
  await registry.service.follow();
  const [grant] = (await admin.get('/v1/grants').query({ sink }).expect(200)).body;
  const lease = await admin.post('/v1/leases').send({ origin, sink, instance: marker, requests: 1 }).expect(201);
  const block = { kind: 'host', value: 'elsewhere.example.com', reason };
  const blocked = await admin.post('/v1/blocks').send(block).expect(201);
  const [originKey] = (await admin.get(`/v1/origins/${origin}/keys`).expect(200)).body;
  const { id: subscription, statusdetails } = (await admin.get(`/v1/subscriptions/${body.id}`).expect(200)).body;
  const { handshake } = statusdetails;
  ours = {
    ...{
      subscription,
      handshake,
      grant: grant.id,
      block: blocked.body.id,
      lease: lease.body.id,
      key: originKey.id,
      sink,
    },
    host: new URL(sink).hostname,
  };
});
afterAll(async () => {
  await registry?.stop();
  await issuer?.stop();
});

/** In the place of each name in a path, a query, a header or a body: what is ours. */
function named(name: string, path: string): string | undefined {
  const byPlace = {
    subscriptions: ours.subscription,
    grants: ours.grant,
    blocks: ours.block,
    leases: ours.lease,
    origins: ours.key,
  };
  const known: Record<string, string | undefined> = {
    id: Object.entries(byPlace).find(([place]) => path.startsWith(`/v1/${place}/`))?.[1],
    ...{ handshake: ours.handshake, name: origin, origin, sink: ours.sink, host: ours.host, tenant: 'gemeente' },
    ...{ subscription: ours.subscription, target: `subscription:${ours.subscription}`, grant: ours.grant },
    ...{ 'assent-origin': origin, 'assent-sink': ours.sink, subscriber: 'zaaksysteem', actor: 'zaaksysteem' },
    ...{ unused: '1', dryrun: 'true', by: 'origin', value: path.startsWith('/v1/blocks') ? ours.host : undefined },
  };
  return known[name.toLowerCase()];
}

/** The first example of the contract, about what is ours. */
function bodyOf({ body, path }: Operation): unknown {
  const [, media] = body ?? [];
  const [example] = Object.values(media?.examples ?? {});
  const value = example === undefined ? media?.example : resolve<{ value?: unknown }>(document, example).value;
  const replaced = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(replaced);
    if (typeof each !== 'object' || each === null) return each;
    const { type } = each as { type?: unknown };
    return Object.fromEntries(
      Object.entries(each).map(([member, inner]) => {
        // AuthZEN: a subject is an origin, a resource is a sink.
        if (member === 'id' && (type === 'origin' || type === 'sink')) return [member, named(type, path)];
        const isOurs = typeof inner === 'string' && !['id', 'type'].includes(member);
        return [member, (isOurs ? named(member, path) : undefined) ?? replaced(inner)];
      }),
    );
  };
  return replaced(value);
}

/** With every filter that can name what is ours, or with the required parameters alone. */
async function attempt(operation: Operation, token: string, isFull: boolean) {
  const { id, method, path, parameters, body } = operation;
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => named(name, path) ?? name);
  const ofPlace = (place: string) =>
    parameters.flatMap(({ name, in: where, required }) => {
      const value = where === place && (isFull || required === true) ? named(name, path) : undefined;
      return value === undefined ? [] : [[name, value] as const];
    });
  const query = Object.fromEntries(ofPlace('query'));
  const headers = Object.fromEntries(ofPlace('header'));
  const more = isFull ? inFull[id] : undefined;
  const content = body && JSON.stringify(more ? { ...(bodyOf(operation) as object), ...more } : bodyOf(operation));
  let request = anyone[method](address).query(query).set(headers).set('Authorization', `Bearer ${token}`);
  if (body !== undefined) request = request.type(body[0]);
  const { status, text = '' } = await (content === undefined ? request : request.send(content));
  const sent = [address, JSON.stringify([query, headers]), content].join();
  // The answer may repeat what the request said, and name the host: the other tenant blocks it for itself.
  const { host: _host, ...secrets } = ours;
  const leaks = [marker, ...Object.values(secrets)].filter((each) => text.includes(each) && !sent.includes(each));
  return { status, text, leaks };
}

/** Every row of our tenant, and the attempts of its handshakes. Statistics are written a moment later than they happen. */
async function everything(): Promise<unknown> {
  const tables = await registry.sql<{ name: string }>(
    `select c.table_name as name from information_schema.columns c join information_schema.tables t
      on t.table_name = c.table_name and t.table_schema = c.table_schema
      where c.column_name = 'tenant' and t.table_type = 'BASE TABLE' and c.table_schema = 'public'
        and c.table_name not like '%statistic' order by 1`,
  );
  expect(tables.length).toBeGreaterThan(10);
  const rows = tables.map(({ name }) =>
    registry.sql(`select to_jsonb(t)::text from "${name}" t where tenant = 'gemeente' order by 1`),
  );
  return Promise.all([...rows, registry.sql('select to_jsonb(a)::text from attempt a order by 1')]);
}

/** What an operation may say of a request about what is ours, besides 403 and 404. Nothing of ours is in it. */
const otherAnswers: Record<string, number[]> = {
  // Without an origin, that of the tenant, which has none.
  createSubscription: [400, 409],
  matchEvent: [409],
  createOrigin: [409],
  // Its own.
  createBlock: [201],
};
/** What the examples of the contract leave out. */
const inFull: Record<string, object> = { createSubscription: { origin }, createBlock: { tenant: 'gemeente' } };

test.each(roles)(
  'another tenant with %s reads and changes nothing of ours, by any operation',
  async (_, granted) => {
    const token = await tokenOf(granted);
    const before = await everything();
    const answers: string[] = [];
    for (const operation of operations) {
      for (const isFull of [false, true]) {
        const { status, text, leaks } = await attempt(operation, token, isFull);
        const isAllowed = operation.allowed.some((all) => all.every((scope) => granted.includes(scope)));
        const others = [200, 403, 404, ...(otherAnswers[operation.id] ?? [])];
        const expected = !isAllowed ? [403] : operation.path.includes('{') ? [404] : others;
        if (expected.includes(status) && leaks.length === 0) continue;
        answers.push([operation.id, isFull ? 'in full' : 'in short', status, ...leaks, text.slice(0, 300)].join(' '));
      }
    }
    expect(answers).toEqual([]);
    expect(await everything()).toEqual(before);
  },
  60_000,
);
