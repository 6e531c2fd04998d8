import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import supertest from 'supertest';
import { RegistryError } from '../../../src/base/errors.js';
import type { ErrorCode } from '../../../src/base/problems.js';
import { openDevelopmentIssuer } from '../../../src/registry/tokens/development-issuer.js';
import { problemOf } from '../../../src/base/problem.js';
import { scopes, type Scope } from '../../../src/base/contract/principal.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

interface OperationObject {
  operationId: string;
  security: Array<{ oauth: Scope[] }>;
  tags: string[];
  'x-tier': string;
  description: string;
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, object>;
  'x-any-method'?: boolean;
}
interface MediaType {
  schema: object;
  example?: unknown;
  examples?: Record<string, object>;
}
interface ResponseObject {
  headers?: Record<string, object>;
  content?: Record<string, MediaType>;
}
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const document = JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as {
  info: { version: string; description: string };
  tags: Array<{ name: string; description: string }>;
  'x-tagGroups': Array<{ name: string; tags: string[] }>;
  paths: Record<string, Partial<Record<Method, OperationObject>> & { servers?: object[] }>;
  webhooks: Record<string, Record<string, OperationObject>>;
  components: Record<'schemas' | 'parameters' | 'headers', Record<string, object>>;
};
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
const ofEveryAnswer = ['API-Version', 'X-Request-Id'];
const ofEveryProblem = ['Content-Language', ...ofEveryAnswer];
const someId = '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f';

const resources = Object.entries(document.paths).map(([template, item]) => ({
  path: `${item.servers ? '' : '/v1'}${template.replaceAll(/\{(id|handshake)\}/g, someId).replace('{name}', 'eventemitter.example.com')}`,
  item,
  operations: methods.flatMap((method) => {
    const operation = item[method];
    return operation ? [{ method, ...operation, id: operation.operationId }] : [];
  }),
}));
/** Without the operation that takes any method: test/registry/gateways has its own tests of that. */
const withMethods = resources.filter(({ operations: all }) => !all.some((each) => each['x-any-method']));
const operations = resources.flatMap(({ path, operations: all }) =>
  all.map((operation) => ({
    ...operation,
    path,
    /** All of one of these. */
    allowed: operation.security.map((requirement) => requirement.oauth ?? []),
  })),
);
const guarded = operations.filter(({ allowed }) => allowed.length > 0);
const limited = guarded.filter(({ allowed }) => allowed.every((all) => all.length > 0));

/** The value, or the target of its reference. */
function resolve<T>(value: object): T {
  const { $ref: reference } = value as { $ref?: string };
  if (reference === undefined) return value as T;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((parent, name) => (parent as Record<string, unknown>)[name], document) as T;
}

interface Example {
  summary?: string;
  value: unknown;
}

/** The named examples of a media type, or its only one. */
function examplesOf({ example, examples }: MediaType): Array<[string, Example]> {
  if (examples === undefined) return example === undefined ? [] : [['', { value: example }]];
  return Object.entries(examples).map(([name, each]) => [name, resolve<Example>(each)]);
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, 'openapi');
const isProblem = ajv.compile({ $ref: 'openapi#/components/schemas/Problem' });

let registry: Registry;
let nobody: ReturnType<typeof supertest>;
let clients: Record<Scope, Client>;

beforeAll(async () => {
  registry = await startRegistry({
    env: {
      ASSENT_SECURITY_CONTACT: 'mailto:security@example.com,https://example.com/report',
      ASSENT_SECURITY_POLICY: 'https://example.com/disclosure',
    },
  });
  nobody = supertest(registry.url);
  const [subscribe, admin, deliver, credentials, sign, audit, block] = await Promise.all(
    scopes.map((scope) => registry.as(scope)),
  );
  clients = {
    'assent:subscribe': subscribe!,
    'assent:admin': admin!,
    'assent:deliver': deliver!,
    'assent:credentials': credentials!,
    'assent:sign': sign!,
    'assent:audit': audit!,
    'assent:block': block!,
  };
});
afterAll(() => registry.stop());

function expectProblem(response: supertest.Response, status: number, code: string): void {
  expect(response.status).toBe(status);
  expect(response.type).toBe('application/problem+json');
  expect({ ...response.body, valid: isProblem(response.body) }).toMatchObject({
    type: `urn:problem-type:assent:${code}`,
    status,
    code,
    valid: true,
    requestid: response.get('X-Request-Id'),
  });
}

describe('methods', () => {
  test.each(withMethods)('OPTIONS on $path returns its methods, without a token', async ({ path, operations: all }) => {
    const answer = await nobody.options(path).expect(200);
    const isUnsafe = path.startsWith('/v1/callbacks') || path.endsWith('/private-keys');
    const expected = all.flatMap(({ method }) =>
      method === 'get' && !isUnsafe ? ['GET', 'HEAD'] : [method.toUpperCase()],
    );
    expect(answer.get('Allow')?.split(', ').sort()).toEqual([...expected, 'OPTIONS'].sort());
    expect(answer.get('Accept-Patch')).toBe(expected.includes('PATCH') ? 'application/merge-patch+json' : undefined);
    expect(answer.text).toBe('');
  });

  const missing = withMethods.flatMap(({ path, item }) => {
    const method = methods.find((each) => !item[each]);
    return method === undefined ? [] : [{ path, method }];
  });
  test.each(missing)('$method on $path is 405 and returns the methods of the path', async ({ path, method }) => {
    const answer = await clients['assent:admin'][method](path);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.get('Allow')).toBe((await nobody.options(path)).get('Allow'));
  });

  test('HEAD returns the headers of GET, without the body', async () => {
    const got = await clients['assent:admin'].get('/v1/origins').expect(200);
    const head = await clients['assent:admin'].head('/v1/origins').expect(200);
    expect(head.get('Content-Length')).toBe(got.get('Content-Length'));
  });

  test('HEAD on a callback is 405: a link checker grants nothing', async () => {
    const answer = await nobody.head(`/v1/callbacks/${someId}?key=abc`).expect(405);
    expect(answer.get('Allow')).toBe('GET, POST, OPTIONS');
  });
});

describe('tokens', () => {
  test.each(guarded)('$id without a valid token is 401, whatever else is wrong', async ({ path, method }) => {
    const without = await nobody[method](`${path}?unknown=1`).set('Content-Type', 'text/plain');
    expectProblem(without, 401, 'unauthenticated');
    // RFC 6750 section 3.1: no error code if there was no token.
    expect(without.get('WWW-Authenticate')).toBe('Bearer realm="assent"');
    const invalid = await nobody[method](path).set('Authorization', 'Bearer a.b.c');
    expectProblem(invalid, 401, 'unauthenticated');
    expect(invalid.get('WWW-Authenticate')).toBe('Bearer realm="assent", error="invalid_token"');
  });

  test.each(limited)('$id with another scope, or with one of two, is 403', async ({ path, method, allowed }) => {
    const issuer = await openDevelopmentIssuer(registry.env['ASSENT_DATA'] ?? '');
    const token = await issuer.sign({ tenant: 'gemeente', subscriber: 'none', scopes: [], lifetimeSeconds: 60 });
    const answers = [
      await nobody[method](path).set('Authorization', `Bearer ${token}`),
      ...(await Promise.all(
        scopes
          .filter((scope) => !allowed.some((all) => all.every((each) => each === scope)))
          .map((scope) => clients[scope][method](path)),
      )),
    ];
    for (const answer of answers) {
      expectProblem(answer, 403, 'scope_missing');
      expect(answer.get('WWW-Authenticate')).toBe('Bearer realm="assent", error="insufficient_scope"');
    }
  });

  test.each(operations)('the headers of the problems of $id are in the contract', (operation) => {
    const { responses, allowed } = operation;
    const headersOf = (status: string) => Object.keys(resolve<ResponseObject>(responses[status] ?? {}).headers ?? {});
    expect(headersOf('default')).toEqual([
      'Retry-After',
      'Allow',
      'Accept',
      'Accept-Patch',
      'Accept-Encoding',
      ...ofEveryProblem,
    ]);
    for (const status of ['401', '403']) {
      const ofGateways = operation['x-any-method'] && status === '403' ? ['Assent-Denial', 'Retry-After'] : [];
      expect(headersOf(status)).toEqual(
        allowed.length === 0 ? [] : ['WWW-Authenticate', ...ofGateways, ...ofEveryProblem],
      );
    }
  });

  test.each(guarded)('$id rejects an unknown parameter with 400, as the contract says', async (operation) => {
    const { path, method, allowed, responses } = operation;
    const client = await registry.as([...allowed[0]!, 'assent:subscribe']);
    expectProblem(await client[method](`${path}?unknown=1`), 400, 'invalid_request');
    expect(Object.keys(responses)).toContain('400');
  });

  test('a body without a valid token is not read', async () => {
    const body = 'x'.repeat(70_000);
    expectProblem(await nobody.post('/v1/subscriptions').type('json').send(body), 401, 'unauthenticated');
    expectProblem(await nobody.post(`/v1/callbacks/${someId}?key=a`).type('text').send(body), 404, 'callback_unknown');
    expectProblem(await clients['assent:admin'].post('/v1/origins').type('json').send(body), 413, 'body_too_large');
  });

  test('every valid token is told whom it speaks for, also one without a scope', async () => {
    expect(guarded.filter((each) => !limited.includes(each)).map(({ id }) => id)).toEqual(['whoami']);
    for (const held of [[], ...scopes.map((scope) => [scope])]) {
      const issuer = await openDevelopmentIssuer(registry.env['ASSENT_DATA'] ?? '');
      const token = await issuer.sign({ tenant: 'gemeente', subscriber: 'team', scopes: held, lifetimeSeconds: 60 });
      const answer = await nobody.get('/v1/whoami').set('Authorization', `Bearer ${token}`).expect(200);
      expect(answer.body).toMatchObject({ tenant: 'gemeente', client: 'team', scopes: held });
    }
  });

  test('only the callback and public keys need no token', () => {
    const open = operations.filter(({ allowed }) => allowed.length === 0).map(({ id }) => id);
    expect(open).toEqual(['decideCallbackByGet', 'decideCallback', 'getDirectory']);
  });
});

describe('documents', () => {
  const contracts = ['/openapi.json', '/v1/openapi.json'];
  const pages = [
    '/',
    '/docs',
    '/docs/',
    '/guides',
    '/guides/',
    '/assets/try-it.js',
    '/assets/pages.css',
    '/assets/icon.svg',
  ];
  const wellKnown = ['jwks.json', 'security.txt', 'authzen-configuration'].map((name) => `/.well-known/${name}`);
  const addresses = [...contracts, ...pages, ...wellKnown];
  test.each(addresses)('%s supports GET, HEAD and OPTIONS only', async (path) => {
    const allow = 'GET, HEAD, OPTIONS';
    expect((await nobody.options(path).expect(200)).get('Allow')).toBe(allow);
    const answer = await nobody.post(path);
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.get('Allow')).toBe(allow);
  });

  test.each(contracts)('%s returns the contract to everyone, and to pages of any host', async (path) => {
    const answer = await nobody.get(path).expect(200);
    expect(answer.type).toBe('application/json');
    expect(answer.get('Access-Control-Allow-Origin')).toBe('*');
    expect(answer.body).toEqual(document);
  });

  const validatorOf = (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"openapi#')) as object);
  const isShown = (mediaType: string) => !['*/*', 'text/html'].includes(mediaType);

  const bodies = operations.flatMap(({ id, requestBody }) =>
    Object.entries(requestBody?.content ?? {})
      .filter(([mediaType]) => isShown(mediaType))
      .map(([mediaType, content]) => ({ id, mediaType, content })),
  );
  test.each(bodies)('the $mediaType body of $id has named examples, which follow the contract', ({ content }) => {
    const examples = examplesOf(content);
    expect(examples).not.toEqual([]);
    const validate = validatorOf(content.schema);
    for (const [name, { summary, value }] of examples) {
      expect([name, summary]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
      validate(value);
      expect(validate.errors).toBeNull();
    }
  });

  const answers = operations.flatMap(({ id, responses }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      Object.entries(resolve<ResponseObject>(response).content ?? {})
        .filter(([mediaType]) => isShown(mediaType))
        .map(([mediaType, content]) => ({ id, status, mediaType, content })),
    ),
  );
  test.each(answers)('the $status response of $id as $mediaType has examples, which follow the contract', (shown) => {
    const { status, mediaType, content } = shown;
    const examples = examplesOf(content);
    expect(examples).not.toEqual([]);
    const validate = validatorOf(content.schema);
    for (const [name, { summary, value }] of examples) {
      validate(value);
      expect(validate.errors).toBeNull();
      if (mediaType !== 'application/problem+json') {
        expect([name, summary]).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
        continue;
      }
      const problem = value as ReturnType<typeof problemOf>;
      const { type, title, status: number } = problemOf(new RegistryError(problem.code as ErrorCode, ''), '');
      expect(problem).toMatchObject({ type, title, status: number });
      if (status !== 'default') expect(status).toBe(String(number));
    }
  });

  test('the contract follows the API Design Rules of the Dutch government that no other test covers', () => {
    expect(document.info.version).toMatch(/^\d+\.\d+\.\d+(-rc)?$/);
    for (const { responses } of operations) {
      expect(responses).toHaveProperty('400');
      for (const [status, response] of Object.entries(responses)) {
        if (!/^[45]/.test(status)) continue;
        expect(resolve<ResponseObject>(response).content).toHaveProperty(['application/problem+json']);
      }
    }
    for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^([A-Z][a-z0-9]*)+$/);
  });

  const received = Object.values(document.webhooks).flatMap((item) => Object.values(item));

  test('every operation has one tag, and every tag one group, in the same order', () => {
    const named = document.tags.map(({ name }) => name);
    expect([...new Set([...operations, ...received].flatMap(({ tags }) => tags))].sort()).toEqual([...named].sort());
    for (const { tags } of [...operations, ...received]) expect(tags).toHaveLength(1);
    expect(document['x-tagGroups'].flatMap(({ tags }) => tags)).toEqual(named);
    // Generators make the name of a class or a module of it.
    for (const name of named) expect(name).toMatch(/^[A-Z][a-z]+$/);
  });

  test('every operation has a tier, and the core is small', () => {
    const inTier = (tier: string) => operations.filter((operation) => operation['x-tier'] === tier);
    const sizes = ['core', 'gateways', 'console'].map((tier) => inTier(tier).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(operations.length);
    expect(sizes[0]).toBeGreaterThanOrEqual(18);
    expect(sizes[0]).toBeLessThanOrEqual(23);
    expect(inTier('gateways').flatMap(({ tags }) => tags)).toEqual(Array(4).fill('Gateways'));
    // A webhook and a sender have no console.
    for (const operation of operations) {
      if (operation.tags.some((tag) => ['Callback', 'Permissions', 'Leases', 'Feed'].includes(tag))) {
        expect([operation.id, operation['x-tier']]).toEqual([operation.id, 'core']);
      }
    }
    for (const operation of received) expect(operation['x-tier']).toBe('core');
  });

  test('README, versioning, contract and header say the same of the version of the API', () => {
    const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const texts = {
      readme: read('README.md'),
      versioning: read('docs/versioning.md'),
      contract: document.info.description,
      header: JSON.stringify(document.components.headers['API-Version']),
    };
    const { version } = document.info;
    const isReleased = !version.includes('-');
    for (const [name, text] of Object.entries(texts)) {
      const said = text
        .match(/The\s+API\s+is\s+\S+\s+until\s+the\s+first\s+release/g)
        ?.map((each) => each.split(/\s+/)[3]);
      expect([name, said]).toEqual([name, isReleased ? undefined : [version]]);
    }
    expect(texts.versioning).toContain(`API-Version: ${version}`);
  });

  test.each(operations)('the description of $id names every scope that it accepts', ({ description, allowed }) => {
    for (const scope of allowed.flat()) expect(description).toContain(`\`${scope}\``);
  });

  test('every schema, member, parameter, header and response has a description', () => {
    let members = 0;
    const bare: string[] = [];
    const expectDescribed = (holder: unknown, at: string) => {
      const { description, $ref: reference } = holder as { description?: string; $ref?: string };
      if ((description ?? '') === '' && (reference === undefined || at.includes('.'))) bare.push(at);
    };
    // The names in these objects are those of members, parameters or headers; elsewhere they are keywords.
    function visit(value: unknown, at: string): void {
      if (value === null || typeof value !== 'object') return;
      for (const [name, each] of Object.entries(value as Record<string, object>)) {
        if (/^examples?$/.test(name)) continue;
        if (name === 'properties') {
          for (const [member, schema] of Object.entries(each)) {
            members++;
            expectDescribed(schema, `${at}.${member}`);
            visit(schema, `${at}.${member}`);
          }
        } else visit(each, `${at}/${name}`);
      }
    }
    const { schemas, parameters, headers } = document.components;
    for (const [name, schema] of Object.entries({ ...schemas, ...parameters, ...headers }))
      expectDescribed(schema, name);
    visit([schemas, document.paths, document.webhooks], '');
    for (const { item, operations: all } of resources) {
      for (const { responses, ...holder } of [{ responses: {}, ...item }, ...all]) {
        const own = (holder as { parameters?: object[] }).parameters ?? [];
        for (const each of own) expectDescribed(resolve(each), JSON.stringify(each));
        for (const [status, response] of Object.entries(responses)) {
          expectDescribed(resolve(response), `${JSON.stringify(holder).slice(0, 50)} ${status}`);
          for (const [name, header] of Object.entries(resolve<ResponseObject>(response).headers ?? {})) {
            expectDescribed(resolve(header), name);
          }
        }
      }
    }
    expect(members).toBeGreaterThan(450);
    expect(bare).toEqual([]);
  });

  test('no name of a schema or parameter collides with another name in a generated client', () => {
    const { schemas, parameters } = document.components;
    const names = [...Object.keys(schemas), ...Object.keys(parameters)];
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    expect(Object.keys(schemas).filter((name) => name in globalThis)).toEqual([]);
  });

  test('an optional member of a body has no default: generated types would require it', () => {
    const schemas = JSON.stringify([document.components.schemas, bodies.map(({ content }) => content.schema)]);
    expect(schemas).not.toContain('"default":');
  });

  test('an enum is closed in requests and open in responses, so that a client can read a value that a later version adds', () => {
    const places = { request: new Map<string, string>(), response: new Map<string, string>() };
    const seen = new Set<unknown>();
    function collect(value: unknown, at: string, place: 'request' | 'response'): void {
      if (value === null || typeof value !== 'object') return;
      const { $ref: reference } = value as { $ref?: string };
      if (reference !== undefined) {
        if (seen.has(`${place} ${reference}`)) return;
        seen.add(`${place} ${reference}`);
        return collect(resolve(value), reference.split('/').at(-1)!, place);
      }
      for (const keyword of ['enum', 'x-extensible-enum']) {
        if (Array.isArray((value as Record<string, unknown>)[keyword])) places[place].set(at, keyword);
      }
      for (const [name, each] of Object.entries(value)) {
        if (!/^examples?$/.test(name)) collect(each, name === 'properties' ? at : `${at}.${name}`, place);
      }
    }
    for (const { item, operations: all } of resources) {
      collect((item as { parameters?: object[] }).parameters, 'parameters', 'request');
      for (const { id, requestBody, responses, ...operation } of all) {
        collect([(operation as { parameters?: object[] }).parameters, requestBody], id, 'request');
        collect(responses, id, 'response');
      }
    }
    collect(received, 'webhooks', 'response');
    const withKeyword = (place: 'request' | 'response', keyword: string) =>
      [...places[place]].flatMap(([at, own]) => (own === keyword ? [at] : []));
    expect(withKeyword('request', 'enum').length).toBeGreaterThan(10);
    expect(withKeyword('request', 'x-extensible-enum')).toEqual([]);
    expect(withKeyword('response', 'x-extensible-enum').length).toBeGreaterThan(20);
    // The specification of webhooks has no other rate than numbers and *; the type of a credential says which members it has.
    expect(withKeyword('response', 'enum').sort()).toEqual([
      'AccessTokenCredential.credentialtype',
      'PlainCredential.credentialtype',
      'Rate.oneOf.1',
      'RefreshTokenCredential.credentialtype',
    ]);
  });

  test('an integer beyond 32 bits says so', () => {
    const text = JSON.stringify(document);
    const bounded = [...text.matchAll(/"type":"integer",(?:"format":"(\w+)",)?[^{}]*?"maximum":(\d+)/g)];
    expect(bounded.length).toBeGreaterThan(5);
    for (const [, format, maximum] of bounded) expect(format).toBe(Number(maximum) < 2 ** 31 ? undefined : 'int64');
  });

  test('/.well-known/security.txt says where to report a weakness, and expires within a year (RFC 9116)', async () => {
    const answer = await nobody.get('/.well-known/security.txt').expect(200);
    expect(answer.get('Content-Type')).toBe('text/plain; charset=utf-8');
    const [first, second, expires = '', ...others] = answer.text.split('\n');
    expect([first, second]).toEqual(['Contact: mailto:security@example.com', 'Contact: https://example.com/report']);
    const left = Date.parse(expires.replace(/^Expires: /, '')) - Date.now();
    expect(left).toBeGreaterThan(86_400_000);
    expect(left).toBeLessThan(365 * 86_400_000);
    expect(others).toEqual([
      'Canonical: https://assent.test/.well-known/security.txt',
      'Policy: https://example.com/disclosure',
      '',
    ]);
  });

  test('the development issuer shows its public keys and nothing of the private ones', async () => {
    const { body } = await nobody.get('/.well-known/jwks.json').expect(200);
    // Beside the key that signs grants.
    const keys = body.keys.filter(({ alg }: { alg: string }) => alg === 'ES256');
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});

describe('every answer', () => {
  test.each(['/v1', '/v1/nothing', '/v1/subscriptions/a/b/c', '/admin'])('%s is a 404 problem', async (path) => {
    expectProblem(await nobody.get(path), 404, 'not_found');
  });

  test.each(withMethods)('$path in capitals, or with a trailing slash, is 404', async ({ path, operations: all }) => {
    for (const other of [path.toUpperCase(), `${path}/`]) {
      expectProblem(await clients['assent:admin'][all[0]!.method](other), 404, 'not_found');
      expectProblem(await nobody.options(other), 404, 'not_found');
    }
  });

  test.each(['/docs//', '/Docs', '/openapi.json/', '/assets/try-it.js/', '/guides//'])(
    '%s is no document',
    async (path) => {
      expectProblem(await nobody.get(path), 404, 'not_found');
    },
  );

  test('a path that cannot be decoded is a 400 problem', async () => {
    const broken = await clients['assent:admin'].get('/v1/subscriptions/%ff');
    expectProblem(broken, 400, 'invalid_request');
    expect(broken.body.faults).toMatchObject([{ pointer: 'path', rule: 'percent_encoding' }]);
    expectProblem(await clients['assent:admin'].get('/v1/subscriptions/%00'), 400, 'invalid_request');
  });

  test.each(['/v1/permissions', '/v1/deliveries/outcomes'])(
    'to a body with too many values at %s has that one fault',
    async (path) => {
      const send = (values: string) => clients['assent:deliver'].post(path).type('json').send(`[${values}]`);
      for (const end of ['{}', '[']) {
        const answer = await send('{},'.repeat(30_000) + end);
        expectProblem(answer, 400, 'invalid_request');
        expect(answer.body.faults).toMatchObject([{ pointer: '', rule: 'too_many_values' }]);
      }
      const text = await send(`"${',{['.repeat(20_000)}\\""`);
      expect(text.text).toContain('"pointer":"/0","rule":"type"');
    },
  );

  test.each([
    ['/v1/grants', 200],
    ['/v1/permissions?origin=a.example.com&sink=https://a.example.com/', 200],
    ['/v1/permissions', 400],
    ['/v1/nothing', 404],
    ['/docs', 200],
    ['/openapi.json', 200],
  ])('of %s (%i) has the version of the contract', async (path, status) => {
    const answer = await clients['assent:deliver'].get(path).expect(status);
    expect(answer.get('API-Version')).toBe(document.info.version);
  });

  test('has the major version of its path, and no keyword in the contract is a piece of a sentence', () => {
    expect(document.info.version).toMatch(/^1\./);
    const keywords: string[] = [];
    JSON.stringify(document, (name, value: unknown) => {
      if (!/^examples?$/.test(name) && value !== null && typeof value === 'object')
        keywords.push(...Object.keys(value));
      return /^examples?$/.test(name) ? undefined : value;
    });
    expect(keywords.filter((name) => / /.test(name))).toEqual([]);
  });

  test('has its headers in the contract', () => {
    for (const response of operations.flatMap(({ responses }) => Object.values(responses))) {
      const { headers = {} } = resolve<ResponseObject>(response);
      expect(Object.keys(headers)).toEqual(expect.arrayContaining(ofEveryAnswer));
    }
  });

  test('is not cached, sniffed or framed, and does not reveal the software behind it', async () => {
    const { headers } = await nobody.get('/v1/subscriptions');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(headers).not.toHaveProperty('x-powered-by');
  });
});
