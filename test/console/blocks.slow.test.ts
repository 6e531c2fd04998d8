import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

const hostile = `<script>alert(1)</script><b>\u202Edesrever\u2066 ${'x'.repeat(400)}`;

inBrowser('blocks in the console', () => {
  let stage: ConsoleStage;
  let sink: string;
  const host = 'misbehaves.hooks.test';

  beforeAll(async () => {
    stage = await startConsole();
    stage.registry.receiver.consent('/consents');
    const there = stage.registry.receiver.sink('/consents');
    sink = there.replace('localhost', host);
    await stage.tenant.register(sink);
    await stage.tenant.register(there, { types: ['nl.example.person'] });
    const { sender, origin } = stage.tenant;
    const outcomes = [
      { origin, sink, statuscode: 500, count: 8 },
      { origin, sink: there, statuscode: 204, count: 90 },
    ];
    await sender.post('/v1/deliveries/outcomes').send(outcomes).expect(200);
  });
  afterAll(() => stage?.stop());

  test('an admin finds the host that misbehaves, sees who is affected, stops it for an hour and lifts that: six clicks, one field', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/');
    const { permission } = stage.tenant;
    await page.evaluate(
      `window.clicks = 0; addEventListener('click', ({ isTrusted }) => (clicks += isTrusted ? 1 : 0), true)`,
    );

    await page.getByRole('link', { name: 'Origins' }).click();
    await page.getByRole('link', { name: 'By host' }).click();
    await page.getByRole('link', { name: `Stop for 1 hour: ${host}` }).waitFor();
    const [worst] = await page.getByRole('row').filter({ hasText: 'Stop for 1 hour' }).allInnerTexts();
    expect(worst).toMatch(new RegExp(`^${host}\\s+8\\s+8\\s`));
    await page.getByRole('link', { name: `Stop for 1 hour: ${host}` }).click();
    const effect = page.getByRole('region', { name: 'What it stops' });
    await effect.getByRole('link', { name: '1 subscription', exact: true }).waitFor();
    expect(await effect.getByRole('link', { name: 'zaaksysteem' }).getAttribute('href')).toBe(
      `#/subscriptions?host=${host}&subscriber=zaaksysteem`,
    );
    expect((await permission(sink)).allowed).toBe(true);
    await page.getByLabel('Reason').fill('It returns 500 only.');
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.getByRole('heading', { level: 1, name: host }).waitFor();
    expect((await permission(sink)).denial).toBe('blocked');
    const [block] = (await stage.tenant.admin.get('/v1/blocks')).body;
    expect((Date.parse(block.expiresat) - Date.parse(block.createdat)) / 60_000).toBeCloseTo(60, 0);
    await page.getByRole('button', { name: `Lift: ${host}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await page.getByText('No block is in force.').waitFor();
    expect((await permission(sink)).allowed).toBe(true);

    expect(await page.evaluate('clicks')).toBe(6);
    await check();
  });

  test('an origin and a host that a block stops are marked, and are started again from their row', async () => {
    const blocks = [
      { kind: 'host', value: host },
      { kind: 'origin', value: stage.tenant.origin },
    ];
    for (const block of blocks) {
      await stage.tenant.admin
        .post('/v1/blocks')
        .send({ ...block, reason: 'Incident.' })
        .expect(201);
    }
    const { page, check } = await stage.open(['assent:admin'], '#/origins?tab=hosts');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row(host).getByText('blocked').waitFor();
    await expectAccessible(page);
    await row(host).getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await row(host).getByRole('link', { name: 'Stop for 1 hour' }).waitFor();
    await page.getByRole('link', { name: 'By origin' }).click();
    await row(stage.tenant.origin).getByText('blocked').waitFor();
    await expectAccessible(page);
    await row(stage.tenant.origin).getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await row(stage.tenant.origin).getByRole('link', { name: 'Stop for 1 hour' }).waitFor();
    expect((await stage.tenant.admin.get('/v1/blocks')).body).toEqual([]);
    await check();
  });

  test('a new block shows faults at their field and its effect before it is made; several are lifted at once', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/blocks');
    await page.getByRole('main').getByRole('link', { name: 'New block' }).first().click();
    const value = page.getByRole('textbox', { name: 'Host' });
    await value.waitFor();
    expect(await page.getByRole('link', { name: 'Blocks' }).first().getAttribute('aria-current')).toBe('page');
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.getByText('Fill in: Reason.').waitFor();
    await value.fill(`${host}:443`);
    await page.locator('.faults').getByText('port').waitFor();
    expect(await value.inputValue()).toBe(`${host}:443`);
    await value.fill(host);
    const effect = page.getByRole('region', { name: 'What it stops' });
    await effect.getByText('zaaksysteem').waitFor();
    await expectAccessible(page);
    // Another target needs its own effect first.
    await value.fill('other.hooks.test');
    await effect.getByText('Nothing that exists is under it now.').waitFor();
    await value.fill(host);
    await page.getByLabel('Reason').fill(hostile);
    await page.getByText('Another time').click();
    await page.getByLabel('Ends at').fill('2099-01-01T00:00');
    await page.getByLabel('Reference').fill('INC-1042');
    await effect.getByText('zaaksysteem').waitFor();
    expect((await stage.tenant.admin.get('/v1/blocks')).body).toEqual([]);
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.getByRole('heading', { level: 1, name: host }).waitFor();
    await page.getByText('<script>alert(1)</script>').waitFor();
    expect(await page.title()).toBe(`${host} - Blocks - Assent`);
    await expectAccessible(page);
    const [block] = (await stage.tenant.admin.get('/v1/blocks')).body;
    expect(block).toMatchObject({ kind: 'host', value: host, reason: hostile, createdby: 'zaaksysteem' });
    const { body: audit } = await stage.tenant.admin.get('/v1/audit').query({ action: 'block.created' });
    expect(audit[0].reference).toBe('INC-1042');

    const other = { kind: 'domain', value: 'evil.example', reason: 'It sells data.' };
    await stage.tenant.admin.post('/v1/blocks').send(other).expect(201);
    await page.getByRole('navigation').getByRole('link', { name: 'Blocks' }).last().click();
    await page.setViewportSize({ width: 1280, height: 900 });
    const row = page.getByRole('row').filter({ hasText: host });
    await row.getByText('<script>alert(1)</script>').waitFor();
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    await page.getByRole('combobox').fill('kind:domain');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('combobox').fill('');
    await expectAccessible(page);
    await page.getByRole('button', { name: `More: ${host}` }).click();
    await page.getByRole('link', { name: 'Show its subscriptions' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Choose all').check();
    await page.getByLabel(`Choose ${host}`).uncheck();
    await page.getByLabel(`Choose ${host}`).check();
    await page.getByRole('region', { name: 'Block' }).getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('heading', { name: 'Lift 2 blocks?' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await page.getByText('No block is in force.').waitFor();
    expect((await stage.tenant.admin.get('/v1/blocks')).body).toEqual([]);
    await check();
  });

  test('after a lost connection, the second press finds the block and makes no other', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/new-block?kind=subscriber&value=zaaksysteem');
    await page.getByRole('region', { name: 'What it stops' }).getByText('2 subscriptions').waitFor();
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
    await operator.page.getByText('Domain', { exact: true }).click();
    await operator.page.getByRole('textbox', { name: 'Domain' }).fill('evil.example');
    await operator.page.getByLabel('In tenant').fill('*');
    await operator.page.waitForSelector('text=Nothing that exists is under it now.');
    await operator.page.getByLabel('Reason').fill('It sells data.');
    await operator.page.getByRole('button', { name: 'Block now' }).click();
    await operator.page.waitForSelector('text=every tenant');

    const admin = await stage.open(['assent:admin'], '#/blocks', { language: 'nl' });
    await admin.page.getByRole('button', { name: 'Meer: evil.example' }).click();
    await admin.page.getByRole('link', { name: 'Auditlog' }).nth(1).waitFor();
    expect(await admin.page.getByRole('button', { name: 'Opheffen' }).count()).toBe(0);
    await admin.page.keyboard.press('Escape');
    await admin.page.getByRole('link', { name: 'evil.example' }).click();
    await admin.page.getByText('Alleen een systeembeheerder kan die opheffen.').waitFor();
    await admin.check();

    await operator.page.getByRole('button', { name: 'Lift: evil.example' }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await operator.page.waitForSelector('text=No block is in force.');
    await operator.check();
  });
});
