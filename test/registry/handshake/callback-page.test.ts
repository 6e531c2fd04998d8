import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { languages } from '../../../src/base/texts/text.js';
import { verdictTexts, withValues } from '../../../src/base/texts/verdicts.js';
import { keyOf, offer } from '../../support/offer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({
    reachable: true,
    env: { ASSENT_OPERATOR: 'Gemeente <Voorbeeld>', ASSENT_CONTACT: 'webhooks@voorbeeld.example' },
  });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

const dutch = { ...browser, 'Accept-Language': 'nl-NL,nl;q=0.9,en;q=0.8' };
const open = async (callback: string, headers = browser) => (await fetch(callback, { headers })).text();
const submit = (callback: string, fields: Record<string, string>, headers: Record<string, string> = browser) =>
  fetch(callback, { method: 'POST', headers, body: new URLSearchParams(fields) });

describe('the page of a callback URL', () => {
  test('opening it changes nothing, for people and for mail scanners', async () => {
    const { callback, sink, id } = await offer(registry, tenant);
    const before = await tenant.read(id);
    for (const accept of [browser.Accept, 'text/html', 'text/html, */*;q=0.1', 'text/*']) {
      const answer = await fetch(callback, { headers: { Accept: accept } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    }
    expect((await fetch(callback, { method: 'POST', headers: browser })).status).toBe(200);
    expect(await tenant.read(id)).toEqual(before);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });
    expect(await tenant.changes(sink)).toEqual(['subscription.created']);
  });

  test('it says whether the name of the origin is verified, and by which key', async () => {
    const { callback } = await offer(registry, tenant);
    expect(await open(callback)).toContain('Not verified: anyone could have typed this name.');
    expect(await open(callback, dutch)).toContain('Niet geverifieerd: iedereen kan deze naam hebben ingevuld.');
    await registry.sql(`update origin set verifiedby = 'dns', verifiedkey = 'key-1' where name = $1`, tenant.origin);
    expect(await open(callback)).toContain(`Verified: the owner of ${tenant.origin} publishes the key key-1`);
    expect(await open(callback, dutch)).toContain(
      `Geverifieerd: de eigenaar van ${tenant.origin} publiceert de sleutel`,
    );
    await registry.sql('update origin set verifiedby = null, verifiedkey = null');
  });

  test('it shows who asks, for what, at which rate and until when, but no filter values', async () => {
    const path = '/page-question';
    const types = Array.from({ length: 12 }, (_, n) => `com.example.case.t${n}.`);
    const callbacks: string[] = [];
    registry.receiver.on(path, (request, response) => {
      callbacks.push(...[request.headers['webhook-request-callback'] ?? []].flat());
      response.writeHead(200).end();
    });
    const sink = registry.receiver.sink(`${path}?code=hunter2`);
    await registry.sql('update origin set description = $1 where name = $2', 'The <case> system', tenant.origin);
    await tenant.register(sink, {
      types,
      source: 'https://cases.example.com',
      subject: 'bsn-999990019',
      requestedrate: 42,
      filters: [{ any: [{ exact: { zone: 'secret-zone' } }, { not: { sql: "kind = 'secret-kind'" } }] }],
    });
    const page = await open(callbacks[0] ?? '');
    const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
    for (const part of [
      `${tenant.origin} (The &lt;case&gt; system) asks to send events to ${sink.split('?')[0]} , at most 42 requests per minute.`,
      'Gemeente &lt;Voorbeeld&gt; runs this registry. Contact: webhooks@voorbeeld.example',
      'Nothing is sent. After the time above, this link no longer works.',
      `Origin ${tenant.origin} Webhook ${sink.split('?')[0]} Is the name real? Not verified: anyone could have typed this name. Requested by zaaksysteem (gemeente)`,
      `Events ${types.slice(0, 10).join(' ')} and 2 more Source https://cases.example.com`,
      'Filtered by subject, zone, an expression Rate at most 42 requests per minute Decide before',
    ]) {
      expect(text).toContain(part);
    }
    expect(page).not.toMatch(/hunter2|999990019|secret-zone|secret-kind/);
  });

  test('Allow grants the requested or the entered rate, and the page shows what was recorded', async () => {
    for (const [entered, allowedrate] of [
      ['', 120],
      [' 30 ', 30],
    ] as const) {
      const { callback, sink } = await offer(registry, tenant);
      const first = await (await submit(callback, { decision: 'allow', rate: entered })).text();
      const { expiresat } = await tenant.permission(sink);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true, basis: 'callback', allowedrate });
      expect(first).toContain('<h1>Consent given</h1>');
      expect(first).toContain('Respond to events with <code>410 Gone</code>');
      expect(first).toContain('<a href="mailto:webhooks@voorbeeld.example"');
      const again = await (await submit(callback, { decision: 'refuse' })).text();
      for (const page of [again, await open(callback)]) expect(page).toContain('This was decided earlier.');
      for (const page of [first, again, await open(callback)]) {
        expect(page).toContain(tenant.origin);
        expect(page).toContain(sink);
        expect(page).toContain(`at most ${allowedrate} requests per minute`);
        expect(page).toContain(`<time datetime="${expiresat}">`);
        expect(page).not.toContain('name="decision"');
      }
      expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
    }
  });

  test.each(['0', '1.5', 'many', '"><b>'])(
    'with the rate "%s" the page asks again, and nothing is decided',
    async (rate) => {
      const { callback, sink, id } = await offer(registry, tenant);
      const answer = await submit(callback, { decision: 'allow', rate });
      expect(answer.status).toBe(400);
      const page = await answer.text();
      expect(page).toContain(
        `aria-invalid="true" value="${rate.replace(/[">]|</g, (c) => ({ '"': '&quot;', '>': '&gt;' })[c] ?? '&lt;')}"`,
      );
      expect(page).toContain('Enter a whole number above 0');
      expect((await tenant.read(id)).status).toBe('pending');
      expect((await submit(callback, { decision: 'allow', rate: '5' })).status).toBe(200);
      expect(await tenant.permission(sink)).toMatchObject({ allowedrate: 5 });
    },
  );

  test('Refuse closes the handshake and is recorded, and the subscriber can start another one', async () => {
    const { callback, callbacks, sink, id, handshake } = await offer(registry, tenant);
    const refused = await (await submit(callback, { decision: 'refuse', rate: 'whatever' })).text();
    expect(refused).toContain('<h1>Consent refused</h1>');
    expect(await tenant.read(id)).toMatchObject({
      status: 'refused',
      statusdetails: { code: 'refused_by_owner', message: expect.any(String), advice: expect.any(String) },
    });
    expect((await tenant.handshakes(id))[0]).toMatchObject({ state: 'refused', verdict: 'refused_by_owner' });
    const { body } = await tenant.admin
      .get('/v1/audit')
      .query({ target: `subscription:${id}` })
      .expect(200);
    expect(body).toContainEqual(
      expect.objectContaining({
        actor: 'callback',
        action: 'handshake.refused',
        details: { handshake, origin: tenant.origin, sink, verdict: 'refused_by_owner' },
      }),
    );
    // A later decision, by a person or a program, does not count.
    for (const page of [await open(callback), await (await submit(callback, { decision: 'allow' })).text()]) {
      expect(page).toContain('This was decided earlier.');
    }
    expect((await fetch(callback, { method: 'POST' })).status).toBe(404);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false });

    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    expect((await tenant.read(id)).status).toBe('pending');
    expect((await submit(callbacks.at(-1) ?? '', { decision: 'allow' })).status).toBe(200);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  test('a refused renewal ends the consent; a refused handshake beside a consent does not', async () => {
    const { callback, callbacks, sink, id } = await offer(registry, tenant);
    await fetch(callback);
    await tenant.subscriber.post(`/v1/subscriptions/${id}/handshakes`).expect(201);
    const beside = callbacks.at(-1) ?? '';
    expect(await open(beside)).toContain('that consent stays as it is');
    expect(await (await submit(beside, { decision: 'refuse' })).text()).toContain(
      'An earlier consent stays valid until',
    );
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });

    const asked = callbacks.length;
    await registry.sql('update "grant" set renewat = now() where sink = $1', sink);
    await until(() => callbacks.length > asked);
    const renewal = callbacks.at(-1) ?? '';
    expect(await open(renewal)).toContain('the consent ends now');
    expect((await submit(renewal, { decision: 'refuse' })).status).toBe(200);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'ended' });
    expect((await tenant.changes(sink)).at(-1)).toBe('grant.ended');
  });

  test('it is in Dutch if the browser prefers that, also if the link is invalid', async () => {
    const { callback } = await offer(registry, tenant);
    const page = await open(callback, dutch);
    expect(page).toContain('<html lang="nl">');
    expect(page).toContain('hoogstens 120 verzoeken per minuut');
    expect(page).toContain('>Weigeren</button>');
    const given = await (await submit(callback, { decision: 'allow' }, dutch)).text();
    expect(given).toContain('<h1>Toestemming gegeven</h1>');
    expect(await (await submit(callback, { language: 'en' }, dutch)).text()).toContain('<h1>Consent was already given');
    expect(await open(`${callback}x`, dutch)).toContain('<h1>Deze link is ongeldig of verlopen.</h1>');
    expect(await open(callback, { ...browser, 'Accept-Language': 'fr' } as typeof browser)).toContain(
      '<html lang="en">',
    );
  });

  test('the other language is a button away, stays after a decision, and decides nothing', async () => {
    const { callback, id, sink } = await offer(registry, tenant);
    const before = await tenant.read(id);
    expect(await open(callback)).toContain('<button class="quiet" name="language" value="nl" lang="nl">Nederlands<');
    const chosen = await submit(callback, { language: 'nl' });
    const page = await chosen.text();
    expect([chosen.status, chosen.headers.get('content-language')]).toEqual([200, 'nl']);
    expect(page).toContain('>Weigeren</button>');
    expect(page).toContain('<input type="hidden" name="language" value="nl">');
    expect(page).not.toContain(keyOf(callback));
    expect(await tenant.read(id)).toEqual(before);
    expect((await submit(callback, { language: 'xx' })).status).toBe(400);
    expect(await (await submit(callback, { language: 'nl', decision: 'allow', rate: 'x' })).text()).toContain(
      'Vul een heel',
    );
    expect(await (await submit(callback, { language: 'nl', decision: 'allow' })).text()).toContain(
      'Toestemming gegeven',
    );
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true });
  });

  test('the address is a secret: no referrer, no caching, no frames, and all comes from this registry', async () => {
    const { callback } = await offer(registry, tenant);
    const answers = [
      await fetch(callback, { headers: browser }),
      await submit(callback, { decision: 'allow', rate: '0' }),
      await submit(callback, { decision: 'allow' }),
      await fetch(callback, { headers: { Accept: 'application/json' } }),
    ];
    for (const answer of answers) {
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toContain('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('vary')).toBe('Accept, Accept-Language');
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      const page = await answer.text();
      expect(page).not.toMatch(/<style|<script>| style=| on\w+=|https?:\/\/(?!localhost)/);
      if (!page.startsWith('<')) continue;
      expect(policy).toContain("form-action 'self'");
      expect(policy).toContain("style-src 'self'; img-src 'self'; font-src 'self'");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(page).toContain('<meta name="robots" content="noindex">');
      // A form needs a referrer, so that its Origin is known. It is the host alone.
      expect(page.match(/<meta name="referrer"[^>]*>/)?.[0] ?? '').toMatch(
        /^(?:<meta name="referrer" content="strict-origin">)?$/,
      );
      // What it loads is there, also below the path of a proxy.
      for (const [, address = ''] of page.matchAll(/<(?:link|script|img) [^>]*(?:href|src)="([^"]*)"/g)) {
        expect(address).toMatch(/^\.\.\/\.\.\/assets\//);
        expect((await fetch(new URL(address, callback))).status).toBe(200);
      }
    }
  });

  test('a sink cannot put markup into the page', async () => {
    const path = "/o'connor'onload='alert(1)&lt;b&gt;";
    const { callback } = await offer(registry, tenant, path);
    const page = await open(callback);
    expect(page).toContain('/o&#39;connor&#39;onload=&#39;alert(1)&amp;lt;b&amp;gt;');
    expect(page).not.toContain(path);
  });

  test('the query of a sink, which may hold a secret, is not shown', async () => {
    const { callback } = await offer(registry, tenant, '/page-query?code=hunter2');
    expect(await open(callback)).not.toContain('hunter2');
    expect(await (await submit(callback, { decision: 'allow' })).text()).not.toContain('hunter2');
  });
});

describe('a browser whose callback grants nothing', () => {
  test('gets a page that says why; programs get the problem', async () => {
    const { callback } = await offer(registry, tenant);
    const wrong = `${callback}x`;
    const page = await fetch(wrong, { headers: browser });
    expect(page.status).toBe(404);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toContain('Accept');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    );
    const text = await page.text();
    expect(text).toContain('<h1>This link is invalid or has expired.</h1>');
    expect(text).toContain('The subscriber can ask for consent again');
    expect(text).toContain(page.headers.get('x-request-id'));
    for (const accept of [
      '*/*',
      'application/json, text/plain, */*',
      'text/html;q=0, */*',
      'application/problem+json',
    ]) {
      const problem = await fetch(wrong, { headers: { Accept: accept } });
      expect(problem.headers.get('content-type')).toBe('application/problem+json');
      expect(problem.headers.get('vary')).toContain('Accept');
      expect(await problem.json()).toMatchObject({ code: 'callback_unknown' });
    }
  });

  test('gets a page that names the faulty parameter', async () => {
    const { callback } = await offer(registry, tenant);
    const page = await fetch(callback.replace(/\?.*/, ''), { headers: browser });
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('<dt>query/key</dt><dd>This parameter is required.</dd>');
  });

  test('gets no page at other URLs', async () => {
    const answer = await fetch(`${registry.url}/v1/subscriptions`, { headers: browser });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });
});

test('a key is in no log line, audit record, attempt, API response or database row', async () => {
  const { callback, id, handshake } = await offer(registry, tenant);
  const key = keyOf(callback);
  expect(key).toHaveLength(43);
  expect((await fetch(callback, { method: 'POST', headers: { 'WebHook-Allowed-Rate': 'x' } })).status).toBe(400);
  const inHeader = { 'WebHook-Allowed-Origin': `x ${key}`, 'WebHook-Allowed-Rate': '5' };
  expect((await fetch(callback, { method: 'POST', headers: inHeader })).status).toBe(400);
  expect((await fetch(`${callback}x`)).status).toBe(404);
  expect((await fetch(callback, { headers: { 'Sec-Purpose': 'prefetch' } })).status).toBe(409);
  const answers = [await open(callback)];
  answers.push(await (await submit(callback, { decision: 'allow' })).text(), await (await fetch(callback)).text());
  const problems = await fetch(`${callback}&another=1`);
  answers.push(await problems.text());
  answers.push(await (await fetch(`${callback}&key=1`, { headers: browser })).text());

  const shown = [
    await tenant.read(id),
    await tenant.handshakes(id),
    await tenant.handshakes(id, tenant.admin),
    (await tenant.admin.get('/v1/audit').expect(200)).body,
    (await tenant.admin.get('/v1/grants').expect(200)).body,
  ];
  const rows: unknown[] = [];
  for (const table of ['handshake', 'attempt', '"grant"', 'audit', 'change', 'subscription', 'idempotency']) {
    rows.push(await registry.sql(`select to_jsonb(row) as row from ${table} row`));
  }
  // A canary: the places that were searched do contain what they should.
  expect(JSON.stringify(rows)).toContain(handshake);
  expect(JSON.stringify(shown)).toContain('key=[secret]');
  expect(registry.logs.join()).toContain('decideCallback');
  for (const text of [...answers, JSON.stringify(shown), JSON.stringify(rows), registry.logs.join()]) {
    expect(text.includes(key)).toBe(false);
    expect(text.includes(Buffer.from(key).toString('hex'))).toBe(false);
  }
});

/** What consumers and webhook owners read. */
describe('in the language of Accept-Language', () => {
  let count = 0;

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
    const filled = withValues(advice, { origin: 'eventemitter.example.com' });
    const explained = { message: title[language], advice: filled[language] };
    const subscription = await read(`/v1/subscriptions/${id}`, accepted, language);
    expect(subscription.statusdetails).toMatchObject({ code: 'unsupported', ...explained });
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
      tolerated: [{ code: 'rate_above_requested', message: expect.stringMatching(/hoger dan het gevraagde tempo/) }],
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
      .send([{ origin: tenant.origin, sink, statuscode: 415 }])
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
      title: 'WebHook-Allowed-Rate is niet geldig.',
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
      ['nl', 'nl', 'Mag deze herkomst gebeurtenissen naar uw webhook sturen?'],
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
});
