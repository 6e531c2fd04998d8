import { readFile } from 'node:fs/promises';
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
      `insert into audit (id, at, tenant, actor, action, target, details, changed)
       values (gen_random_uuid(), now(), 'gemeente', $1, 'subscription.replaced', 'subscription:x', $2::jsonb, $3::jsonb)`,
      `${hostile}actor`,
      JSON.stringify({ reason: hostile }),
      JSON.stringify({ filters: { before: null, after: [{ exact: { type: long } }] } }),
    );
  });
  afterAll(() => stage?.stop());

  test('an entry shows each changed member before and after, with its reason, and leads to what it is about', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit');
    await page.waitForSelector('.entry');
    await page.getByLabel('Target', { exact: true }).fill(`subscription:${id}`);
    await page.getByLabel('Action', { exact: true }).fill('subscription.replaced');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForSelector('table.changes');
    const row = page.locator('table.changes tr', { has: page.getByRole('rowheader', { name: 'filters' }) });
    const [before, after] = await row.getByRole('cell').allTextContents();
    expect(before).toContain('nl.example.before');
    expect(after).toContain('nl.example.after');
    expect(after).toContain('<img src=x onerror=alert(1)>');
    expect(page.url()).toContain('action=subscription.replaced');
    const link = page.getByRole('link', { name: `subscription:${id}`, exact: true });
    expect(await link.getAttribute('href')).toBe(`#/subscriptions/${id}`);
    await page.getByRole('link', { name: 'Clear the filters' }).click();
    await page.getByLabel('Action', { exact: true }).fill('grant.revoked');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForSelector('text=The owner complained.');
    await check();
  });

  test('markup, right-to-left marks and 100 kB are text, and the page stays as wide as the window', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?target=subscription:x');
    await page.getByText('Changed: filters').click();
    await page.getByText('Show all').click();
    await page.waitForSelector('text=<img src=x onerror=alert(1)>');
    await expectAccessible(page);
    await check();
  });

  test('"Older" pages through the whole record, by time too', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?actor=robot');
    await page.getByRole('link', { name: 'grant:1', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'grant:51', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'grant:50', exact: true }).count()).toBe(0);
    await page.getByRole('link', { name: 'Newest' }).click();
    await page.getByRole('link', { name: 'grant:1', exact: true }).waitFor();
    await page.getByLabel('Before', { exact: true }).fill('2001-01-01T00:00:00');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForSelector('text=Nothing found.');
    await check();
  });

  test('an export has every entry that the filters find, and says how many', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/audit?actor=robot');
    await page.getByText('Export', { exact: true }).click();
    for (const [name, ending] of [
      ['Export as JSON Lines', 'jsonl'],
      ['Export as CSV', 'csv'],
    ] as const) {
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
    await page.getByText('Export', { exact: true }).click();
    await page.getByRole('button', { name: 'Export as JSON Lines' }).click();
    await page.waitForSelector('text=1 entries');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.waitForSelector('text=You stopped the export. 1 entries');
    await page.getByRole('button', { name: 'Export as JSON Lines' }).click();
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
    await page.getByLabel('Tenant', { exact: true }).fill('gemeente');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.waitForSelector('.entry:has-text("gemeente")');
    expect(await page.locator('nav a').allTextContents()).toEqual(['Audit']);
    expect(await page.locator('main a[href^="#/subscriptions"]').count()).toBe(0);
    await check();
  });

  test('the feed shows changes as they happen, filters them, waits while it is paused, and opens their state', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/feed');
    await page.waitForSelector('.connection.live');
    const { subscriber } = stage.tenant;
    await subscriber.post(`/v1/subscriptions/${id}/suspend`).send({ reason: markup }).expect(200);
    await page.getByRole('cell', { name: 'subscription.suspended' }).waitFor();
    await page.getByText('State as JSON').first().click();
    await page.waitForSelector('td pre:has-text("\\"suspended\\": true")');
    await expectAccessible(page);
    await page.getByText('State as JSON').first().click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await subscriber.post(`/v1/subscriptions/${id}/resume`).send({ reason: markup }).expect(200);
    await page.getByRole('button', { name: 'Show 1 new' }).waitFor();
    expect(await page.getByRole('cell', { name: 'subscription.resumed' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('cell', { name: 'subscription.resumed' }).waitFor();
    await page.getByLabel('Change').selectOption('subscription.suspended');
    await page.waitForFunction(`document.querySelectorAll('main tbody tr').length === 1`);
    await page.getByLabel('Origin').fill('nowhere');
    await page.waitForSelector('text=Nothing found.');
    await check();
  });
});
