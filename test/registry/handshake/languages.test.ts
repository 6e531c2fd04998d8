import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { languages } from '../../../src/base/texts/text.js';
import { verdictTexts } from '../../../src/base/texts/verdicts.js';
import { offer } from '../../support/offer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

/** What consumers and webhook owners read, in the language of `Accept-Language`. */
let registry: Registry;
let tenant: Tenant;
let count = 0;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

/** GET as the subscriber; the headers name the language of the body. */
async function read(path: string, accepted: string | undefined, language: 'en' | 'nl', status = 200) {
  const request = tenant.subscriber.get(path);
  const answer = await (accepted === undefined ? request : request.set('Accept-Language', accepted));
  expect([answer.status, answer.headers['content-language'], answer.headers['vary']]).toEqual([
    status,
    language,
    expect.stringContaining('Accept-Language'),
  ]);
  return answer.body;
}

/** A webhook that returns `Allow` to OPTIONS and nothing else. */
async function registerRefused(path: string) {
  registry.receiver.on(path, (_request, response) => void response.writeHead(405, { Allow: 'POST' }).end());
  return tenant.register(registry.receiver.sink(path), { callback: 'never' });
}

test.each([
  [undefined, 'en'],
  ['fr, de;q=0.5', 'en'],
  ['en-GB, nl;q=0.9', 'en'],
  ['nl', 'nl'],
  ['nl-NL,nl;q=0.9,en;q=0.8', 'nl'],
] as const)('with Accept-Language %s a subscription and its handshakes are in %s', async (accepted, language) => {
  const { id } = await registerRefused(`/language-${(count += 1)}`);
  const { title, advice } = verdictTexts.unsupported;
  const explained = { message: title[language], advice: advice[language] };
  const subscription = await read(`/v1/subscriptions/${id}`, accepted, language);
  expect(subscription.statusdetails).toMatchObject({ reason: 'unsupported', ...explained });
  expect(subscription.statusdetails.next).toMatch(language === 'nl' ? /^Er gebeurt niets/ : /^Nothing happens/);
  const [listed] = await read(`/v1/subscriptions?sink=${encodeURIComponent(subscription.sink)}`, accepted, language);
  expect(listed.statusdetails).toEqual(subscription.statusdetails);
  const [handshake] = await read(`/v1/subscriptions/${id}/handshakes`, accepted, language);
  expect(handshake).toMatchObject({ ...explained, attempts: [explained] });
  expect(await read(`/v1/subscriptions/${id}/handshakes/${handshake.id}`, accepted, language)).toEqual(handshake);
});

test('registering, changing and suspending a subscription return Dutch status details', async () => {
  registry.receiver.consent('/dutch', { rate: '42' });
  const sink = registry.receiver.sink('/dutch');
  const registered = await tenant.subscriber
    .post('/v1/subscriptions')
    .set({ Prefer: 'wait=10', 'Accept-Language': 'nl' })
    .send({ sink, protocol: 'HTTP', requestedrate: 10 })
    .expect(201)
    .expect('Content-Language', 'nl');
  const { id, statusdetails } = registered.body;
  expect(statusdetails).toMatchObject({
    message: `De webhook gaf toestemming in het antwoord. ${tenant.origin} mag hoogstens 42 verzoeken per minuut sturen.`,
    next: 'Assent verlengt de grant met een nieuwe handshake.',
    warnings: [{ code: 'rate_above_requested', message: expect.stringMatching(/hoger dan het gevraagde tempo/) }],
  });
  const patched = await tenant.subscriber
    .patch(`/v1/subscriptions/${id}`)
    .set({ 'Accept-Language': 'nl', 'Content-Type': 'application/merge-patch+json' })
    .send(JSON.stringify({ types: ['com.example.case'] }))
    .expect(200);
  expect(patched.body.statusdetails.message).toBe(statusdetails.message);
  const suspended = await tenant.subscriber
    .post(`/v1/subscriptions/${id}/suspend`)
    .set('Accept-Language', 'nl')
    .send({ reason: 'Onderhoud.' })
    .expect(200);
  expect(suspended.body.statusdetails).toMatchObject({
    message: 'De abonnee heeft dit abonnement onderbroken: Onderhoud.',
    next: expect.stringMatching(/hervat/),
  });
});

test('the deliveries of a subscription are explained in Dutch', async () => {
  const sink = registry.receiver.sink('/dutch-deliveries');
  registry.receiver.consent('/dutch-deliveries', { rate: '42' });
  const { id } = await tenant.register(sink);
  await tenant.sender
    .post('/v1/deliveries/outcomes')
    .send([{ origin: tenant.origin, sink, status: 415 }])
    .expect(200);
  expect(await read(`/v1/subscriptions/${id}/deliveries`, 'nl', 'nl')).toMatchObject({
    message: 'De webhook accepteert de vorm van de gebeurtenis niet (415).',
    advice: expect.stringMatching(/^Accepteer application\/cloudevents\+json/),
  });
});

test('a problem and a rejected callback are in Dutch', async () => {
  const { callback, id } = await offer(registry, tenant);
  const headers = { 'Accept-Language': 'nl', Accept: 'application/json', 'WebHook-Allowed-Rate': 'veel' };
  const answer = await fetch(callback, { method: 'POST', headers });
  expect([answer.status, answer.headers.get('content-language')]).toEqual([400, 'nl']);
  expect(await answer.json()).toMatchObject({
    title: 'WebHook-Allowed-Rate is onjuist opgebouwd.',
    detail: expect.stringMatching(/^Deze aanroep heeft niets veranderd/),
    faults: [{ rule: 'rate_malformed', detail: expect.stringMatching(/^Het tempo moet/) }],
  });
  expect((await read(`/v1/subscriptions/${id}`, 'nl', 'nl')).statusdetails.rejectedcallback).toMatchObject({
    message: 'Een callback stuurde WebHook-Allowed-Rate "veel". Dat is geen tempo, dus de callback telt niet.',
    advice: expect.stringMatching(/^Stuur het aantal verzoeken/),
  });
  expect(await read(`/v1/subscriptions/${id}/handshakes/nothing`, 'nl', 'nl', 404)).toMatchObject({
    detail: 'Dit abonnement heeft geen handshake met dit id.',
  });
});

test('the page of a callback URL names its language', async () => {
  const { callback } = await offer(registry, tenant);
  for (const [accepted, language, question] of [
    ['nl', 'nl', 'Mag deze afzender gebeurtenissen naar uw webhook sturen?'],
    ['de', 'en', 'May this origin send events to your webhook?'],
  ] as const) {
    const page = await fetch(callback, { headers: { Accept: 'text/html', 'Accept-Language': accepted } });
    expect([page.headers.get('content-language'), page.headers.get('vary')]).toEqual([
      language,
      'Accept, Accept-Language',
    ]);
    expect(await page.text()).toContain(`<h1>${question}</h1>`);
  }
});

test('no text of a verdict is stored or in the feed, only its code', async () => {
  const { id } = await registerRefused('/stored');
  await read(`/v1/subscriptions/${id}`, 'nl', 'nl');
  const rows: unknown[] = [];
  for (const table of [
    'handshake',
    'attempt',
    '"grant"',
    'audit',
    'change',
    'subscription',
    'delivery',
    'idempotency',
  ]) {
    rows.push(await registry.sql(`select to_jsonb(row) as row from ${table} row`));
  }
  const stored = JSON.stringify(rows);
  expect(stored).toContain('"unsupported"');
  const texts = Object.values(verdictTexts).flatMap((text: { title: object; advice?: object }) => [
    ...Object.values(text.title),
    ...Object.values(text.advice ?? {}),
  ]);
  expect(texts.length).toBeGreaterThan(languages.length * Object.keys(verdictTexts).length);
  for (const text of texts) expect(stored).not.toContain(JSON.stringify(text).slice(1, -1));
});
