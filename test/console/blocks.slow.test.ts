import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

const hostile = `<script>alert(1)</script><b>\u202Edesrever\u2066 ${'x'.repeat(400)}`;

inBrowser('blocks in the console', () => {
  let stage: ConsoleStage;
  let host: string;

  beforeAll(async () => {
    stage = await startConsole();
    stage.registry.receiver.consent('/consents');
    const sink = new URL(stage.registry.receiver.sink('/consents'));
    host = 'misbehaves.hooks.test';
    sink.hostname = host;
    await stage.tenant.register(sink.href);
  });
  afterAll(() => stage?.stop());

  test('an admin finds a misbehaving host, sees who is affected, blocks it, and lifts the block', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/blocks');
    await page.waitForSelector('text=No block is in force.');
    await page.getByRole('link', { name: 'New block' }).click();
    await page.getByLabel('What', { exact: true }).fill(`${host}:443`);
    await page.getByRole('button', { name: 'Show what it stops' }).click();
    await page.waitForSelector('.faults');
    expect(await page.getByLabel('What', { exact: true }).inputValue()).toBe(`${host}:443`);
    await page.getByLabel('What', { exact: true }).fill(host);
    await page.getByRole('button', { name: 'Show what it stops' }).click();
    await page.waitForSelector('text=Nothing is blocked yet.');
    await page.getByRole('definition').getByText('zaaksysteem').waitFor();
    const list = page.getByRole('link', { name: 'Show these subscriptions' });
    expect(await list.getAttribute('href')).toBe(`#/subscriptions?host=${host}`);
    await expectAccessible(page);
    expect((await stage.tenant.admin.get('/v1/blocks')).body).toEqual([]);

    // Another target needs its own effect first.
    await page.getByLabel('What', { exact: true }).fill('other.hooks.test');
    await page.getByRole('button', { name: 'Show what it stops' }).waitFor();
    expect(await page.getByRole('button', { name: 'Block now' }).count()).toBe(0);
    await page.getByLabel('What', { exact: true }).fill(host);

    await page.getByLabel('Reason').fill('y'.repeat(100_000));
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.waitForSelector('.problem, .faults');
    await expectAccessible(page);
    await page.getByLabel('Reason').fill(hostile);
    await page.getByLabel('Until (optional)').fill('2099-01-01T00:00');
    await page.getByLabel('Reference').fill('INC-1042');
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.waitForSelector(`h1:has-text("${host}")`);
    await page.waitForSelector('text=<script>alert(1)</script>');
    const [block] = (await stage.tenant.admin.get('/v1/blocks')).body;
    expect(block).toMatchObject({ kind: 'host', value: host, reason: hostile, createdby: 'zaaksysteem' });
    const { body: audit } = await stage.tenant.admin.get('/v1/audit').query({ action: 'block.created' });
    expect(audit[0].reference).toBe('INC-1042');

    await page.getByRole('link', { name: 'All blocks' }).click();
    await page.getByRole('listitem').getByText('<script>alert(1)</script>').waitFor();
    await page.getByRole('listitem').getByText('What it stops').click();
    await page.getByRole('listitem').getByText('Live grants').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: `Lift this block: ${host}` }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Lift this block' }).click();
    await page.waitForSelector('text=No block is in force.');
    expect((await stage.tenant.admin.get('/v1/blocks')).body).toEqual([]);
    await check();
  });

  test('after a lost connection, the second press finds the block and makes no other', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/new-block?kind=subscriber&value=zaaksysteem');
    await page.waitForSelector('text=Nothing is blocked yet.');
    await page.getByLabel('Reason').fill('It floods us.');
    // The registry does it, and its response is lost.
    let isLost = true;
    await page.route('**/v1/blocks', async (route) => {
      if (!isLost || route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.waitForSelector('text=The registry did not respond.');
    expect(await page.getByLabel('Reason').inputValue()).toBe('It floods us.');
    isLost = false;
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.waitForSelector('h1:has-text("zaaksysteem")');
    const { body } = await stage.tenant.admin.get('/v1/blocks');
    expect(body).toHaveLength(1);
    await stage.tenant.admin.delete(`/v1/blocks/${body[0].id}`).expect(200);
    await page.waitForSelector('text=This block is not in force.');
    await check();
  });

  test('an operator blocks for every tenant; an admin sees it and is not offered to lift it', async () => {
    const operator = await stage.open(['assent:block'], '#/new-block', { subscriber: 'registrar', tenant: 'registry' });
    await operator.page.getByLabel('Kind').selectOption('domain');
    await operator.page.getByLabel('What', { exact: true }).fill('evil.example');
    await operator.page.getByLabel('In tenant').fill('*');
    await operator.page.getByRole('button', { name: 'Show what it stops' }).click();
    await operator.page.waitForSelector('text=Nothing that exists is under it now.');
    await operator.page.getByLabel('Reason').fill('It sells data.');
    await operator.page.getByRole('button', { name: 'Block now' }).click();
    await operator.page.waitForSelector('text=every tenant');

    const admin = await stage.open(['assent:admin'], '#/blocks', { language: 'nl' });
    await admin.page.waitForSelector('text=Alleen een systeembeheerder kan die opheffen.');
    expect(await admin.page.getByRole('button', { name: 'opheffen' }).count()).toBe(0);
    await admin.check();

    await operator.page.getByRole('button', { name: 'Lift this block' }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: 'Lift this block' }).click();
    await operator.page.waitForSelector('text=No block is in force.');
    await operator.check();
  });
});
