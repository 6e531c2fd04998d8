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

  test('says that nothing needs attention, and shows a refusal as soon as there is one', async () => {
    const { page, check } = await stage.open(['assent:admin', 'assent:subscribe'], '#/');
    await page.waitForSelector('text=Nothing needs attention.');
    await expectAccessible(page);
    const { id, sink } = await refuse('/first');
    // If the feed announced it while the webhook was still being asked, the next look finds it.
    const card = page.locator('section.card', { has: page.getByRole('heading', { name: 'Refused: 1' }) });
    await card.waitFor({ timeout: 60_000 });
    expect(await page.locator('text=Nothing needs attention.').count()).toBe(0);
    await card.getByRole('link', { name: sink }).click();
    await page.waitForURL(`**#/subscriptions/${id}`);
    await check();
  });

  test('an admin sees what waits, with counts, the first few and a link to the rest', async () => {
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
    receiver.consent('/leased', { rate: '600' });
    const leased = receiver.sink('/leased');
    await tenant.register(leased);
    await tenant.sender
      .post('/v1/leases')
      .send({ origin: tenant.origin, sink: leased, instance: 'one', requests: 7 })
      .expect(201);
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
    for (const [path, end] of [
      ['/later', 20],
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

    const { page, check } = await stage.open(['assent:admin'], '#/');
    const card = (name: string) => page.locator('section.card', { has: page.getByRole('heading', { name }) });
    await card('Refused: 4').waitFor();
    expect(await card('Refused: 4').getByRole('listitem').count()).toBe(3);
    expect(await card('Refused: 4').getByRole('link', { name: 'Show all' }).getAttribute('href')).toBe(
      '#/subscriptions?status=refused',
    );
    expect(await card('On hold: 1').getByRole('listitem').textContent()).toMatch(/\/held Ends in/);
    const ending = await card('Grants that end within 30 days: 2').getByRole('listitem').allTextContents();
    expect(ending).toEqual([
      expect.stringMatching(/\/sooner Expires (in|tomorrow)/),
      expect.stringMatching(/\/later Expires in 19/),
    ]);
    expect(await card('Blocked: 1').getByRole('listitem').textContent()).toContain('<img src=x onerror="alert(1)">');
    expect(await page.locator('main img').count()).toBe(0);

    // The charts have the numbers of what happened, for those who read them as well.
    const chart = (title: string) => page.locator('figure.chart', { hasText: title });
    const legend = (title: string) => chart(title).getByRole('listitem').allTextContents();
    expect(await legend('Deliveries that senders reported')).toEqual(
      expect.arrayContaining([' Delivered: 1,234', ' Asked to wait (429, 503): 1']),
    );
    expect(await legend('Rate used, of the rate allowed')).toEqual([
      ' Requests leased: 7',
      ' Allowed and not used: 593',
    ]);
    await chart('Handshakes by outcome').locator('summary').click();
    const last = await chart('Handshakes by outcome').locator('tbody tr').last().locator('td').allTextContents();
    expect(Number(last[0]) + Number(last[1])).toBeGreaterThan(0);
    expect(await chart('Handshakes by outcome').locator('tbody tr').count()).toBe(24);
    await expectAccessible(page);
    await page.getByLabel('Period').selectOption('year');
    const lastDay = chart('Deliveries that senders reported').locator('tbody tr').nth(364);
    await lastDay.waitFor({ state: 'attached' });
    expect(page.url()).toContain('range=year');
    await check();
  });

  test('an admin sees that the feed and the handshakes are behind', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/feed');
    await page.waitForSelector('h1:has-text("Live feed")');
    const health = { version: '0.1.0', secondsbehind: 240.4, secondslate: 61, writable: false };
    await page.route('**/v1/health', (route) => route.fulfill({ json: health }));
    await page.evaluate(`location.hash = '#/'`);
    await page.waitForSelector('dd:has-text("240 seconds behind")');
    const facts = await page.locator('section', { hasText: 'Health' }).locator('dd').allTextContents();
    expect(facts).toEqual([
      '240 seconds behind',
      '61 seconds late',
      'not possible: the database is read-only',
      '0.1.0',
    ]);
    await check();
  });

  test('a consumer sees its own subscriptions, no grants and no numbers of others, in Dutch', async () => {
    const { page, check } = await stage.open(['assent:subscribe'], '#/', { language: 'nl' });
    await page.getByRole('heading', { name: 'Geweigerd: 4' }).waitFor();
    expect(await page.locator('h2').allTextContents()).toEqual(['Wat aandacht nodig heeft']);
    await expectAccessible(page);
    await check();
    const other = await stage.open(['assent:subscribe'], '#/', { subscriber: 'ander' });
    await other.page.waitForSelector('text=Nothing needs attention.');
    await other.check();
  });
});
