import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { linesFor, rateToSuggest, webhookSnippets } from '../../src/console/pages/subscriptions/webhook-snippets.js';
import { advise, publicVerdict, verdicts, type Verdict } from '../../src/consent/verdicts.js';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';
import { createGate } from '../support/gate.js';

const guide = readFileSync(new URL('../../docs/consumers/receive.md', import.meta.url), 'utf8');
const known = new Set(guide.split('\n').map((line) => line.replace(/ *(\/\/|#) who may send.*/, '').trim()));

describe('the lines to paste', () => {
  const subscription = { origin: 'sender.example.org', rate: 30, sink: 'https://a.example.com/in/box' };

  test.each(webhookSnippets.map(({ name, code }) => [name, code]))(
    'for %s have both headers, the origin, the rate and the path',
    (name, code) => {
      const lines = linesFor(code, subscription);
      for (const text of ['WebHook-Allowed-Origin', 'WebHook-Allowed-Rate', 'sender.example.org', '30']) {
        expect(lines).toContain(text);
      }
      expect(lines).not.toMatch(/eventemitter\.example\.com|120|\/events/);
      // Those of the guide run against a registry in test/interop/receivers.
      if (name === 'Java') return;
      for (const line of code.split('\n'))
        if (line !== '' && !/^(routes|var)/.test(line)) expect(known).toContain(line.trim());
    },
  );

  test.each([
    [30, '*', 30],
    [undefined, 12, 12],
    [undefined, '*', 60],
    [undefined, undefined, 60],
  ] as const)('have a number if %s was asked for and the default of the origin is %s', (asked, byDefault, rate) => {
    expect(rateToSuggest(asked, byDefault)).toBe(rate);
  });

  test('never have a path that could end a string', () => {
    const sink = "https://a.example.com/'-alert(1)-'";
    for (const { code } of webhookSnippets) expect(linesFor(code, { ...subscription, sink })).not.toContain('alert');
  });
});

inBrowser('subscriptions in the console', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
  });
  afterAll(() => stage?.stop());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const status = (page: Page, text: string) =>
    page.locator('.note .badge', { hasText: new RegExp(`^${text}$`) }).waitFor();
  const sinkOf = (path: string) => stage.registry.receiver.sink(path);

  test('a consumer registers, sees the refusal and the lines to paste, mends the webhook, asks again and is active', async () => {
    const { receiver } = stage.registry;
    receiver.consent('/mend', { origin: 'other.example.com' });
    const { page, check } = await stage.open(['assent:subscribe'], '#/register');
    await page.getByLabel('Sink', { exact: true }).fill('http://a.example.com');
    await page.waitForSelector('text=The URL must start with https://.');
    for (const text of ['http://a.example.com', '']) {
      await page.getByLabel('Sink', { exact: true }).fill(text);
      await button(page, 'Register and ask the webhook').click();
      await page.waitForSelector('.problem >> text=Nothing was sent.');
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Sink');
    }
    await page.waitForSelector('.faults >> text=Fill in: Sink.');
    await page.getByLabel('Sink', { exact: true }).fill(sinkOf('/mend'));
    await page.getByLabel('Filters (optional)').fill('[\n  {"prefix": {"type": ""}}\n]');
    await page.waitForSelector('.faults code:has-text("/filters/0/prefix/type")');
    await button(page, 'Go to line 2').click();
    const selected =
      'const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd)';
    expect(await page.evaluate(`(() => { ${selected} })()`)).toBe('""');
    await page.getByLabel('Filters (optional)').fill('[{"prefix": {"type": "com."}}]');
    await page.waitForSelector('text=This event matches.');
    await page.getByLabel('Filters (optional)').fill('[{"prefix": {"type": "nl."}}]');
    await page.waitForSelector('text=This event does not match.');
    await page.waitForSelector('.checker code:has-text("/filters/0/prefix/type")');
    await expectAccessible(page);
    await page.getByLabel('Type of credential').selectOption('PLAIN');
    await button(page, 'Register and ask the webhook').click();
    await page.waitForSelector('text=/sinkcredential|required/i');
    await page.getByLabel('Name', { exact: true }).fill('assent');
    await page.getByLabel('Secret', { exact: true }).fill('one');
    await button(page, 'Register and ask the webhook').click();
    await status(page, 'refused');
    await page.waitForSelector('.note >> text=other.example.com');
    await page.waitForSelector('.line:has-text("WebHook-Allowed-Origin: other.example.com")');
    await page.getByLabel('Your framework').selectOption('Fastify');
    await page.waitForSelector(`pre[aria-label="Fastify"]:has-text("${stage.tenant.origin}")`);
    expect(await page.textContent('pre[aria-label="Fastify"]')).toContain("app.options('/mend'");
    receiver.consent('/mend');
    await button(page, 'Ask the webhook again').click();
    await status(page, 'active');
    await page.getByRole('link', { name: 'Open the subscription' }).click();
    await page.waitForSelector('h2:has-text("Facts")');
    expect(await page.locator('.timeline > li').count()).toBe(2);
    // Consumers do not see what could make the registry a port scanner.
    expect(await page.locator('.timeline').textContent()).not.toContain('Address: ');
    expect(await page.locator('.line:has-text("HTTP/1.1 2")').count()).toBe(0);
    await check();
  });

  test('a newcomer is three clicks from the landing page when the reason and the lines are there', async () => {
    const { registry, tenant } = stage;
    registry.receiver.on('/silent', (_request, response) => response.writeHead(204, { Allow: 'POST' }).end());
    await tenant.register(sinkOf('/silent'));
    const { page, check } = await stage.open(['assent:subscribe'], '#/');
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.getByRole('link', { name: sinkOf('/silent') }).click();
    await status(page, 'pending');
    await page.waitForSelector('.note >> text=WebHook-Allowed-Origin');
    expect(await page.getByLabel('Your framework').isVisible()).toBe(true);
    await check();
  });

  test('an admin sees the exchange as it went over the wire, and takes it along as curl', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/wire');
    const { id } = await tenant.register(`${sinkOf('/wire')}?a=b`);
    const { page, check } = await stage.open(['assent:admin'], `#/subscriptions/${id}`);
    await page.waitForSelector('.line:has-text("OPTIONS /wire?a=b HTTP/1.1")');
    await page.waitForSelector(`.line:has-text("WebHook-Request-Origin: ${tenant.origin}")`);
    await page.waitForSelector('.line:has-text("HTTP/1.1 200")');
    await page.waitForSelector('text=Address: 127.0.0.1');
    await page.getByText('As curl').click();
    expect(await page.textContent('pre[aria-label="As curl"]')).toContain("curl -i -X OPTIONS 'https://");
    await expectAccessible(page);
    await check();
  });

  test('the owner of a subscription suspends, resumes, edits, rotates the credential and deletes', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/manage');
    const { id } = await tenant.register(sinkOf('/manage'), {
      types: ['com.example.a'],
      sinkcredential: { credentialtype: 'PLAIN', identifier: 'a', secret: 'one' },
    });
    const { page, check } = await stage.open(['assent:subscribe'], `#/subscriptions/${id}`);
    await status(page, 'active');
    // Reads have to wait, so that only the responses to its own changes tell the page its version.
    const reads = createGate();
    await page.route(`**/v1/subscriptions/${id}`, async (route, request) => {
      if (request.method() === 'GET') await reads.opened;
      await route.continue();
    });
    await button(page, 'Suspend').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('dialog').getByText('Fill in: Reason.').waitFor();
    await page.keyboard.type('Maintenance');
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await status(page, 'suspended');
    await page.waitForSelector('.facts >> text=Maintenance');
    // The button that opened the dialog is gone, so the focus is at the status.
    await page.waitForSelector('.note[aria-label="Status"]:focus');
    await button(page, 'Resume').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await status(page, 'active');

    await button(page, 'Change the credential').click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('a');
    await page.getByRole('dialog').getByLabel('Secret', { exact: true }).fill('two');
    await page.getByRole('dialog').getByRole('button', { name: 'Change the credential' }).click();
    await page.waitForSelector('.facts >> text=the previous one works until');
    reads.open();
    await page.unrouteAll({ behavior: 'wait' });

    await button(page, 'Edit').click();
    await page.getByLabel('Types (optional)').fill('com.example.b\ncom.example.c');
    await page.getByLabel('Subject (optional)').fill('7');
    await page.evaluate(`location.hash = '#/feed'`);
    await page.getByRole('heading', { name: 'Live feed' }).waitFor();
    await page.goBack();
    await button(page, 'Save').waitFor();
    expect(await page.getByLabel('Subject (optional)').inputValue()).toBe('7');
    await expectAccessible(page);
    await button(page, 'Save').click();
    await page.waitForSelector('.facts >> text=com.example.c');
    expect(await tenant.read(id)).toMatchObject({ types: ['com.example.b', 'com.example.c'], subject: '7' });

    await button(page, 'Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForSelector('h1:has-text("Subscriptions")');
    await tenant.subscriber.get(`/v1/subscriptions/${id}`).expect(404);
    await check();
  });

  test('the second of two people who edit one subscription overwrites nothing, and keeps what they typed', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/two');
    const { id } = await tenant.register(sinkOf('/two'), { subject: 'old' });
    const [one, other] = [
      await stage.open(['assent:subscribe'], `#/subscriptions/${id}`),
      await stage.open(['assent:admin'], `#/subscriptions/${id}`),
    ];
    for (const { page } of [one, other]) await button(page, 'Edit').click();
    // What touches nothing that was typed is taken over.
    await other.page.getByLabel('Subject (optional)').fill('second');
    await one.page.getByLabel('Types (optional)').fill('com.example.any');
    await button(one.page, 'Save').click();
    await other.page.waitForSelector('.facts >> text=com.example.any');
    expect(await other.page.getByLabel('Types (optional)').inputValue()).toBe('com.example.any');
    await button(one.page, 'Edit').click();
    await one.page.getByLabel('Subject (optional)').fill('first');
    await one.page.getByLabel('Types (optional)').fill('com.example.first');
    await button(one.page, 'Save').click();
    await one.page.waitForSelector('.facts >> text=com.example.first');
    await button(other.page, 'Save').click();
    await other.page.waitForSelector('.problem >> text=Your change was not saved.');
    expect((await tenant.read(id)).subject).toBe('first');
    await other.page.waitForSelector('text=Stored now: first');
    expect(await other.page.getByLabel('Subject (optional)').inputValue()).toBe('second');
    expect(await other.page.getByLabel('Types (optional)').inputValue()).toBe('com.example.first');
    await button(other.page, 'Use the present version and save').click();
    await other.page.waitForSelector('.facts >> text=second');
    expect(await tenant.read(id)).toMatchObject({ subject: 'second', types: ['com.example.first'] });
    await one.check();
    await other.check();
  });

  test('a registration whose response got lost is repeated without a second subscription, and nothing is typed again', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/lost');
    const { page, check } = await stage.open(['assent:subscribe'], '#/register');
    await page.getByLabel('Sink', { exact: true }).fill(sinkOf('/lost'));
    await page.route(
      '**/v1/subscriptions',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await button(page, 'Register and ask the webhook').click();
    await page.waitForSelector('.problem >> text=The registry did not respond.');
    expect(await page.getByLabel('Sink', { exact: true }).inputValue()).toBe(sinkOf('/lost'));
    await button(page, 'Register and ask the webhook').click();
    await status(page, 'active');
    const { body } = await tenant.subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/lost') });
    expect(body).toHaveLength(1);
    await check();
  });

  test('whatever the verdict, the reader sees who fixes it and how, and the lines to paste only if headers are at fault', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/verdicts', { origin: 'other.example.com' });
    const { id } = await tenant.register(sinkOf('/verdicts'));
    const labels = {
      headers: 'What to change in the response to OPTIONS:',
      webhook: 'What to change in the webhook:',
      network: 'What to change in DNS or the network:',
      nobody: 'What to change',
    };
    const refusing = Object.entries(verdicts).filter(([, { outcome }]) => outcome !== 'granted');
    const { page } = await stage.open(['assent:subscribe'], `#/subscriptions/${id}`);
    await status(page, 'refused');
    for (const [verdict, { advice, fixedBy }] of refusing) {
      await registry.sql('update handshake set verdict = $2 where subscription = $1::uuid', id, verdict);
      // Another page and back: a reload would lose the token.
      await page.evaluate("location.hash = '#/origins'");
      await page.locator('.note').waitFor({ state: 'detached' });
      await page.evaluate(`location.hash = '#/subscriptions/${id}'`);
      await status(page, 'refused');
      const note = await page.locator('.note').innerText();
      const shown = advise(publicVerdict(verdict as Verdict), { origin: tenant.origin }, 'en');
      expect([verdict, note.includes(labels[fixedBy])]).toEqual([verdict, advice !== undefined]);
      expect([verdict, note]).toEqual([verdict, expect.stringContaining((shown ?? '').slice(0, 30))]);
      const areOpen = await page.locator('details[open]', { hasText: 'Code for your webhook' }).count();
      expect([verdict, areOpen]).toEqual([verdict, fixedBy === 'headers' ? 1 : 0]);
    }
  });

  test('what an admin suspended, only an admin is offered to resume', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/halted');
    const { id } = await tenant.register(sinkOf('/halted'));
    await tenant.admin.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Too fast.' }).expect(200);
    for (const [scope, offered] of [
      ['assent:subscribe', 0],
      ['assent:admin', 1],
    ] as const) {
      const { page, check } = await stage.open([scope], `#/subscriptions/${id}`);
      await status(page, 'suspended');
      await page.waitForSelector('.note >> text=Too fast.');
      expect(await button(page, 'Resume').count()).toBe(offered);
      await check();
    }
  });

  test('markup, right-to-left marks and long values from consumers and webhooks are shown as text', async () => {
    const { registry, tenant } = stage;
    const markup = '<img src=x onerror=alert(1)>';
    registry.receiver.on('/hostile', (_request, response) => {
      response.writeHead(403, { 'WebHook-Allowed-Origin': markup, 'WebHook-Allowed-Rate': 'x'.repeat(2_000) }).end();
    });
    const { id } = await tenant.register(`${sinkOf('/hostile')}?q=${'a'.repeat(1_500)}`, {
      subject: `${markup}\u202E`,
      types: [markup, 'w'.repeat(1_000)],
      filters: [{ exact: { subject: `${markup}\u202E` } }],
      config: { text: markup },
    });
    const { page, check } = await stage.open(['assent:admin'], `#/subscriptions/${id}`);
    await page.waitForSelector('.note >> text=<img src=x');
    await page.waitForSelector('.line >> text=<img src=x');
    await page.waitForSelector('.facts >> text=<img src=x');
    expect(await page.locator('main img').count()).toBe(0);
    await expectAccessible(page);
    await button(page, 'Edit').click();
    await page.getByRole('link', { name: 'All subscriptions' }).click();
    await page.waitForSelector('td >> text=<img src=x');
    await check();
  });

  test('the list is live: a row changes in its place, new ones appear, and filters are in the address', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/live');
    const { id } = await tenant.register(sinkOf('/live'));
    const { page, check } = await stage.open(['assent:admin'], '#/subscriptions?status=active');
    const row = page.locator('tr', { has: page.locator(`a[href="#/subscriptions/${id}"]`) });
    await row.waitFor();
    expect(await page.getByLabel('Status', { exact: true }).inputValue()).toBe('active');
    await page.waitForSelector('.connection.live');
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Later.' }).expect(200);
    await row.locator('.badge', { hasText: 'suspended' }).waitFor();
    registry.receiver.consent('/newcomer');
    const { id: newcomer } = await tenant.register(sinkOf('/newcomer'));
    await page.waitForSelector(`a[href="#/subscriptions/${newcomer}"]`);
    await page.getByLabel('Status', { exact: true }).selectOption('suspended');
    await page.locator(`a[href="#/subscriptions/${newcomer}"]`).waitFor({ state: 'detached' });
    expect(page.url()).toContain('?status=suspended');
    await check();
  });

  test('of 10,000 subscriptions all are found by host, by part of the sink and by subscriber, and few are drawn', async () => {
    await stage.registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
       select gen_random_uuid(), 'gemeente', 'crowd' || n % 4, 'eventemitter.example.com',
         'https://h' || n % 100 || '.example.com/path-' || n, 'HTTP'
       from generate_series(1, 10000) n`,
    );
    const { page, check } = await stage.open(['assent:admin'], '#/subscriptions?host=h7.example.com');
    await page.waitForSelector('text=100 of 100 subscriptions.');
    await button(page, 'Clear').click();
    await page.waitForSelector('text=/^10,000 of 10,000\\+ subscriptions/');
    expect(await page.locator('tbody tr').count()).toBeLessThan(100);
    await expectAccessible(page);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.waitForSelector('tr[aria-rowindex="10001"]');
    await page.evaluate('scrollTo(0, 0)');
    await page.getByLabel('Part of the sink').fill('/path-777');
    // At once, of what is loaded; then by the registry.
    await page.waitForSelector('text=/^11 (shown of|of 11)/');
    await page.waitForSelector('text=11 of 11 subscriptions.');
    expect(page.url()).toContain('sinkcontains=%2Fpath-777');
    await page.getByLabel('Subscriber').fill('crowd1');
    await page.getByLabel('Subscriber').press('Enter');
    await page.waitForSelector('text=/^([1-9]) of \\1 subscriptions/');
    await check();
  });
});
