import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

const event = (more: object = {}) =>
  JSON.stringify({ specversion: '1.0', id: '1', source: '/shop', type: 'com.example.order.created', ...more }, null, 2);

inBrowser('the playground', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
    const { registry, tenant } = stage;
    registry.receiver.consent('/orders', { rate: '240' });
    registry.receiver.consent('/hostile', { rate: '*' });
    await tenant.register(registry.receiver.sink('/orders'), { filters: [{ prefix: { type: 'com.example.order.' } }] });
    await tenant.register(registry.receiver.sink('/orders'), { filters: [{ exact: { subject: 'order-1' } }] });
    await tenant.register(registry.receiver.sink('/refused'));
    await tenant.register(registry.receiver.sink('/hostile'), {
      types: ['<img src=x onerror=alert(1)>'.padEnd(900, 'x')],
      filters: [{ exact: { subject: '\u05d0<script>alert(1)</script>' } }],
    });
  });
  afterAll(() => stage?.stop());

  test('an admin sees beside the event who gets it, and who nearly did by the condition that decided', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel('Event as JSON').fill(event());
    const gets = page.getByRole('region', { name: 'Webhooks that get it 1' });
    await gets.getByText('/orders').waitFor();
    await gets.getByRole('row').nth(1).getByText('240').waitFor();
    await gets.getByRole('link', { name: 'zaaksysteem' }).waitFor();
    const nearly = page.getByRole('region', { name: 'Do not get it, closest first 3' });
    await nearly.locator('summary').nth(2).waitFor();
    expect(await nearly.locator('summary').allTextContents()).toEqual([
      'It matches, but the webhook has not given consent.1',
      'subject equal to order-1The event has nothing1',
      expect.stringContaining('type one of <img src=x onerror=alert(1)>'),
    ]);
    // Nothing of it is below the window.
    expect(await page.evaluate('document.documentElement.scrollHeight - innerHeight')).toBeLessThanOrEqual(0);
    for (const group of await nearly.locator('summary').all()) await group.click();
    await nearly.getByRole('table').nth(1).getByText('order-1').waitFor();
    await expectAccessible(page);
    // The fields and the text are one event; the result follows what is typed.
    await page.getByRole('button', { name: 'Fields' }).click();
    await page.getByLabel('subject', { exact: true }).fill('order-1');
    await page.getByRole('region', { name: 'Do not get it, closest first 2' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(await page.getByLabel('Event as JSON').inputValue()).toContain('"subject": "order-1"');
    await check();
  });

  test('a thousand others are a few lines, and what was not explained is said', async () => {
    const name = 'crowd.example.com';
    await stage.tenant.admin.post('/v1/origins').send({ name }).expect(201);
    await stage.registry.sql(
      `insert into subscription (id, tenant, subscriber, origin, sink, protocol, types)
       select gen_random_uuid(), 'gemeente', 'crowd', $1, 'https://a.example.com/' || n, 'HTTP', array['t' || n]
       from generate_series(1, 1001) n`,
      name,
    );
    const { page, check } = await stage.open(['assent:admin'], `#/playground?origin=${name}`);
    const group = page.locator('summary').filter({ hasText: 'type has another value' });
    await group.getByText('1,000').waitFor();
    await page.getByText('explains the 1,000 oldest subscriptions').waitFor();
    await group.click();
    await page.getByRole('button', { name: '992 more' }).click();
    await page.getByRole('button', { name: '942 more' }).waitFor();
    await check();
  });

  test('a fault is shown at its line and field, and the last result stays', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    const text = page.getByLabel('Event as JSON');
    await text.fill(event());
    const gets = page.getByRole('region', { name: 'Webhooks that get it' });
    await gets.getByText('/orders').waitFor();
    await text.fill(event({ time: 'yesterday', type: '' }));
    await page.getByText('Line 6').waitFor();
    await page.getByText('the last event that was valid').waitFor();
    expect(await gets.textContent()).toContain('/orders');
    await page.getByRole('button', { name: 'Fields' }).click();
    expect(await page.getByLabel('type', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'JSON' }).click();
    await text.fill('{ "specversion": "1.0", ');
    await page.getByText('would not accept this event').waitFor();
    await page.getByRole('button', { name: 'Fields' }).click();
    await page.getByText('is a JSON object again').waitFor();
    await page.getByLabel('Example').selectOption({ label: 'An order, with data' });
    await page.getByText('the last event that was valid').waitFor({ state: 'detached' });
    await check();
  });

  test('the result follows the feed, and what was typed survives a look at another page', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    await page.getByLabel('Event as JSON').fill(event({ type: 'com.example.order.kept' }));
    const gets = page.getByRole('region', { name: 'Webhooks that get it' });
    await gets.getByText('/orders').waitFor();
    await stage.tenant.revoke(stage.registry.receiver.sink('/orders'));
    await page.getByText('No webhook gets this event.').waitFor();
    await page.getByRole('link', { name: 'Feed' }).click();
    await page.getByRole('heading', { name: 'Feed', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    expect(await page.getByLabel('Event as JSON').inputValue()).toContain('com.example.order.kept');
    await check();
  });

  test('a consumer sees its own subscriptions with their rate, and a sender who gets it', async () => {
    const { registry, tenant } = stage;
    registry.receiver.consent('/own', { rate: '77' });
    const own = await tenant.register(registry.receiver.sink('/own'));
    const { page, check } = await stage.open(['assent:subscribe'], '#/playground', {
      language: 'nl',
      subscriber: own.subscriber,
    });
    const gets = page.getByRole('region', { name: 'Webhooks die deze gebeurtenis krijgen' });
    await gets.getByText('/own').waitFor();
    await gets.getByText('77', { exact: true }).waitFor();
    await check();

    const stranger = await stage.open(['assent:subscribe'], '#/playground', { subscriber: 'vreemde' });
    await stranger.page.getByText('No webhook gets this event.').waitFor();
    expect(await stranger.page.locator('main').textContent()).not.toContain('/own');
    await stranger.check();

    const sender = await stage.open(['assent:deliver'], '#/playground');
    await sender.page.getByText('/own').waitFor();
    expect(await sender.page.getByRole('region', { name: 'Do not get it' }).count()).toBe(0);
    await sender.check();
  });
});
