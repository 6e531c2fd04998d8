import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import express from 'express';
import { KeySets, KeysUnavailable } from '../../../src/kits/webhook/key-sets.js';
import { createReplays, type ReplayStore } from '../../../src/kits/webhook/replays.js';
import { createWebhook, RetryLater, type Refused, type VerifySettings } from '../../../src/kits/webhook/index.js';
import { nodeCaller } from '../../../src/kits/webhook/node-caller.js';
import { createWebhookWith } from '../../../src/kits/webhook/webhook.js';
import { makeSecret, signMessage } from '../../../src/signatures/standard-webhooks.js';
import { startReceiver, type Receiver } from '../../support/receiver.js';
import { createSigner, type Signer } from '../../support/signer.js';
import { event, origin, serve, structured, type Reply, type Served } from './serve.js';

const running: Served[] = [];
let keys: Receiver;
let signer: Signer;
let next: Signer;
let stranger: Signer;
beforeAll(async () => {
  [keys, signer, next, stranger] = await Promise.all([startReceiver(), createSigner(), createSigner(), createSigner()]);
});
beforeEach(() => void keys.asked.splice(0));
afterEach(async () => {
  for (const served of running.splice(0)) await served.stop();
});
afterAll(() => keys.stop());

const url = 'https://webhook.example.com/events';
const body = JSON.stringify(event);
const bytes = (text: string) => new TextEncoder().encode(text);
const seconds = () => Math.floor(Date.now() / 1_000);
const named = { 'WebHook-Request-Origin': origin, 'Content-Type': structured };
const signed = (more: Partial<Parameters<Signer['sign']>[0]> = {}, by = signer, at = {}) =>
  by.sign({ method: 'POST', url, headers: named, body: bytes(body), ...more }, at);
const asking = (more: Record<string, string> = {}, by = signer, at = {}) =>
  by.sign({ method: 'OPTIONS', url, headers: { 'WebHook-Request-Origin': origin, ...more } }, at);

/** A webhook that knows the key of its origin, unless the settings say otherwise. */
async function verifying(verify: Partial<VerifySettings> = {}, more: Parameters<typeof serve>[0] = {}) {
  const refused: Refused[] = [];
  const settings = { url, keys: { keys: [signer.public] }, onRefused: (each: Refused) => void refused.push(each) };
  const served = await serve({ verify: { ...settings, ...verify }, ...more });
  running.push(served);
  return { ...served, refused };
}
const faultOf = ({ body: text }: Reply): string | undefined => JSON.parse(text).faults?.[0]?.rule;
const allows = ({ headers }: Reply) => headers['webhook-allowed-origin'];

describe('with keys', () => {
  test('a signed handshake gets consent, and a signed delivery is received with its key and its bytes', async () => {
    const { ask, received, faults, refused } = await verifying();
    for (const form of ['dictionary', 'string'] as const) {
      const headers = await asking({ 'WebHook-Request-Rate': '120' }, signer, { form });
      expect(allows(await ask('OPTIONS', headers))).toBe(origin);
    }
    expect((await ask('POST', await signed(), body)).status).toBe(204);
    expect(received).toMatchObject([{ events: [event], delivery: { origin, keyid: signer.public.kid } }]);
    expect(received[0]!.delivery.rawBody).toEqual(bytes(body));
    expect([faults, refused]).toEqual([[], []]);
  });

  type Forged = [string, string, () => Promise<Record<string, string>>];
  const without = (headers: Record<string, string>, ...names: string[]) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
  const forgeries: Forged[] = [
    ['without a signature', 'signature_missing', async () => named],
    ['half a signature', 'signature_malformed', async () => without(await signed(), 'Signature')],
    ['of a stranger', 'key_unknown', () => signed({}, stranger)],
    ['of a stranger who names the key', 'signature_invalid', () => signed({}, stranger, { keyid: signer.public.kid })],
    ['from before', 'signature_expired', () => signed({}, signer, { now: seconds() - 301 })],
    ['from later', 'signature_early', () => signed({}, signer, { now: seconds() + 90 })],
    ['for another webhook', 'signature_invalid', () => signed({ url: 'https://other.example.com/events' })],
    ['for another path', 'signature_invalid', () => signed({ url: `${url}/more` })],
    ['for another method', 'signature_invalid', () => signed({ method: 'OPTIONS' })],
    [
      'for another origin',
      'signature_invalid',
      async () => ({
        ...(await signed({ headers: { ...named, 'WebHook-Request-Origin': 'other.example.com' } })),
        ...named,
      }),
    ],
    [
      'with another media type',
      'signature_invalid',
      async () => ({ ...(await signed()), 'Content-Type': 'application/cloudevents+json; charset=utf-8' }),
    ],
    ['without its digest', 'signature_incomplete', () => signed({ body: undefined })],
    ['of another body', 'digest_mismatch', () => signed({ body: bytes(`${body} `) })],
    [
      'with attributes beside it',
      'signature_incomplete',
      async () => ({ ...(await signed()), 'ce-type': 'com.example.forged' }),
    ],
    ['with a nonce of its own', 'signature_invalid', async () => tamper(await signed(), /nonce="[^"]*"/, 'nonce="x"')],
    ['that lasts longer', 'signature_invalid', async () => tamper(await signed(), /expires=\d+/, 'expires=9999999999')],
  ];
  const tamper = (headers: Record<string, string>, what: RegExp, by: string) => ({
    ...headers,
    'Signature-Input': headers['Signature-Input']!.replace(what, by),
  });

  test('a forged delivery is refused, and its fault has a name', async () => {
    const { ask, received, refused, faults } = await verifying();
    for (const [title, fault, forge] of forgeries) {
      const reply = await ask('POST', await forge(), body);
      expect([title, reply.status, faultOf(reply)]).toEqual([title, 401, fault]);
      expect(reply.headers['www-authenticate']).toBe('Signature realm="webhook"');
    }
    expect(refused.map(({ fault }) => fault)).toEqual(forgeries.map(([, fault]) => fault));
    expect([received, faults]).toEqual([[], []]);
  });

  test('a forged handshake gets no consent, and its fault has a name', async () => {
    const { ask } = await verifying();
    const more = { 'WebHook-Request-Rate': '120', 'WebHook-Request-Callback': 'https://registry.example/1' };
    const changed = async (by: Record<string, string>) => ({ ...(await asking(more)), ...by });
    const table: Array<[string, Promise<Record<string, string>>]> = [
      ['signature_missing', Promise.resolve({ 'WebHook-Request-Origin': origin })],
      ['key_unknown', asking({}, stranger)],
      ['signature_expired', asking({}, signer, { now: seconds() - 301 })],
      ['signature_invalid', changed({ 'WebHook-Request-Rate': '9999' })],
      ['signature_invalid', changed({ 'WebHook-Request-Callback': 'https://attacker.example/1' })],
      ['signature_incomplete', asking().then((headers) => ({ ...headers, 'WebHook-Request-Rate': '1' }))],
    ];
    for (const [fault, headers] of table) {
      const reply = await ask('OPTIONS', await headers);
      expect([reply.status, faultOf(reply), allows(reply)]).toEqual([401, fault, undefined]);
      expect(reply.headers.allow).toBe('POST, OPTIONS');
    }
    expect(allows(await ask('OPTIONS', await changed({})))).toBe(origin);
  });

  test('events in binary mode are under the signature with their attributes', async () => {
    const { ask, received } = await verifying();
    const binary = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': 's', 'ce-type': 't' };
    const headers = await signed({ headers: { ...named, 'Content-Type': 'application/json', ...binary } });
    expect(faultOf(await ask('POST', { ...headers, 'ce-type': 'forged' }, body))).toBe('signature_invalid');
    expect((await ask('POST', headers, body)).status).toBe(204);
    expect(received).toMatchObject([{ events: [{ type: 't' }] }]);
  });

  test('the signature is for the URL of the webhook, whatever a framework or a proxy makes of the request', async () => {
    const query = `${url}?a=1&b=%2F`;
    const mounted = await serve(
      { verify: { url: 'https://webhook.example.com', keys: { keys: [signer.public] } } },
      (each) => express().use('/events', each.node),
    );
    running.push(mounted);
    const { webhook } = await verifying({ url: ['https://other.example.com', url] });
    const headers = await signed({ url: query });
    const ask = (target: string, sent: Record<string, string>) =>
      webhook.fetch(new Request(target, { method: 'POST', headers: sent, body }));
    expect((await ask('http://10.0.0.1/internal?a=1&b=%2F', { ...headers, Host: 'webhook.example.com' })).status).toBe(
      204,
    );
    expect(
      (await ask('http://10.0.0.1/internal?a=2', { ...(await signed()), Host: 'webhook.example.com' })).status,
    ).toBe(401);
    const reply = await fetch(`${mounted.url}?a=1&b=%2F`, {
      method: 'POST',
      headers: await signed({ url: query }),
      body,
    });
    expect(reply.status).toBe(204);
  });

  test('a copy is refused, in this process and in another one with the same store', async () => {
    const ids = new Map<string, number>();
    const replays: ReplayStore = {
      add: async (id, lasts) => !ids.has(id) && Boolean(ids.set(id, lasts)),
      remove: async (id) => ids.delete(id),
    };
    const [one, two, alone] = [await verifying({ replays }), await verifying({ replays }), await verifying()];
    const headers = await signed();
    expect((await one.ask('POST', headers, body)).status).toBe(204);
    for (const { ask } of [one, two]) {
      expect(faultOf(await ask('POST', headers, body))).toBe('signature_replayed');
    }
    expect((await alone.ask('POST', headers, body)).status).toBe(204);
    expect(faultOf(await alone.ask('POST', headers, body))).toBe('signature_replayed');
    expect([...ids]).toEqual([[expect.stringMatching(`^${origin}:[\\w-]{22}$`), expect.any(Number)]]);
    expect([...ids.values()][0]).toBeLessThanOrEqual(121);
    // At once, too: only one of them is received.
    const again = await signed();
    const replies = await Promise.all(Array.from({ length: 5 }, () => alone.ask('POST', again, body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([204, 401, 401, 401, 401]);
  });
});

describe('with several signatures', () => {
  const second = (headers: Record<string, string>) => ({
    'Signature-Input': headers['Signature-Input']!.replace(/^sig1=/, 'sig2='),
    Signature: headers['Signature']!.replace(/^sig1=/, 'sig2='),
  });
  const joined = (headers: Record<string, string>, more: Record<string, string>) => ({
    ...headers,
    'Signature-Input': `${headers['Signature-Input']}, ${more['Signature-Input']}`,
    Signature: `${headers['Signature']}, ${more['Signature']}`,
  });

  test('a copy with fewer of them is a copy, and more than five are refused', async () => {
    const { ask } = await verifying({ keys: { keys: [signer.public, next.public] } });
    const [one, other] = [await signed(), second(await signed({}, next))];
    expect((await ask('POST', joined(one, other), body)).status).toBe(204);
    for (const part of [one, { ...one, ...other }]) {
      expect(faultOf(await ask('POST', part, body))).toBe('signature_replayed');
    }
    const many = await signed();
    const more = (name: 'Signature-Input' | 'Signature') =>
      Array.from({ length: 5 }, (_, at) => second(many)[name].replace('sig2=', `more${at}=`)).join(', ');
    const flood = { 'Signature-Input': more('Signature-Input'), Signature: more('Signature') };
    expect(faultOf(await ask('POST', joined(many, flood), body))).toBe('signature_malformed');
  });

  test('that of a proxy, which this code cannot read or whose key is unknown, hinders no right one', async () => {
    const { ask } = await verifying();
    for (const input of [
      '("@query-param";name="a");created=1;keyid="p"',
      '("@status");keyid="p"',
      '("@method");keyid="p"',
    ]) {
      const proxy = { 'Signature-Input': `proxy=${input}`, Signature: 'proxy=:AAAA:' };
      expect((await ask('POST', joined({ ...(await signed()), ...proxy }, second(await signed())), body)).status).toBe(
        204,
      );
    }
  });
});

test.each([
  ['has ended', { exp: seconds() - 120 }],
  ['has not begun', { nbf: seconds() + 120 }],
  ['is for encryption', { use: 'enc' }],
  ['is a point of small order', { x: 'A'.repeat(43) }],
])('a key of a set that %s signs nothing', async (_title, more) => {
  const { ask } = await verifying({ keys: { keys: [{ ...signer.public, ...more }] } });
  expect(faultOf(await ask('POST', await signed(), body))).toBe('key_unknown');
});

test('a key of a given set is found by its thumbprint, and by the name that the set gives it', async () => {
  const [named, other] = [
    { ...signer.public, kid: 'mailroom-2026' },
    { ...next.public, kid: 'mailroom-2027' },
  ];
  const { ask } = await verifying({ keys: { keys: [named, other] } });
  for (const keyid of [signer.public.kid, named.kid]) {
    expect((await ask('POST', await signed({}, signer, { keyid }), body)).status).toBe(204);
  }
  expect(faultOf(await ask('POST', await signed({}, signer, { keyid: other.kid }), body))).toBe('signature_invalid');
  // A name that is the thumbprint of another key is no name.
  const posing = { ...next.public, kid: signer.public.kid };
  const confused = await verifying({ keys: { keys: [signer.public, posing] } });
  expect((await confused.ask('POST', await signed(), body)).status).toBe(204);
});

describe('with secrets', () => {
  const [old, current] = [makeSecret(), makeSecret()];
  const message = async (
    secrets: string[],
    more: { id?: string; timestamp?: number } = {},
    text = body,
  ): Promise<Record<string, string>> => ({
    ...named,
    ...(await signMessage({ id: 'msg_1', timestamp: seconds(), body: bytes(text), ...more }, secrets)),
  });

  test('each secret of a rotation is accepted, and a forged delivery is refused', async () => {
    const { ask, received } = await verifying({ keys: undefined, url: undefined, secrets: async () => [current, old] });
    for (const [id, by] of [
      ['1', [old]],
      ['2', [current]],
      ['3', [makeSecret(), old]],
    ] as const) {
      expect((await ask('POST', await message([...by], { id }), body)).status).toBe(204);
    }
    const table: Array<[string, Promise<Record<string, string>>]> = [
      ['signature_missing', Promise.resolve(named)],
      ['signature_invalid', message([makeSecret()])],
      ['signature_invalid', message([current], {}, `${body} `)],
      ['signature_invalid', message([current]).then((headers) => ({ ...headers, 'webhook-id': 'msg_2' }))],
      ['signature_expired', message([current], { timestamp: seconds() - 310 })],
      ['signature_early', message([current], { timestamp: seconds() + 310 })],
      ['signature_malformed', message([current]).then((headers) => ({ ...headers, 'webhook-timestamp': 'now' }))],
      // It would be another event: the attributes are not in the body.
      ['signature_incomplete', message([current]).then((headers) => ({ ...headers, 'ce-specversion': '1.0' }))],
    ];
    for (const [fault, headers] of table) {
      const reply = await ask('POST', await headers, body);
      expect([reply.status, faultOf(reply)]).toEqual([401, fault]);
    }
    expect(received).toHaveLength(3);
    // A handshake has no body to sign.
    expect(allows(await ask('OPTIONS', { 'WebHook-Request-Origin': origin }))).toBe(origin);
  });

  test('a copy is refused, even with another one of its signatures, or another origin, which is not signed', async () => {
    const origins = { [origin]: 100, 'other.example.com': 100 };
    const { ask } = await verifying({ keys: undefined, secrets: [current, old] }, { origins });
    const headers = await message([current, old]);
    expect((await ask('POST', headers, body)).status).toBe(204);
    const [first, second] = headers['webhook-signature']!.split(' ') as [string, string];
    for (const kept of [first, second]) {
      expect(faultOf(await ask('POST', { ...headers, 'webhook-signature': kept }, body))).toBe('signature_replayed');
    }
    const copy = { ...headers, 'WebHook-Request-Origin': 'other.example.com' };
    expect(faultOf(await ask('POST', copy, body))).toBe('signature_replayed');
  });

  test.each<[string, Partial<VerifySettings>]>([
    ['secrets', { keys: undefined, secrets: [current] }],
    ['keys', {}],
    ['both', { secrets: [current] }],
  ])('the same attempt counts as new while none was accepted: %s', async (_title, verify) => {
    let token = '';
    let failing = 0;
    const { ask, received } = await verifying(verify, {
      origins: { [origin]: 2 },
      authenticate: () => token !== '',
      receive() {
        if ((failing += 1) === 1) throw new RetryLater(1);
      },
    });
    const headers = await signed({ headers: await message([current]) });
    const statuses: number[] = [];
    const send = async (sent = headers) => statuses.push((await ask('POST', sent, body)).status);
    await send();
    token = 'valid';
    await send();
    await send();
    await send();
    const again = await signed({ headers: await message([current], { timestamp: seconds() + 1 }) });
    await send(again);
    await send(again);
    // The last ones come above the rate, which is not an acceptance either.
    expect(statuses).toEqual([401, 503, 204, 401, 429, 429]);
    expect(received).toEqual([]);
  });

  test('with keys as well, both must hold', async () => {
    const { ask, received } = await verifying({ secrets: [current] });
    expect(faultOf(await ask('POST', await message([current]), body))).toBe('signature_missing');
    expect(faultOf(await ask('POST', await signed(), body))).toBe('signature_missing');
    expect((await ask('POST', await signed({ headers: await message([current]) }), body)).status).toBe(204);
    expect(received).toHaveLength(1);
  });
});

describe('the directory of an origin', () => {
  /** A webhook whose origins have their directories at the server of the test: only the address is another one. */
  function withDirectory(verify: Partial<VerifySettings> = {}, origins: string[] | '*' = [origin]) {
    const faults: string[] = [];
    const names: string[] = [];
    const webhook = createWebhookWith(
      {
        ...nodeCaller,
        read(target, settings, maxBytes) {
          names.push(`${target.isSecure ? 'https' : 'http'}://${target.authority}${target.target}`);
          return nodeCaller.read(
            { ...target, authority: `localhost:${keys.port}`, host: 'localhost', port: keys.port },
            settings,
            maxBytes,
          );
        },
      },
      {
        origins,
        rate: '*',
        receive: () => undefined,
        onFault: (error) => faults.push((error as Error).message),
        verify: { url, keys: 'directory', networks: ['127.0.0.0/8', '::1/128'], ca: keys.ca, ...verify },
      },
    );
    const ask = async (headers: Record<string, string>) =>
      webhook.fetch(new Request(url, { method: 'OPTIONS', headers }));
    return { ask, faults, names };
  }
  const path = '/.well-known/http-message-signatures-directory';
  const publish = (set: unknown, headers: Record<string, string> = {}) =>
    keys.on(path, (_request, response: ServerResponse) => response.writeHead(200, headers).end(JSON.stringify(set)));

  test('is read once for a name that the webhook allows, and never for another one', async () => {
    publish({ keys: [signer.public] });
    const { ask, names, faults } = withDirectory();
    for (let time = 0; time < 3; time += 1) {
      expect((await ask(await asking())).headers.get('WebHook-Allowed-Origin')).toBe(origin);
    }
    const other = await signer.sign({
      method: 'OPTIONS',
      url,
      headers: { 'WebHook-Request-Origin': 'internal.example.com' },
    });
    expect((await ask(other)).headers.has('WebHook-Allowed-Origin')).toBe(false);
    expect(names).toEqual([`https://${origin}${path}`]);
    expect(faults).toEqual([]);
  });

  test.each<[string, () => void, Partial<VerifySettings>]>([
    ['redirects', () => keys.on(path, (_, response) => response.writeHead(302, { Location: '/other' }).end()), {}],
    [
      'has 10 MB',
      () =>
        keys.on(path, (_, response) => response.writeHead(200).end(JSON.stringify({ keys: ['x'.repeat(10_000_000)] }))),
      {},
    ],
    ['is no set of keys', () => publish([signer.public]), {}],
    ['is at an address that is not public', () => publish({ keys: [signer.public] }), { networks: undefined }],
    ['has a certificate of another authority', () => publish({ keys: [signer.public] }), { ca: undefined }],
    ['does not respond', () => keys.on(path, () => undefined), { deadlineMs: 50 }],
  ])('that %s gives no consent, and no refusal for good', async (_title, play, verify) => {
    play();
    const { ask, faults, names } = withDirectory(verify);
    for (let time = 0; time < 2; time += 1) {
      const reply = await ask(await asking());
      expect([reply.status, reply.headers.get('Retry-After')]).toEqual([503, '10']);
      expect(reply.headers.has('WebHook-Allowed-Origin')).toBe(false);
    }
    expect([names.length, faults.length]).toEqual([1, 1]);
    expect(faults[0]).toContain(`https://${origin}${path} cannot be read`);
  });
});

describe('keys at a URL', () => {
  /** The clock, and what is published: undefined is an outage. */
  function reading() {
    const state = { now: 1_000_000, reads: 0, published: [signer.public] as object[] | undefined, cache: '' };
    const sets = new KeySets({
      sharesReads: true,
      onFault: () => undefined,
      now: () => state.now,
      async read() {
        state.reads += 1;
        if (state.published === undefined) return { kind: 'failed', detail: 'it returned 500' };
        return { kind: 'read', body: bytes(JSON.stringify({ keys: state.published })), cacheControl: state.cache };
      },
    });
    const isKnown = async (by: Signer) => (await sets.keyOf('https://a.example/', by.public.kid)) !== undefined;
    return { state, isKnown };
  }

  test('a rotation is picked up with the first signature of the new key; an unknown one leads to one read in 10 seconds', async () => {
    const { state, isKnown } = reading();
    expect(await isKnown(signer)).toBe(true);
    state.now += 11;
    state.published = [signer.public, next.public];
    expect([await isKnown(next), await isKnown(signer), state.reads]).toEqual([true, true, 2]);
    // A sender takes "unknown" as final: only a read since the request says so.
    const says: unknown[] = [];
    for (let time = 0; time < 20; time += 1) {
      says.push(await isKnown(stranger).catch((error: unknown) => error instanceof KeysUnavailable && 'later'));
      state.now += 1;
    }
    expect(state.reads).toBe(3);
    expect(says).toEqual(Array.from({ length: 20 }, (_, at) => at % 10 !== 0 && 'later'));
    state.published = [next.public];
    state.now += 301;
    expect([await isKnown(signer), await isKnown(next)]).toEqual([false, true]);
  });

  test('of many documents, so many are read at once and no more; the others are read later', async () => {
    const release: Array<() => void> = [];
    const sets = new KeySets({
      sharesReads: true,
      onFault: () => undefined,
      read: () => new Promise((resolve) => release.push(() => resolve({ kind: 'failed', detail: 'over' }))),
    });
    const asked = Array.from({ length: 40 }, (_, at) =>
      sets.keyOf(`https://${at}.example/`, 'a').catch((error: unknown) => error),
    );
    const early = await Promise.all(asked.slice(32));
    expect(early.map((error) => error instanceof KeysUnavailable)).toEqual(early.map(() => true));
    expect(release).toHaveLength(32);
    for (const each of release) each();
    expect((await Promise.all(asked)).every((error) => error instanceof KeysUnavailable)).toBe(true);
  });

  test('for development, they may be at plain http, at its own port', async () => {
    const urls: string[] = [];
    const read: typeof nodeCaller.read = async ({ authority, port, target }) => {
      urls.push(`${authority} ${port} ${target}`);
      return { kind: 'failed', detail: 'over' };
    };
    const verify = { url, keys: 'http://localhost/jwks', development: true };
    const settings = {
      origins: [origin],
      rate: '*' as const,
      receive: () => undefined,
      onFault: () => undefined,
      verify,
    };
    const webhook = createWebhookWith({ ...nodeCaller, read }, settings);
    await webhook.fetch(new Request(url, { method: 'OPTIONS', headers: await asking() }));
    expect(urls).toEqual(['localhost 80 /jwks']);
  });

  test('requests at the same time share one read', async () => {
    const { state, isKnown } = reading();
    expect(await Promise.all([isKnown(signer), isKnown(signer), isKnown(next)])).toEqual([true, true, false]);
    expect(state.reads).toBe(1);
  });

  test.each([
    ['', 300],
    ['max-age=120', 120],
    ['max-age=0', 60],
    ['no-store', 60],
    ['public, max-age=999999', 3_600],
  ])('Cache-Control %p keeps them for %d seconds', async (cache, lasts) => {
    const { state, isKnown } = reading();
    state.cache = cache;
    await isKnown(signer);
    state.now += lasts - 1;
    await isKnown(signer);
    expect(state.reads).toBe(1);
    state.now += 1;
    await isKnown(signer);
    expect(state.reads).toBe(2);
  });

  test('an outage leaves the old keys in force for an hour, and makes no new one unknown', async () => {
    const { state, isKnown } = reading();
    await isKnown(signer);
    state.published = undefined;
    state.now += 100;
    await expect(isKnown(next)).rejects.toBeInstanceOf(KeysUnavailable);
    state.now -= 100;
    state.now += 300 + 3_599;
    expect(await isKnown(signer)).toBe(true);
    state.now += 1;
    await expect(isKnown(signer)).rejects.toBeInstanceOf(KeysUnavailable);
    state.published = [signer.public];
    state.now += 10;
    expect(await isKnown(signer)).toBe(true);
  });

  test('a webhook reads them at the URL that it is given', async () => {
    keys.on('/jwks', (_, response: ServerResponse) => response.end(JSON.stringify({ keys: [signer.public] })));
    const read = { networks: ['127.0.0.0/8', '::1/128'], ca: keys.ca };
    const { ask } = await verifying({ keys: async () => keys.sink('/jwks'), ...read });
    expect(faultOf(await ask('POST', await signed({}, stranger), body))).toBe('key_unknown');
    expect((await ask('POST', await signed(), body)).status).toBe(204);
    const later = await ask('POST', await signed({}, stranger), body);
    expect([later.status, later.headers['retry-after'], faultOf(later)]).toEqual([503, '10', 'keys_unavailable']);
  });
});

test('the memory of deliveries is bounded, and no origin makes room for copies of another one', () => {
  let now = 0;
  const replays = createReplays(() => now, 100);
  const add = (id: string) => replays.add(id, 300);
  expect([add('a.example:1'), add('a.example:1')]).toEqual([true, false]);
  for (let id = 0; id < 1_000; id += 1) void add(`b.example:${id}`);
  expect([add('a.example:1'), add('b.example:999'), add('b.example:0')]).toEqual([false, false, true]);
  replays.remove('a.example:1');
  expect(add('a.example:1')).toBe(true);
  now = 300;
  expect([add('a.example:1'), add('b.example:999')]).toEqual([true, true]);
});

test.each<[string, unknown, string]>([
  ['nothing', {}, 'needs `keys`, `secrets`, or both'],
  ['undefined', undefined, '`verify` is undefined'],
  ['keys without a URL', { keys: 'directory' }, '`verify.url` is missing'],
  ['a URL with a query', { keys: 'directory', url: `${url}?a` }, '`verify.url` has'],
  ['keys that are none', { keys: 'http://a.example/', url }, '`verify.keys` is'],
  ['a set without a key', { keys: { keys: [] }, url }, '`verify.keys` is'],
  ['no secret', { secrets: [] }, '`verify.secrets` is'],
  ['a secret that is none', { secrets: ['secret'] }, '`verify.secrets` is'],
  ['a misspelt name', { secret: [makeSecret()] }, 'no setting `verify.secret`'],
])('%s is an error of the settings', (_title, verify, message) => {
  const create = () => createWebhook({ origins: { [origin]: 1 }, receive: () => undefined, verify: verify as never });
  expect(create).toThrow(message);
});
