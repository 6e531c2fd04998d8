import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';
import { until } from '../support/until.js';

const markup = '<img src=x onerror=alert(1)>\u202E"';
const hostile = `${markup}\n=1+1`;
const long = 'nl.'.concat('z'.repeat(100_000));

inBrowser('the audit record and the feed in the console', () => {
  let stage: ConsoleStage;
  let id: string;

  beforeAll(async () => {
    stage = await startConsole();
    stage.registry.receiver.consent('/consents');
    const sink = stage.registry.receiver.sink('/consents');
    ({ id } = await stage.tenant.register(sink, { filters: [{ exact: { type: 'nl.example.before' } }] }));
    await stage.tenant.replace(id, {
      sink,
      filters: [{ any: [{ exact: { type: 'nl.example.after' } }, { prefix: { source: markup } }] }],
    });
    // On a busy machine the first attempt may time out.
    await until(async () => (await stage.tenant.read(id)).status === 'active');
    await stage.tenant.revoke(sink);
    // A record of many entries, and one with what no request may have.
    await stage.registry.sql(
      `insert into audit (id, at, tenant, actor, action, target, subscriber, reference, details, requestid)
       select gen_random_uuid(), now() - interval '1 day' - n * interval '1 second', 'gemeente', 'robot', 'grant.held', 'grant:' || n,
         null, null, jsonb_build_object('sink', 'https://example.com/' || n, 'reason', 'a "quoted"
line'), null from generate_series(1, 3000) n`,
    );
    await stage.registry.sql(
      `insert into audit (id, at, tenant, actor, person, personname, action, target, details)
       values (gen_random_uuid(), now(), 'gemeente', 'beheer', 'u1', 'Eva', 'block.created', 'block:x', '{"value":"example.net"}')`,
    );
    await stage.registry.sql(
      `insert into audit (id, at, tenant, actor, action, target, details, changed)
       values (gen_random_uuid(), now(), 'gemeente', $1, 'subscription.replaced', 'subscription:x', $2::jsonb, $3::jsonb)`,
      `${hostile}actor`,
      JSON.stringify({ reason: hostile }),
      JSON.stringify({ filters: { before: null, after: [{ exact: { type: long } }] } }),
    );
  });
  afterAll(() => stage?.stop());

  const entry = (page: Page, name: string | RegExp) => page.getByRole('row', { name }).first();
  const open = (page: Page, name: string | RegExp) =>
    entry(page, name).getByRole('button', { name: 'Details' }).click();

  test('an entry says in one line who did what, leads there, and shows on demand what changed and why', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?people=false');
    const search = page.getByRole('combobox');
    await search.fill(`target:subscription:${id} action:subscription.replaced`);
    await page.waitForURL('**action=subscription.replaced**');
    await until(async () => (await page.getByRole('row').count()) === 2);
    await open(page, /zaaksysteem.*Changed/);
    expect(
      await entry(page, /zaaksysteem.*Changed/)
        .getByRole('link')
        .getAttribute('href'),
    ).toBe(`#/subscriptions/${id}`);
    const row = page.locator('table.changes tr', { has: page.getByRole('rowheader', { name: 'filters' }) });
    await row.waitFor();
    const [before, after] = await row.getByRole('cell').allTextContents();
    expect(before).toContain('nl.example.before');
    expect(after).toContain('nl.example.after');
    expect(after).toContain('<img src=x onerror=alert(1)>');
    // Only what changed.
    expect(await page.locator('table.changes tbody tr').count()).toBe(1);
    expect(page.url()).toContain('action=subscription.replaced');
    await search.fill('action:grant.revoked');
    await page.waitForURL('**action=grant.revoked**');
    await open(page, 'Revoked: ');
    await page.getByText('The owner complained.').first().waitFor();
    await expectAccessible(page);
    await check();
  });

  test('what people did is shown first, of today or longer; programs and Assent are added with one switch', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit');
    await entry(page, /Eva.*Blocked example.net/).waitFor();
    expect(await page.getByRole('row', { name: 'zaaksysteem' }).count()).toBe(0);
    await page.getByLabel('People only').uncheck();
    await entry(page, 'zaaksysteem').waitFor();
    await page.getByRole('button', { name: '7 days' }).click();
    await page.waitForURL('**since=**');
    await page.getByRole('combobox').fill('actor:robot');
    await entry(page, 'robot').waitFor();
    await page.getByRole('button', { name: 'Today', exact: true }).click();
    await page.getByText('Nothing found.').waitFor();
    await check();
  });

  test('markup, right-to-left marks and 100 kB are text, and the page stays as wide as the window', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?target=subscription:x');
    await open(page, 'Changed');
    await page.getByText('Show all').click();
    await page.getByText('<img src=x onerror=alert(1)>').first().waitFor();
    await expectAccessible(page);
    await check();
  });

  test('older entries follow as one scrolls, and by time', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?actor=robot');
    await entry(page, /example\.com\/1\b/).waitFor();
    expect(await page.getByRole('row', { name: /example\.com\/120\b/ }).count()).toBe(0);
    await page.evaluate(`scrollTo(0, document.body.scrollHeight)`);
    await entry(page, /example\.com\/51\b/).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByLabel('Before', { exact: true }).fill('2001-01-01T00:00:00');
    await page.keyboard.press('Tab');
    await page.getByText('Nothing found.').waitFor();
    expect(page.url()).toMatch(/until=200[01]-/);
    await check();
  });

  test('an export has every entry that the filters find, and says how many', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?actor=robot');
    for (const [name, ending] of [
      ['Export as JSON Lines', 'jsonl'],
      ['Export as CSV', 'csv'],
    ] as const) {
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      await page.waitForSelector('text=The export is complete: 3,000 entries');
      expect(download.suggestedFilename()).toMatch(new RegExp(`^audit-[\\d-]+\\.${ending}$`));
      const text = await readFile(await download.path(), 'utf8');
      expect(text).toContain('grant:3000');
      if (ending === 'jsonl') expect(text.trim().split('\n')).toHaveLength(3_000);
    }
    await expectAccessible(page);
    await check();
  });

  test('an export can be stopped, and one that is cut off says so and is saved only as incomplete', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?actor=robot');
    let downloads = 0;
    page.on('download', () => (downloads += 1));
    // Sends a line, and then nothing until it is stopped or cut off.
    await page.evaluate(`
      const real = window.fetch;
      window.fetch = (request, ...more) => {
        if (!request.headers?.get('Accept')?.includes('jsonl')) return real(request, ...more);
        return Promise.resolve(new Response(new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"a":1}\\n'));
            request.signal.addEventListener('abort', () => controller.error(new Error('stopped')));
            window.cutOff = () => controller.error(new TypeError('network error'));
          },
        })));
      };`);
    const exportLines = async () => {
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await page.getByRole('button', { name: 'Export as JSON Lines' }).click();
    };
    await exportLines();
    await page.waitForSelector('text=1 entries');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForSelector('text=You stopped the export. 1 entries');
    await exportLines();
    await page.waitForSelector('progress');
    await page.evaluate('cutOff()');
    await page.waitForSelector('text=the export is incomplete: 1 entries');
    expect(downloads).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save the incomplete file' }).click(),
    ]);
    expect(download.suggestedFilename()).toContain('-incomplete.jsonl');
    await check();
  });

  test('who may only read the audit record reads that of every tenant, and is offered nothing else', async () => {
    const { page, check } = await stage.open(['assent:audit'], '#/audit', { tenant: 'registry' });
    await page.getByLabel('People only').uncheck();
    await page.getByRole('combobox').fill('tenant:gemeente');
    await entry(page, 'zaaksysteem · gemeente').waitFor();
    expect((await page.locator('nav a').allTextContents()).map((name) => name.trim())).toEqual(['Audit']);
    expect(await page.locator('main a[href^="#/subscriptions"]').count()).toBe(0);
    await check();
  });

  test('the feed begins with the last changes, says in words what happens, waits while it is paused, and has the JSON', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/feed');
    await page.waitForSelector('.connection.live');
    const { subscriber } = stage.tenant;
    await entry(page, /Registered .*\/consents for/).waitFor();
    await subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: markup }).expect(200);
    await open(page, 'Suspended');
    await page.getByText('"suspended": true').waitFor();
    await expectAccessible(page);
    await open(page, 'Suspended');
    await page.getByRole('button', { name: 'Pause' }).click();
    await subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: markup }).expect(200);
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
    expect(await page.getByRole('row', { name: 'Resumed' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Pause', pressed: true }).click();
    await entry(page, 'Resumed').waitFor();
    await page.getByRole('combobox').fill('kind:subscription.suspended');
    await until(async () => (await page.getByRole('row').count()) === 2);
    await page.getByRole('combobox').fill('nowhere');
    await page.getByText('Nothing found.').waitFor();
    await check();
  });
});
