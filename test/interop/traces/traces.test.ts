import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tmpdir } from 'node:os';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { publicKeyOf } from '../../../src/signatures/keys.js';
import { verifyRequest } from '../../../src/signatures/request-signature.js';
import { sha256, startEgress } from '../../support/egress.js';
import { install } from '../../support/foreign-tools.js';
import { linkKits } from '../../support/link-kits.js';
import { startRegistryProcess } from '../../support/process.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/**
 * The SDK of OpenTelemetry in a folder beside Assent, started as docs/operate/traces.md says. On Node 20 it has an older API than
 * Assent, on later versions a newer one.
 */
const isOld = Number.parseInt(process.versions.node) < 22;
const tools = await install({
  name: 'traces',
  folder: fileURLToPath(new URL(isOld ? 'node' : 'node22', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
});

interface Span {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  links: string[];
  attributes: Record<string, unknown>;
  error: boolean;
}

interface Exported extends Omit<Span, 'kind' | 'links' | 'attributes' | 'error'> {
  kind: number;
  links?: Array<{ spanId: string }>;
  attributes?: Array<{ key: string; value: Record<string, unknown> }>;
  status: { code?: number };
}

const kinds = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const caller = { traceId, spanId: '00f067aa0ba902b7', traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
const secrets = ['opensesame', 'nobody may see this'];

let collector: Server;
/** By service. */
const spans = new Map<string, Span[]>();
let folder: string;
let env: Record<string, string>;
let registry: Registry;
let tenant: Tenant;

function spanOf({ kind, links = [], attributes = [], status, ...span }: Exported): Span {
  return {
    ...span,
    parentSpanId: span.parentSpanId || undefined,
    kind: kinds[kind] ?? '',
    links: links.map(({ spanId }) => spanId),
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]])),
    error: status.code === 2,
  };
}

interface Export {
  resourceSpans: Array<{
    resource: { attributes: Array<{ key: string; value: { stringValue: string } }> };
    scopeSpans: Array<{ spans: Exported[] }>;
  }>;
}

beforeAll(async () => {
  if ('missing' in tools) return;
  const take = ({ resourceSpans }: Export) => {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      const received = scopeSpans.flatMap((scope) => scope.spans.map(spanOf));
      spans.set(service, [...(spans.get(service) ?? []), ...received]);
    }
  };
  collector = createServer((request, response) => {
    void json(request).then((body) => {
      take(body as Export);
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const page = await readFile(new URL('../../../docs/operate/traces.md', import.meta.url), 'utf8');
  const [, code = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  const start = join(tools.folder, 'traces.mjs');
  await writeFile(start, code);
  env = {
    NODE_OPTIONS: `--import=${pathToFileURL(start).href}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
  };
  folder = await mkdtemp(join(tmpdir(), 'assent-traces-'));
  await linkKits(folder);
  registry = await startRegistry({ start: false });
  tenant = await createTenant(registry, { signatures: 'dictionary' });
});
afterAll(async () => {
  if ('missing' in tools) return;
  collector.closeAllConnections();
  collector.close();
  await Promise.all([registry.stop(), rm(folder, { recursive: true }), tools.remove()]);
});

const named = (service: string, name: string): Span[] => {
  const found = (spans.get(service) ?? []).filter((span) => span.name === name);
  return found;
};
const only = (service: string, name: string): Span => {
  const found = named(service, name);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] as Span;
};

if ('missing' in tools) test.skip(`not run: ${tools.missing}`, () => undefined);
else {
  test('a registration, its handshake, a match and a delivery are one trace, through four processes', async () => {
    const { receiver } = registry;
    receiver.consent('/traced');
    const sink = receiver.sink('/traced?code=opensesame');
    const who = { tenant: 'gemeente', subscriber: 'mailroom', minutes: 5 };
    const tokenFor = (...scopes: Parameters<typeof createToken>[0]['scopes']) =>
      createToken({ ...who, scopes }, registry.env);
    const token = await tokenFor('assent:deliver', 'assent:credentials', 'assent:sign', 'assent:subscribe');
    const event = {
      specversion: '1.0',
      id: 'traced-1',
      source: 'urn:example:traces',
      type: 'com.example.traced',
      traceparent: caller.traceparent,
      data: { text: 'nobody may see this' },
    };

    const running = await startRegistryProcess({ env: { ...registry.env, ...env, OTEL_SERVICE_NAME: 'registry' } });
    const post = async (path: string, type: string, body: object) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type, traceparent: caller.traceparent };
      const response = await fetch(`${running.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    };
    const asked = { sink, protocol: 'HTTP', types: [event.type] };
    const created = await post('/v1/subscriptions', 'application/json', asked);
    expect(created).toMatchObject({ status: 201, body: { status: 'active' } });
    const matched = await post('/v1/match', 'application/cloudevents+json', event);
    expect(matched).toMatchObject({ status: 200, body: { sinks: [{ sink }] } });
    await post('/v1/match', 'application/cloudevents+json', {});

    const deliveries: Array<{ traceparent: string; verified: object }> = [];
    const [key] = (await tenant.admin.get(`/v1/origins/${tenant.origin}/keys`).expect(200)).body;
    receiver.on('/traced', async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const fieldOf = (name: string) => request.headers[name] as string | undefined;
      const verified = await verifyRequest(
        { method: 'POST', url: sink, fieldOf },
        { keyOf: () => publicKeyOf(key.publickey), body: Buffer.concat(parts), now: Date.now() / 1_000 },
      );
      deliveries.push({ traceparent: fieldOf('traceparent') ?? '', verified });
      response.writeHead(204).end();
    });
    const guard = { allowedNetworks: ['127.0.0.0/8'], sinkPorts: [receiver.port], sinkCa: receiver.ca };
    const program = join(folder, 'sender.mjs');
    await writeFile(program, await readFile(new URL('sender.mjs', import.meta.url)));
    const { stdout } = await promisify(execFile)(process.execPath, [program], {
      env: {
        ...{ PATH: process.env['PATH'], ...env, OTEL_SERVICE_NAME: 'sender' },
        ...{ REGISTRY: running.url, TOKEN: token, ORIGIN: tenant.origin },
        ...{ GUARD: JSON.stringify(guard), EVENTS: JSON.stringify([event]) },
      },
    });
    expect(JSON.parse(stdout)).toMatchObject([{ outcome: 'delivered' }, { kind: 'answered', status: 204 }]);
    const egress = await startEgress(
      { ...registry, url: running.url },
      {
        callers: [{ name: 'broker', origins: [tenant.origin], secret: sha256('broker') }],
        env: { ...env, OTEL_SERVICE_NAME: 'egress' },
      },
    );
    const headers = { traceparent: caller.traceparent };
    expect(await egress.post(sink, { secret: 'broker', headers })).toMatchObject({ status: 204 });
    expect(await egress.stop()).toBe(0);
    running.child.kill('SIGTERM');
    expect(await running.ended).toBe(0);

    const { port } = receiver;
    const webhook = { 'server.address': 'localhost', 'server.port': port };
    const server = { kind: 'server', traceId, parentSpanId: caller.spanId, error: false };
    const registration = only('registry', 'POST /v1/subscriptions');
    expect(registration).toMatchObject(server);
    expect(registration.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/subscriptions',
      'http.response.status_code': 201,
      'url.scheme': 'http',
      'assent.operation': 'createSubscription',
    });
    const under = ({ spanId }: Span) => ({ traceId, parentSpanId: spanId, error: false, links: [] });
    const register = only('registry', 'register');
    expect(register).toMatchObject({ ...under(registration), kind: 'internal' });
    const handshake = only('registry', 'handshake');
    expect(handshake).toMatchObject({ ...under(registration), kind: 'client' });
    const { id } = created.body as { id: string };
    const own = { 'assent.handshake': register.attributes['assent.handshake'] };
    const target = { 'assent.origin': tenant.origin, ...webhook };
    expect(register.attributes).toEqual({ ...own, 'assent.subscription': id, ...webhook });
    const verdict = { 'assent.verdict': 'granted', 'assent.state': 'granted' };
    expect(handshake.attributes).toEqual({
      ...{ ...own, ...target, ...verdict, 'assent.trigger': 'registration', 'assent.attempt': 1 },
      ...{ 'http.request.method': 'OPTIONS', 'http.response.status_code': 200 },
    });
    const settle = only('registry', 'settle');
    expect(settle).toMatchObject({ ...under(handshake), kind: 'internal', attributes: verdict });
    // What the webhook got names the span of its request, whose signature is right.
    const [options] = receiver.asked.filter(({ method }) => method === 'OPTIONS');
    expect(options?.headers).toMatchObject({ traceparent: `00-${traceId}-${handshake.spanId}-01` });

    const [match, refused] = named('registry', 'POST /v1/match') as [Span, Span];
    expect(match).toMatchObject(server);
    expect(refused.attributes).toMatchObject({
      'http.response.status_code': 400,
      'assent.problem': 'invalid_event',
    });
    const [inRegistry, failed] = named('registry', 'match') as [Span, Span];
    const found = { 'assent.origin': tenant.origin, 'assent.match.sinks': 1, 'assent.match.steps': 0 };
    expect(inRegistry).toMatchObject({ ...under(match), attributes: found });
    expect(failed).toMatchObject({ error: true, attributes: { 'error.type': 'invalid_event' } });

    expect(only('sender', 'match')).toMatchObject({ traceId, parentSpanId: caller.spanId, attributes: found });
    const [deliver, forward] = named('sender', 'deliver') as [Span, Span];
    for (const span of [deliver, forward]) expect(span).toMatchObject({ traceId, parentSpanId: caller.spanId });
    expect(deliver.attributes).toEqual({
      ...{ ...target, 'assent.outcome': 'delivered', 'assent.attempts': 1 },
      ...{ 'cloudevents.event_id': event.id, 'cloudevents.event_source': event.source },
      'cloudevents.event_type': event.type,
    });
    expect(forward.attributes).toEqual({ ...target, 'assent.outcome': 'delivered' });
    const posts = named('sender', 'POST');
    expect(posts).toMatchObject([deliver, forward].map((above) => ({ ...under(above), kind: 'client' })));
    const http = { 'http.request.method': 'POST', 'http.response.status_code': 204, ...webhook };
    expect(posts.map(({ attributes }) => attributes)).toEqual([http, http]);
    const posted = only('egress', 'POST /https/:host');
    expect(posted).toMatchObject({ ...server, attributes: { 'http.response.status_code': 204 } });
    const passed = only('egress', 'deliver');
    expect(passed).toMatchObject({ traceId, parentSpanId: posted.spanId, attributes: target });
    const last = only('egress', 'POST');
    expect(last).toMatchObject({ ...under(passed), attributes: http });
    expect(deliveries).toMatchObject(
      [...posts, last].map(({ spanId }) => ({
        traceparent: `00-${traceId}-${spanId}-01`,
        verified: { ok: true, signature: { keyid: key.keyid } },
      })),
    );

    const all = JSON.stringify([...spans]);
    for (const secret of [...secrets, token, '/traced', 'key=']) expect(all).not.toContain(secret);
    const lines = running.stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    expect(lines.find(({ msg }) => msg === 'handshake')).toMatchObject({ traceid: traceId, spanid: settle.spanId });
    expect(lines.find(({ operation }) => operation === 'createSubscription')).toMatchObject({
      traceid: traceId,
      spanid: registration.spanId,
    });
  });
}
