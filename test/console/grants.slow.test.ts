import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

inBrowser('grants, agreements and webhooks', () => {
  let stage: ConsoleStage;
  let sink: (path: string) => string;
  beforeAll(async () => {
    stage = await startConsole();
    const { registry, tenant } = stage;
    sink = (path) => registry.receiver.sink(path);
    for (const path of ['/one', '/two', '/held']) {
      registry.receiver.consent(path, { rate: '240' });
      await tenant.register(sink(path));
    }
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const agreement = { origin: tenant.origin, allowedrate: 10, agreement: '<script>alert(1)</script>\u202e' };
    await tenant.admin
      .post('/v1/grants')
      .send({ ...agreement, sink: sink('/soon'), expiresat: inDays(3) })
      .expect(201);
    await tenant.admin
      .post('/v1/grants')
      .send({ ...agreement, sink: sink(`/far?${'long'.repeat(200)}`), expiresat: inDays(400) })
      .expect(201);
  });
  afterAll(() => stage?.stop());

  test('an admin finds the grants that expire first, and narrows them down', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/grants');
    const table = page.getByRole('region', { name: 'Grants' });
    await table.getByText('/soon').waitFor();
    const first = table.getByRole('row').nth(1);
    expect(await first.textContent()).toContain('/soon');
    expect(await first.textContent()).toContain('<script>alert(1)</script>');
    await expectAccessible(page);
    await page.getByLabel('Basis').selectOption('agreement');
    await table.getByText('/one').waitFor({ state: 'detached' });
    await page.getByLabel('Renewal').selectOption('false');
    await page.getByLabel('Expires within').selectOption('7');
    await table.getByText('/far').waitFor({ state: 'detached' });
    expect(page.url()).toContain('basis=agreement');
    await page.getByLabel('Host of the sink').fill('elsewhere.example.com');
    await page.getByText('Nothing found.').waitFor();
    await check();
  });

  test('an admin revokes a grant with a reason; the list follows', async () => {
    const watching = await stage.open(['assent:deliver'], '#/grants');
    await watching.page.getByRole('link', { name: sink('/one') }).waitFor();
    const { page, check } = await stage.open(['assent:admin'], '#/grants');
    await page.getByRole('link', { name: sink('/one') }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke this grant?' });
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.locator('input[aria-invalid]').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Reason').fill('The owner complained.');
    await dialog.getByLabel('Reference').fill('TICKET-7');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The grant was revoked.').waitFor();
    await page.getByText('The owner complained.').waitFor();
    await page.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' });
    const row = watching.page.getByRole('row').filter({ hasText: sink('/one') });
    await row.getByText('revoked').waitFor();
    const { body } = await stage.tenant.admin.get('/v1/audit').expect(200);
    expect(JSON.stringify(body)).toContain('TICKET-7');
    await check();
    await watching.check();
  });

  test('a revocation that somebody else overtook is refused, and what was typed stays', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/grants');
    await page.getByRole('link', { name: sink('/two') }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Too late.');
    await stage.tenant.revoke(sink('/two'));
    // The page behind the dialog follows, and the dialog keeps the version that the admin saw.
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('This was changed while you had it open').waitFor();
    await dialog.getByText('state: live → revoked').waitFor();
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('Too late.');
    await dialog.getByRole('button', { name: 'Use the present version and revoke' }).waitFor();
    await check();
  });

  test('an admin approves a pending subscription by agreement, with faults at their fields', async () => {
    const { registry, tenant } = stage;
    registry.receiver.on('/paper', (_request, response) => response.writeHead(200).end());
    const { id } = await tenant.register(sink('/paper'), { requestedrate: 33 }, 'respond-async');
    const { page, check } = await stage.open(['assent:admin'], `#/grants?agree=${id}`);
    await page.getByLabel('Sink').waitFor();
    expect(await page.getByLabel('Sink').inputValue()).toBe(sink('/paper'));
    expect(await page.getByLabel('Requests per minute').inputValue()).toBe('33');
    await page.getByLabel('Last day').fill('2001-01-01');
    await page.getByLabel('Agreement', { exact: true }).fill('2026/17');
    await page.getByRole('button', { name: 'Record an agreement' }).click();
    await page.getByText('at most five years from now').nth(1).waitFor();
    expect(await page.getByLabel('Last day').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    const nextYear = `${new Date().getFullYear() + 1}-01-01`;
    await page.getByLabel('Last day').fill(nextYear);
    await page.getByRole('button', { name: 'Record an agreement' }).click();
    await page.getByText('The agreement was recorded.').waitFor();
    expect(page.url()).toContain(`#/subscriptions/${id}`);
    expect((await tenant.read(id)).status).toBe('active');
    expect(await tenant.grant(sink('/paper'))).toMatchObject({
      basis: 'agreement',
      agreement: '2026/17',
      allowedrate: 33,
    });
    await check();
  });

  test('an admin sees how deliveries to a webhook go, and ends a hold', async () => {
    const { tenant } = stage;
    const report = { origin: tenant.origin, sink: sink('/held') };
    await tenant.sender
      .post('/v1/deliveries/outcomes')
      .send([
        { ...report, statuscode: 204, count: 1_234 },
        { ...report, statuscode: 429, retryafter: 3_600 },
      ])
      .expect(200);
    const { page, check } = await stage.open(['assent:admin'], '#/webhooks');
    await page.getByRole('link', { name: sink('/held') }).click();
    await page.getByText('Senders wait, because the webhook asked for it.').waitFor();
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await deliveries.getByText('1,234').waitFor();
    await page.getByRole('region', { name: 'Subscriptions' }).getByText('zaaksysteem').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'End the hold' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the hold' }).click();
    await page.getByText('The hold has ended.').waitFor();
    await page.getByText('The origin may send to this sink.').waitFor();
    expect((await tenant.permission(sink('/held'))).allowed).toBe(true);
    await check();
  });

  test('a sender sees the webhooks in Dutch, and is offered no change', async () => {
    const { page, check } = await stage.open(['assent:deliver'], '#/webhooks', { language: 'nl' });
    await page.getByRole('link', { name: sink('/held') }).click();
    await page.getByText('De herkomst mag aan deze sink sturen.').waitFor();
    await page.getByText('Verleend').waitFor();
    expect(await page.getByRole('button', { name: 'Intrekken' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Overeenkomst vastleggen' }).count()).toBe(0);
    await check();
  });
});
