import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { linesFor, rateToSuggest, webhookSnippets } from '../../src/console/pages/subscriptions/webhook-snippets.js';
import { advise, verdicts } from '../../src/consent/verdicts.js';
import { expectAccessible, inBrowser, type Look, looks } from '../support/browser.js';
import { startConsole, type ConsoleStage, type Opened } from '../support/console.js';
import { createGate } from '../support/gate.js';
import { until } from '../support/until.js';

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
  /** Each is one page, which goes from place to place as a user would. */
  let consumer: Opened;
  let admin: Opened;
  beforeAll(async () => {
    stage = await startConsole();
    [consumer, admin] = await Promise.all([
      stage.open(['assent:subscribe'], '#/subscriptions'),
      stage.open(['assent:admin'], '#/subscriptions'),
    ]);
  });
  afterAll(async () => {
    await consumer?.check();
    await admin?.check();
    await stage?.stop();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const status = (page: Page, text: string) => page.locator('.title .badge', { hasText: text }).waitFor();
  const sinkOf = (path: string) => stage.registry.receiver.sink(path);
  const go = (page: Page, place: string) => page.evaluate(`location.hash = ${JSON.stringify(place)}`);
  const goTo = async (opened: Opened, id: string, tab?: string) => {
    await go(opened.page, `#/subscriptions/${id}${tab === undefined ? '' : `?tab=${tab}`}`);
    return opened.page;
  };
  const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
  const dialogButton = (page: Page, name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true });
  const fromMenu = async (page: Page, name: string) => {
    await button(page, 'Actions').click();
    await button(page, name).click();
  };
  const accessible = async (page: Page, of: readonly Look[] = looks) => {
    await expectAccessible(page, of);
    await page.emulateMedia({ colorScheme: looks[0].colorScheme });
    await page.setViewportSize(looks[0].viewport);
  };
  const addType = async (page: Page, type: string) => {
    await field(page, 'Types').fill(type);
    await field(page, 'Types').press('Enter');
  };
  /** Registering begins with an empty form. */
  const startRegistering = async (page: Page) => {
    await go(page, '#/origins');
    await page.getByRole('heading', { name: 'Origins' }).waitFor();
    await page.evaluate(
      `Object.keys(sessionStorage).filter((key) => key.includes('draft')).forEach((key) => sessionStorage.removeItem(key))`,
    );
    await go(page, '#/register');
    await field(page, 'Sink').waitFor();
  };

  test('a consumer registers, sees the refusal and the lines to paste, mends the webhook, asks again and is active', async () => {
    const { receiver } = stage.registry;
    receiver.consent('/mend', { origin: 'other.example.com' });
    const { page } = consumer;
    await startRegistering(page);
    await field(page, 'Sink').fill('http://a.example.com');
    await page.getByText('The URL must start with https://.').waitFor();
    for (const text of ['http://a.example.com', '']) {
      await field(page, 'Sink').fill(text);
      await button(page, 'Register').click();
      await page.locator('.problem', { hasText: 'Nothing was sent.' }).waitFor();
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Sink');
    }
    await page.locator('.faults', { hasText: 'Fill in: Sink.' }).waitFor();
    // What the registry says of it, before it asks anyone.
    await field(page, 'Sink').fill('https://localhost:1/x');
    await page.locator('.faults', { hasText: 'port' }).waitFor();
    await field(page, 'Sink').fill(sinkOf('/mend'));
    await page.getByText('Assent can ask this webhook.').waitFor();
    await field(page, 'Credential').selectOption('PLAIN');
    await button(page, 'Register').click();
    await page.locator('.faults', { hasText: 'Fill in: Secret.' }).waitFor();
    await field(page, 'Name').fill('assent');
    // A secret that was made is there to be copied; one that is typed is hidden.
    await button(page, 'Generate').click();
    expect(await field(page, 'Secret').inputValue()).toMatch(/^[\w-]{43}$/);
    await button(page, 'Show: Secret').click();
    expect(await field(page, 'Secret').getAttribute('class')).toBe('secret');
    await button(page, 'Register').click();
    await status(page, 'refused');
    await page.locator('.note', { hasText: 'other.example.com' }).waitFor();
    await page.locator('mark', { hasText: 'other.example.com' }).waitFor();
    await page.getByLabel('Your framework').selectOption('Fastify');
    await page.waitForSelector(`pre[aria-label="Fastify"]:has-text("${stage.tenant.origin}")`);
    expect(await page.textContent('pre[aria-label="Fastify"]')).toContain("app.options('/mend'");
    receiver.consent('/mend');
    await button(page, 'Ask again').click();
    await status(page, 'active');
    await page.getByRole('link', { name: 'Open the subscription' }).click();
    await page.getByRole('heading', { name: 'Facts' }).waitFor();
    // Consumers do not see what could make the registry a port scanner.
    const timeline = (await page.locator('.timeline').textContent()) ?? '';
    expect(timeline).toContain('WebHook-Allowed-Origin');
    expect(timeline).not.toMatch(/Address: |HTTP\/1\.1 2/);
  });

  test('before anything is stored, a consumer sees which events match and why not, and what the webhook would say', async () => {
    const { receiver } = stage.registry;
    receiver.consent('/before', { rate: '100' });
    const { page } = consumer;
    await startRegistering(page);
    await field(page, 'Sink').fill(sinkOf('/before'));
    await addType(page, 'com.example.order.created');
    const conditions = page.getByRole('group', { name: /^Condition/ });
    for (const [place, [attribute, operator, value]] of [
      ['subject', 'begins with', 'orders/'],
      ['region', 'is', 'eu-west'],
    ].entries()) {
      await button(page, '+ Condition').click();
      const row = conditions.nth(place);
      await row.getByLabel('Attribute').fill(attribute!);
      await row.getByLabel('Operator').selectOption(operator!);
      await row.getByLabel('Value').fill(value!);
    }
    // The event is made from the form until the user changes it.
    await page.locator('.badge', { hasText: /^matches$/ }).waitFor();
    const event = field(page, 'Event');
    await event.fill((await event.inputValue()).replace('eu-west', 'eu-north'));
    await page.locator('.badge', { hasText: 'does not match' }).waitFor();
    expect(await page.locator('.verdicts li').allInnerTexts()).toEqual([
      expect.stringMatching(/^Yes:\s+type is com\.example\.order\.created$/),
      expect.stringMatching(/^Yes:\s+subject begins with orders\/$/),
      expect.stringMatching(/^No:\s+region is eu-west$/),
    ]);
    expect(await page.locator('aside .marked mark').allTextContents()).toEqual(['"eu-north"']);
    await button(page, 'Ask').click();
    await page.locator('aside .badge', { hasText: 'active' }).waitFor();
    await page.getByText('It would be active at 100 requests per minute.').waitFor();
    await page.locator('aside .line', { hasText: 'WebHook-Allowed-Rate: 100' }).waitFor();
    await accessible(page);
    const { body } = await stage.tenant.subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/before') });
    expect(body).toEqual([]);

    // The same as JSON, with what has no row; nothing is lost on the way back.
    await button(page, 'Edit as JSON').click();
    const json = field(page, 'Further conditions');
    expect(JSON.parse(await json.inputValue())).toEqual([
      { prefix: { subject: 'orders/' } },
      { exact: { region: 'eu-west' } },
    ]);
    await json.fill('[\n  {"prefix": {"type": ""}},\n  {"not": {"not": {"exact": {"a": "b"}}}}\n]');
    await button(page, 'Go to line 2').click();
    const selected =
      'const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd)';
    expect(await page.evaluate(`(() => { ${selected} })()`)).toBe('""');
    await button(page, 'Edit as conditions').click();
    await conditions.nth(0).getByLabel('Value').fill('com.');
    await page.locator('.verdicts li').nth(1).waitFor();
    await button(page, 'Register').click();
    await status(page, 'active');
    const { body: stored } = await stage.tenant.subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/before') });
    expect(stored).toMatchObject([
      {
        types: ['com.example.order.created'],
        filters: [{ prefix: { type: 'com.' } }, { not: { not: { exact: { a: 'b' } } } }],
      },
    ]);
  });

  test('a newcomer is three clicks from the landing page when the reason and the lines are there', async () => {
    const { registry, tenant } = stage;
    registry.receiver.on('/silent', (_request, response) => response.writeHead(204, { Allow: 'POST' }).end());
    const { id } = await tenant.register(sinkOf('/silent'));
    // The first click is the link that signs in.
    const { page } = consumer;
    await go(page, '#/');
    await page.getByRole('link', { name: 'Subscriptions' }).first().click();
    await page.locator(`a[href="#/subscriptions/${id}"]`).click();
    await status(page, 'pending');
    await page.locator('.note', { hasText: 'WebHook-Allowed-Origin' }).waitFor();
    expect(await page.getByLabel('Your framework').isVisible()).toBe(true);
  });

  test('an admin sees the exchange as it went over the wire, and takes it along as curl', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/wire');
    const { id } = await tenant.register(`${sinkOf('/wire')}?a=b`);
    const page = await goTo(admin, id);
    await page.locator('.line', { hasText: 'OPTIONS /wire?a=b HTTP/1.1' }).waitFor();
    await page.locator('.line', { hasText: `WebHook-Request-Origin: ${tenant.origin}` }).waitFor();
    await page.locator('.line', { hasText: 'HTTP/1.1 200' }).waitFor();
    await page.getByText('Address: 127.0.0.1').waitFor();
    await page.getByText('As curl').click();
    expect(await page.textContent('pre[aria-label="As curl"]')).toContain("curl -i -X OPTIONS 'https://");
  });

  test('the owner of a subscription suspends, resumes, edits, rotates the credential and deletes', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/manage');
    const { id } = await tenant.register(sinkOf('/manage'), {
      types: ['com.example.a'],
      sinkcredential: { credentialtype: 'PLAIN', identifier: 'a', secret: 'one' },
    });
    const page = await goTo(consumer, id);
    await status(page, 'active');
    // Reads have to wait, so that only the responses to its own changes tell the page its version.
    const reads = createGate();
    await page.route(`**/v1/subscriptions/${id}`, async (route, request) => {
      if (request.method() === 'GET') await reads.opened;
      await route.continue();
    });
    await fromMenu(page, 'Suspend');
    await dialogButton(page, 'Suspend').click();
    await page.getByRole('dialog').getByText('Fill in: Reason.').waitFor();
    await page.keyboard.type('Maintenance');
    await accessible(page);
    await dialogButton(page, 'Suspend').click();
    await status(page, 'suspended');
    await page.locator('.facts', { hasText: 'Maintenance' }).waitFor();
    await button(page, 'Resume').click();
    await dialogButton(page, 'Resume').click();
    await status(page, 'active');
    // The button that opened the dialog is gone, so the focus is at the status.
    await page.waitForSelector('[data-status]:focus');

    await fromMenu(page, 'Change the credential');
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('a');
    await page.getByRole('dialog').getByLabel('Secret', { exact: true }).fill('two');
    await field(page, 'The present one stays valid for').selectOption('1 week');
    await dialogButton(page, 'Change the credential').click();
    await page.locator('.facts', { hasText: 'the previous one works until' }).waitFor();
    const { until } = (await tenant.read(id)).sinkcredential.previous;
    expect(Date.parse(until) - Date.now()).toBeGreaterThan(6 * 86_400_000);
    reads.open();
    await page.unrouteAll({ behavior: 'wait' });

    await page.getByRole('link', { name: 'Edit' }).click();
    await button(page, 'Remove com.example.a').click();
    await addType(page, 'com.example.b');
    await field(page, 'Types').fill('com.example.c,');
    await field(page, 'Subject').fill('7');
    await go(page, '#/origins');
    await page.getByRole('heading', { name: 'Origins' }).waitFor();
    await page.goBack();
    await button(page, 'Save').waitFor();
    expect(await field(page, 'Subject').inputValue()).toBe('7');
    await accessible(page);
    await button(page, 'Save').click();
    await page.getByText('The subscription is changed.').waitFor();
    expect(await tenant.read(id)).toMatchObject({ types: ['com.example.b', 'com.example.c'], subject: '7' });

    await fromMenu(page, 'Delete');
    await dialogButton(page, 'Delete').click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    await tenant.subscriber.get(`/v1/subscriptions/${id}`).expect(404);
  });

  test('the second of two people who edit one subscription overwrites nothing, and keeps what they typed', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/two');
    const { id } = await tenant.register(sinkOf('/two'), { subject: 'old' });
    const [one, other] = await Promise.all([goTo(consumer, id, 'settings'), goTo(admin, id, 'settings')]);
    // What touches nothing that was typed is taken over.
    await field(other, 'Subject').fill('second');
    await addType(one, 'com.example.any');
    await button(one, 'Save').click();
    await button(other, 'Remove com.example.any').waitFor();
    await field(one, 'Subject').fill('first');
    await addType(one, 'com.example.first');
    await button(one, 'Save').click();
    await until(async () => (await tenant.read(id)).subject === 'first');
    await button(other, 'Save').click();
    await other.locator('.problem', { hasText: 'Your change was not saved.' }).waitFor();
    expect((await tenant.read(id)).subject).toBe('first');
    await other.getByText('Stored now: first').waitFor();
    expect(await field(other, 'Subject').inputValue()).toBe('second');
    await button(other, 'Remove com.example.first').waitFor();
    await button(other, 'Use the present version and save').click();
    await other.getByText('The subscription is changed.').waitFor();
    const types = ['com.example.any', 'com.example.first'];
    expect(await tenant.read(id)).toMatchObject({ subject: 'second', types });
    await button(other, 'Save').waitFor();
  });

  test('a registration whose response got lost is repeated without a second subscription, nothing is typed again, and a signing secret that nobody saw is said to be lost', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/lost');
    const { page } = consumer;
    await startRegistering(page);
    await field(page, 'Sink').fill(sinkOf('/lost'));
    await page.getByText('Assent can ask this webhook.').waitFor();
    await page.getByLabel('Sign deliveries with a secret').check();
    await page.route(
      '**/v1/subscriptions',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await button(page, 'Register').click();
    await page.locator('.problem', { hasText: 'The registry did not respond.' }).waitFor();
    expect(await field(page, 'Sink').inputValue()).toBe(sinkOf('/lost'));
    await button(page, 'Register').click();
    await status(page, 'active');
    const { body } = await tenant.subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/lost') });
    expect(body).toHaveLength(1);
    await page.getByText('A signing secret was made, but its response was lost').waitFor();
    await page.getByRole('link', { name: 'Change the signing secret' }).click();
    await page.waitForSelector('h1');
    await button(page, 'Change the signing secret').click();
    await page.route(
      `**/v1/subscriptions/${body[0].id}`,
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await dialogButton(page, 'Change the signing secret').click();
    await page.locator('.problem', { hasText: 'The registry did not respond.' }).waitFor();
    await dialogButton(page, 'Change the signing secret').click();
    await page.getByText('The signing secret was changed after you opened this').waitFor();
    // Pressing it again makes no third one.
    expect(await field(page, 'Secret').inputValue()).toBe('');
    await dialogButton(page, 'Cancel').click();
  });

  test('a signing secret is made at registration and shown once, then replaced with an overlap that ends when the owner says so', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/signed');
    const { page } = consumer;
    const made = page.getByRole('region', { name: 'Signing secret' }).locator('pre');
    await startRegistering(page);
    await field(page, 'Sink').fill(sinkOf('/signed'));
    await page.getByLabel('Sign deliveries with a secret').check();
    await button(page, 'Register').click();
    await status(page, 'active');
    const first = await made.innerText();
    expect(first).toMatch(/^whsec_[\w+/]{43}=$/);
    await accessible(page, looks.slice(0, 1));
    await page.getByRole('link', { name: 'Open the subscription' }).click();
    await page.locator('.facts', { hasText: 'Signing secret' }).waitFor();
    expect(await page.content()).not.toContain(first);

    await page.getByRole('link', { name: 'Settings' }).click();
    await button(page, 'Change the signing secret').click();
    await field(page, 'The present one stays valid for').selectOption('1 day');
    await accessible(page);
    await dialogButton(page, 'Change the signing secret').click();
    expect(await made.innerText()).toMatch(/^whsec_/);
    expect(await made.innerText()).not.toBe(first);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await button(page, 'I have copied it').click();
    await page.getByText('the previous one works until').waitFor();
    const [{ id }] = (await tenant.subscriber.get('/v1/subscriptions').query({ sink: sinkOf('/signed') })).body;
    const { until: end } = (await tenant.read(id)).signingsecret.previous;
    expect(Date.parse(end) - Date.now()).toBeGreaterThan(86_000_000);

    await button(page, 'Change the signing secret').click();
    await button(page, 'End the overlap now').click();
    await page.getByText('The previous signing secret has ended.').waitFor();
    expect((await tenant.read(id)).signingsecret.previous).toBeUndefined();

    await button(page, 'Change the signing secret').click();
    await page.getByText('Enter one').click();
    await field(page, 'Secret').fill('whsec_short');
    await dialogButton(page, 'Change the signing secret').click();
    await page.locator('dialog input[aria-invalid]').waitFor();
    await field(page, 'Secret').fill(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
    await dialogButton(page, 'Change the signing secret').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button(page, 'Change the signing secret').click();
    await button(page, 'Remove the signing secret').click();
    await page.getByText('The signing secret is removed.').waitFor();
    expect((await tenant.read(id)).signingsecret).toBeUndefined();
  });

  test('a draft is stored, and its webhook is not asked', async () => {
    const { page } = consumer;
    await startRegistering(page);
    await field(page, 'Sink').fill(sinkOf('/draft'));
    await button(page, 'Save as draft').click();
    await status(page, 'suspended');
    expect(stage.registry.receiver.asked.filter(({ path }) => path === '/draft')).toEqual([]);
  });

  test('a subscriber turns notices about a subscription on and off in its settings', async () => {
    const { registry, tenant } = stage;
    await tenant.admin.post('/v1/origins').send({ name: 'notices.example.org', notices: true }).expect(201);
    registry.receiver.consent('/noticed');
    registry.receiver.consent('/notices', { origin: 'notices.example.org' });
    const { id } = await tenant.register(sinkOf('/noticed'));
    const page = await goTo(consumer, `${id}?tab=settings`);
    await field(page, 'Webhook for the notices').fill(sinkOf('/notices'));
    await button(page, 'Turn on').click();
    await page.locator('.notices .badge', { hasText: 'active' }).waitFor();
    const noticed = async () =>
      (await tenant.subscriber.get(`/v1/subscriptions?subject=${id}`).expect(200)).body.length;
    expect(await noticed()).toBe(1);
    await button(page, 'Turn off').click();
    await button(page, 'Turn on').waitFor();
    expect(await noticed()).toBe(0);
  });

  // One for each kind: the sentences are the registry's.
  test.each(['origin_mismatch', 'refused_by_owner', 'name_not_public', 'aborted'] as const)(
    'after %s the reader sees what to change, if anything, and the lines to paste only if headers are at fault',
    async (verdict) => {
      const { registry, tenant } = stage;
      const path = `/verdict-${verdict}`;
      registry.receiver.consent(path, { origin: 'other.example.com' });
      const { id } = await tenant.register(sinkOf(path));
      await registry.sql('update handshake set verdict = $2 where subscription = $1::uuid', id, verdict);
      const page = await goTo(consumer, id);
      await page.locator('h1', { hasText: path }).waitFor();
      await status(page, 'refused');
      const note = await page.locator('.note').innerText();
      const shown = advise(verdict, { origin: tenant.origin }, 'en');
      // Where nobody can change anything, the message stands alone.
      if (shown === undefined) expect(await page.locator('.note p').first().locator('bdi').count()).toBe(1);
      else expect(note).toContain(shown.slice(0, 30));
      const isOfHeaders = verdicts[verdict].fixedBy === 'headers';
      expect(note.includes(`WebHook-Allowed-Origin: ${tenant.origin}`)).toBe(isOfHeaders);
      const lines = page.locator('details[open]', { hasText: 'Code for your webhook' });
      expect(await lines.count()).toBe(isOfHeaders ? 1 : 0);
    },
  );

  test('what an admin suspended, only an admin is offered to resume', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/halted');
    const { id } = await tenant.register(sinkOf('/halted'));
    await tenant.admin.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Too fast.' }).expect(200);
    for (const [opened, offered] of [
      [consumer, 0],
      [admin, 1],
    ] as const) {
      const page = await goTo(opened, id);
      await status(page, 'suspended');
      await page.locator('.note', { hasText: 'Too fast.' }).waitFor();
      expect(await button(page, 'Resume').count()).toBe(offered);
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
      filters: [{ exact: { subject: `${markup}\u202E` } }, { prefix: { type: 'v'.repeat(1_000) } }],
      config: { text: markup },
    });
    const page = await goTo(admin, id);
    for (const place of ['.note', '.line', '.facts'])
      await page.locator(place, { hasText: '<img src=x' }).first().waitFor();
    await accessible(page);
    await goTo(admin, id, 'settings');
    for (const place of ['.chips', '.verdicts']) await page.locator(place, { hasText: '<img src=x' }).waitFor();
    await accessible(page, looks.slice(1));
    expect(await page.locator('main img').count()).toBe(0);
  });

  test('the list is live: a row changes in its place, new ones appear, and filters are in the address', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/live');
    const { id } = await tenant.register(sinkOf('/live'));
    const { page } = admin;
    await go(page, '#/subscriptions?status=active');
    const row = page.locator('tr', { has: page.locator(`a[href="#/subscriptions/${id}"]`) });
    await row.waitFor();
    const search = page.getByRole('combobox', { name: 'Search sinks' });
    expect(await search.inputValue()).toBe('status:active');
    await page.waitForSelector('.connection.live');
    await tenant.subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: 'Later.' }).expect(200);
    await row.locator('.badge', { hasText: 'suspended' }).waitFor();
    registry.receiver.consent('/newcomer');
    const { id: newcomer } = await tenant.register(sinkOf('/newcomer'));
    await page.waitForSelector(`a[href="#/subscriptions/${newcomer}"]`);
    await search.fill('status:suspended');
    await search.press('Enter');
    await page.locator(`a[href="#/subscriptions/${newcomer}"]`).waitFor({ state: 'detached' });
    await page.waitForURL(/\?status=suspended$/);
  });

  test('of 10,000 subscriptions all are found by host, by part of the sink and by subscriber, and few are drawn', async () => {
    await stage.registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol)
       select gen_random_uuid(), 'gemeente', 'crowd' || n % 4, 'eventemitter.example.com',
         'https://h' || n % 100 || '.example.com/path-' || n, 'HTTP'
       from generate_series(1, 10000) n`,
    );
    const { page } = admin;
    await go(page, '#/subscriptions?host=h7.example.com');
    const foot = (text: string | RegExp) => page.locator('.foot', { hasText: text }).waitFor();
    await foot('100 of 100 subscriptions.');
    await go(page, '#/subscriptions');
    // A page is read when the user comes near the last row, so not all are loaded, and few are drawn.
    await foot(/of 10,\d{3}\+? subscriptions/);
    expect(await page.locator('tbody tr').count()).toBeLessThan(310);
    await accessible(page, looks.slice(0, 1));
    const drawn = await page.locator('.foot').textContent();
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await until(async () => (await page.locator('.foot').textContent()) !== drawn);
    const search = page.getByRole('combobox', { name: 'Search sinks' });
    await search.fill('/path-777');
    await foot('11 of 11 subscriptions.');
    await page.waitForURL(/sinkcontains=%2Fpath-777/);
    await search.fill('/path-777 subscriber:crowd1');
    await search.press('Enter');
    await foot(/^([1-9]) of \1 subscriptions/);
  });
});
