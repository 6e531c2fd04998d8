import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

inBrowser('Today in the console', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
  });
  afterAll(() => stage?.stop());

  /** A webhook that never heard of the handshake. */
  async function refuse(path: string) {
    const { receiver } = stage.registry;
    receiver.on(path, (_request, response) => response.writeHead(404).end());
    return stage.tenant.register(receiver.sink(path), { callback: 'never' });
  }

  test('says that nothing needs attention, and shows a refusal as soon as there is one, in the menu, too', async () => {
    const { page, check } = await stage.open(['assent:admin', 'assent:subscribe'], '#/');
    await page.getByRole('heading', { name: 'Nothing needs attention' }).waitFor();
    expect(await page.getByRole('link', { name: 'Refused 0' }).getAttribute('href')).toBe(
      '#/subscriptions?status=refused',
    );
    await expectAccessible(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    const { id, sink } = await refuse('/first');
    // If the feed announced it while the webhook was still being asked, the next look finds it.
    await page.getByRole('link', { name: 'Refused 1 +1 in the last 24 hours' }).waitFor({ timeout: 60_000 });
    await page.getByRole('navigation').getByRole('link', { name: 'Today 1' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Subscriptions 1' }).waitFor();
    expect(await page.getByText('Nothing needs attention').count()).toBe(0);
    await page.getByRole('link', { name: `Fix: ${sink}` }).click();
    await page.waitForURL(`**#/subscriptions/${id}`);
    await check();
  });

  test('an admin sees numbers that lead to their lists, the first problems with what to do, and how much happens', async () => {
    const { registry, tenant } = stage;
    const { receiver } = registry;
    for (const path of ['/second', '/third', '/fourth']) await refuse(path);
    receiver.consent('/held', { rate: '600' });
    const held = receiver.sink('/held');
    await tenant.register(held);
    const report = { origin: tenant.origin, sink: held };
    await tenant.sender
      .post('/v1/deliveries/outcomes')
      .send([
        { ...report, statuscode: 204, count: 1_234 },
        { ...report, statuscode: 429, retryafter: 3_600 },
      ])
      .expect(200);
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
    for (const [path, end] of [
      ['/sooner', 2],
      ['/much-later', 300],
    ] as const) {
      await tenant.admin
        .post('/v1/grants')
        .send({
          origin: tenant.origin,
          sink: receiver.sink(path),
          allowedrate: 5,
          agreement: 'contract',
          expiresat: days(end),
        })
        .expect(201);
    }
    receiver.consent('/blocked');
    const { sink: blocked } = await tenant.register(receiver.sink('/blocked'));
    const reason = '<img src=x onerror="alert(1)"> \u202e <script>alert(2)</script>';
    await tenant.admin.post('/v1/blocks').send({ kind: 'sink', value: blocked, reason }).expect(201);
    // The hours before this one.
    await registry.sql(
      `insert into statistic (tenant, origin, step, startsat, kind, code, count)
       select 'gemeente', $1, 'hour', date_trunc('hour', now()) - n * interval '1 hour', kind, code, count * n
       from generate_series(1, 5) n, (values
         ('handshake', 'granted', 20), ('handshake', 'origin_mismatch', 3), ('lease', 'leased', 150), ('lease', 'allowed', 1000)
       ) of (kind, code, count)`,
      tenant.origin,
    );

    const { page, check } = await stage.open(['assent:admin'], '#/');
    for (const [name, place] of [
      ['Refused 4 +4 in the last 24 hours', 'subscriptions?status=refused'],
      ['End within 30 days 1', 'grants?state=live&renews=false&within=30'],
      ['Stopped by a block 1 1 block in force', 'subscriptions?status=blocked'],
      ['On hold 1', 'grants?state=live&held=true'],
    ] as const) {
      const card = page.getByRole('main').getByRole('link', { name });
      expect(await card.getAttribute('href')).toBe(`#/${place}`);
    }
    const rows = page.getByRole('table', { name: 'Needs a person' }).getByRole('row');
    const texts = (await rows.allTextContents()).slice(1);
    expect(texts).toEqual([
      expect.stringMatching(/^blocked.*\/blocked.*<img src=x onerror="alert\(1\)">.*Review$/),
      expect.stringMatching(/^refused.*\/fourth.*Fix$/),
      expect.stringMatching(/^refused.*\/third.*Fix$/),
      expect.stringMatching(/^refused.*\/second.*Fix$/),
      expect.stringMatching(/^ends.*\/sooner.*(in 1 day|tomorrow).*Review$/),
      expect.stringMatching(/^on hold.*\/held.*Review$/),
    ]);
    expect(await page.locator('main img').count()).toBe(0);

    // The keyboard moves over the points of a chart, and what stands there is read out; the table has the same numbers.
    const chart = (title: string) => page.getByRole('figure', { name: title });
    const handshakes = chart('Handshakes by hour');
    await handshakes.getByRole('application').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await handshakes.getByRole('status').getByText('granted 40').waitFor();
    expect(await handshakes.getByRole('status').textContent()).toMatch(/^\d\d:00granted 40refused 6$/);
    await expectAccessible(page);
    await handshakes.getByText('As a table').click();
    const cells = handshakes.getByRole('row').nth(22).getByRole('cell');
    expect(await cells.allTextContents()).toEqual(['40', '6', '0', '0', '0']);
    await chart('Rate used').getByRole('application').hover();
    await chart('Rate used').getByRole('status').getByText('used').waitFor();
    await chart('Rate used').getByText('As a table').click();
    expect(await chart('Rate used').getByRole('row').nth(22).getByRole('cell').allTextContents()).toEqual([
      '300',
      '2,000',
      '15',
    ]);
    // One hour is no chart.
    await chart('Deliveries by hour').getByText('Too few for a chart so far.').waitFor();
    expect(await chart('Deliveries by hour').getByRole('listitem').allTextContents()).toEqual(
      expect.arrayContaining(['delivered 1,234', 'asked to wait (429, 503) 1']),
    );
    await page.getByRole('button', { name: '24 hours' }).click();
    await page.getByRole('button', { name: 'A year' }).click();
    await chart('Deliveries by day').getByRole('row', { includeHidden: true }).nth(365).waitFor({ state: 'attached' });
    expect(page.url()).toContain('range=year');
    await check();
  });

  test('with the keyboard alone, whoever may see it finds a page, a sink, a host, an id, an origin and a request', async () => {
    const { tenant } = stage;
    const { id, sink } = await refuse('/findable');
    const { body: block, headers } = await tenant.admin
      .post('/v1/blocks')
      .send({ kind: 'domain', value: 'blocked.example.net', reason: 'Incident.' })
      .expect(201);
    const { page, check } = await stage.open(['assent:admin'], '#/');
    const find = async (text: string, name: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Find anything' }).waitFor();
      await page.keyboard.type(text);
      await page.getByRole('option', { name }).first().waitFor();
    };
    const opens = async (text: string, name: string, place: string) => {
      await find(text, name);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${place}`);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await opens('rig', 'Origins Page', '#/origins');
    await opens('/findable', 'Subscription · refused', `#/subscriptions/${id}`);
    await opens(block.id, 'blocked.example.net Block', `#/blocks/${block.id}`);
    await opens(tenant.origin.slice(0, 8), `${tenant.origin} Origin`, `#/origins/${tenant.origin}`);
    await opens(
      String(headers['x-request-id']),
      'What this request changed Audit',
      `requestid=${headers['x-request-id']}`,
    );
    await find(new URL(sink).hostname, 'Subscription');
    await page.keyboard.press('ArrowDown');
    const active = page.locator('[role=option][aria-selected=true]');
    expect(await active.evaluate((option: { id: string }) => option.id)).toBe(
      await page.getByRole('dialog').getByRole('combobox').getAttribute('aria-activedescendant'),
    );
    await expectAccessible(page);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('nowhere');
    await page.getByRole('status').getByText('Nothing found.').waitFor();
    await check();
    const other = await stage.open(['assent:subscribe'], '#/', { subscriber: 'ander' });
    await other.page.keyboard.press('Control+k');
    const field = other.page.getByRole('dialog').getByRole('combobox', { name: 'Find anything' });
    await field.waitFor();
    await other.page.keyboard.type(id);
    expect(await field.inputValue()).toBe(id);
    await other.page.getByRole('dialog').getByText('Nothing found.').waitFor();
    await other.check();
  });

  test('an admin sees that the feed and the handshakes are behind', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/feed');
    await page.getByRole('heading', { level: 1 }).waitFor();
    const health = { version: '0.1.0', secondsbehind: 240.4, secondslate: 61, writable: false };
    await page.route('**/v1/health', (route) => route.fulfill({ json: health }));
    await page.evaluate(`location.hash = '#/'`);
    const section = page.getByRole('region', { name: 'Health' });
    await section.getByText('240 seconds behind').waitFor();
    expect(await section.locator('dd').allTextContents()).toEqual([
      '240 seconds behind',
      '61 seconds late',
      'not possible: the database is read-only',
      '0.1.0',
    ]);
    await check();
  });

  test('a consumer sees its own subscriptions, no grants and no numbers of others, in Dutch', async () => {
    const { page, check } = await stage.open(['assent:subscribe'], '#/', { language: 'nl' });
    await page.getByRole('link', { name: 'Geweigerd 5' }).waitFor();
    const headings = page.getByRole('main').getByRole('heading', { level: 2 });
    expect(await headings.allTextContents()).toEqual(['Vraagt uw aandacht']);
    expect(await page.getByRole('link', { name: 'Eindigen binnen 30 dagen' }).count()).toBe(0);
    await expectAccessible(page);
    await check();
    const other = await stage.open(['assent:subscribe'], '#/', { subscriber: 'ander' });
    await other.page.getByRole('heading', { name: 'Nothing needs attention' }).waitFor();
    await other.check();
  });
});
