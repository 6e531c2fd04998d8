import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { keyOf, offer } from '../support/offer.js';
import { startRegistry, type Registry } from '../support/registry.js';
import { createTenant, type Tenant } from '../support/tenant.js';

let registry: Registry;
let tenant: Tenant;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  tenant = await createTenant(registry);
});
afterAll(() => registry.stop());

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('what a person sees who opens the callback in a browser', () => {
  test('the page says who may send where, at what rate and until when, the second time too', async () => {
    const { callback, sink } = await offer(registry, tenant);
    const first = await fetch(callback, { headers: browser });
    expect(first.headers.get('content-type')).toContain('text/html');
    const { expiresat } = await tenant.permission(sink);
    for (const page of [await first.text(), await (await fetch(callback, { headers: browser })).text()]) {
      expect(page).toMatch(/<main>\n<h1>[^]*<\/main>/);
      expect(page).toContain(tenant.origin);
      expect(page).toContain(sink);
      expect(page).toContain('at most 120 a minute');
      expect(page).toContain(`<time datetime="${expiresat}">${new Date(expiresat).toUTCString()}</time>`);
    }
  });

  test('the address is a secret: no referrer, no caching, no frames, and nothing is loaded or run', async () => {
    const { callback } = await offer(registry, tenant);
    for (const headers of [browser, { Accept: 'application/json' }]) {
      const answer = await fetch(callback, { headers });
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toContain('no-store');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(await answer.text()).not.toMatch(/<script|<img|<link|<a |https?:\/\/(?!localhost)/);
    }
  });

  test('a sink cannot put markup into the page', async () => {
    const path = "/o'connor'onload='alert(1)&lt;b&gt;";
    const { callback } = await offer(registry, tenant, path);
    const page = await (await fetch(callback, { headers: browser })).text();
    expect(page).toContain('/o&#39;connor&#39;onload=&#39;alert(1)&amp;lt;b&amp;gt;');
    expect(page).not.toContain(path);
  });

  test('the query of a sink, which may hold a secret, is not shown', async () => {
    const { callback } = await offer(registry, tenant, '/page-query?code=hunter2');
    expect(await (await fetch(callback, { headers: browser })).text()).not.toContain('hunter2');
  });
});

describe('what a person sees whose callback grants nothing', () => {
  test('the page says why, and programs get the problem', async () => {
    const { callback } = await offer(registry, tenant);
    const wrong = `${callback}x`;
    const page = await fetch(wrong, { headers: browser });
    expect(page.status).toBe(404);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toContain('Accept');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    const text = await page.text();
    expect(text).toContain('<h1>This callback is not known, or no longer.</h1>');
    expect(text).toContain('Whoever subscribed can have it asked again.');
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

  test('a fault names its place', async () => {
    const { callback } = await offer(registry, tenant);
    const page = await fetch(callback.replace(/\?.*/, ''), { headers: browser });
    expect(page.status).toBe(400);
    expect(await page.text()).toContain('<dt>query/key</dt><dd>This member is required.</dd>');
  });

  test('other addresses have no page', async () => {
    const answer = await fetch(`${registry.url}/v1/subscriptions`, { headers: browser });
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });
});

test('a key stands in no log line, audit entry, attempt, API answer or row of the database', async () => {
  const { callback, id, handshake } = await offer(registry, tenant);
  const key = keyOf(callback);
  expect(key).toHaveLength(43);
  expect((await fetch(callback, { method: 'POST', headers: { 'WebHook-Allowed-Rate': 'x' } })).status).toBe(400);
  expect((await fetch(`${callback}x`)).status).toBe(404);
  expect((await fetch(callback, { headers: { 'Sec-Purpose': 'prefetch' } })).status).toBe(409);
  const answers = [await (await fetch(callback, { headers: browser })).text(), await (await fetch(callback)).text()];
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
  // What is looked through holds what it should hold: the canary could sing.
  expect(JSON.stringify(rows)).toContain(handshake);
  expect(JSON.stringify(shown)).toContain('key=[secret]');
  expect(registry.logs.join()).toContain('grantByPost');
  for (const text of [...answers, JSON.stringify(shown), JSON.stringify(rows), registry.logs.join()]) {
    expect(text.includes(key)).toBe(false);
    expect(text.includes(Buffer.from(key).toString('hex'))).toBe(false);
  }
});
