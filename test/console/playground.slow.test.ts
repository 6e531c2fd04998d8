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

  test('an admin sees which webhooks get an event, and which condition kept it from the others', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    await page.getByLabel('Event as JSON').fill(event());
    const gets = page.getByRole('region', { name: 'Webhooks that get it' });
    await gets.getByText('/orders').waitFor();
    expect(await gets.textContent()).toContain('240');
    const others = page.getByRole('region', { name: 'Subscriptions that do not get it' });
    const row = others.getByRole('row').filter({ hasText: '/filters/0/exact/subject' });
    await row.getByText('order-1').waitFor();
    expect(await row.textContent()).toContain('subject equal to order-1');
    expect(await row.textContent()).toContain('nothing');
    const ofTypes = others.getByRole('row').filter({ hasText: '/types' });
    expect(await ofTypes.textContent()).toContain('<img src=x onerror=alert(1)>');
    await others.getByText('the webhook has not given consent').waitFor();
    await expectAccessible(page);
    // The fields and the text are one event; the result follows what is typed.
    await page.getByLabel('subject', { exact: true }).fill('order-1');
    await row.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Event as JSON').inputValue()).toContain('"subject": "order-1"');
    await check();
  });

  test('a fault is shown at its field and line, and the last result stays', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    const text = page.getByLabel('Event as JSON');
    await text.fill(event());
    await page.getByRole('region', { name: 'Webhooks that get it' }).getByText('/orders').waitFor();
    await text.fill(event({ time: 'yesterday', type: '' }));
    await page.getByText('Line 6').waitFor();
    expect(await page.getByLabel('type', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByText('the last event that was valid').waitFor();
    expect(await page.getByRole('region', { name: 'Webhooks that get it' }).textContent()).toContain('/orders');
    await expectAccessible(page);
    await text.fill('{ "specversion": "1.0", ');
    await page.getByText('is a JSON object again').waitFor();
    await page.getByText('would not accept this event').waitFor();
    await page.getByLabel('Start from an example').selectOption({ label: 'An order, with data' });
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
    await page.getByRole('link', { name: 'Live feed' }).click();
    await page.getByRole('heading', { name: 'Live feed' }).waitFor();
    await page.getByRole('link', { name: 'Playground' }).click();
    expect(await page.getByLabel('Event as JSON').inputValue()).toContain('com.example.order.kept');
    await check();
  });

  test('a consumer sees its own subscriptions, with rate and end', async () => {
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
  });
});
