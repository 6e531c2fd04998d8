import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';

inBrowser('grants and agreements', () => {
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
    const agree = (path: string, days: number) =>
      tenant.admin
        .post('/v1/grants')
        .send({
          origin: tenant.origin,
          allowedrate: 10,
          agreement: '<script>alert(1)</script>\u202e',
          sink: sink(path),
          expiresat: inDays(days),
        })
        .expect(201);
    // More than a page, of which the last ones that were recorded end first.
    for (let place = 0; place < 210; place += 30) {
      await Promise.all(Array.from({ length: 30 }, (_, each) => agree(`/many/${place + each}`, 90)));
    }
    await agree('/soon', 3);
    await agree(`/far?${'long'.repeat(200)}`, 400);
  });
  afterAll(() => stage?.stop());

  test('an admin finds what expires first among all grants, reads on by scrolling, and narrows them down', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/grants');
    const table = page.getByRole('table', { name: 'Grants' });
    const first = table.getByRole('row').nth(1);
    await first.getByText('/soon').waitFor();
    expect(await first.textContent()).toContain('<script>alert(1)</script>');
    await page.getByText('200 grants, more as you scroll').waitFor();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.getByText('215 grants', { exact: true }).waitFor();
    await table.getByText('/far').waitFor();
    await page.getByRole('button', { name: 'Ends', exact: true }).click();
    await first.getByText('/far').waitFor();

    const search = page.getByRole('combobox', { name: 'Search sinks' });
    await search.fill('basis:response');
    await page.waitForURL('**basis=response**');
    await page.getByText('3 grants', { exact: true }).waitFor();
    await search.fill('within:7');
    await first.getByText('/soon').waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await expectAccessible(page);
    await search.fill('host:elsewhere.example.com');
    await page.getByText('Nothing found.').waitFor();
    await page.getByRole('link', { name: 'Show all grants' }).click();
    await first.getByText('/soon').waitFor();
    await check();
  });

  test('an admin takes a grant along as a token that others verify, and revokes it with a reason; its page and the list of a sender follow', async () => {
    const watching = await stage.open(['assent:deliver'], '#/grants');
    await watching.page.getByTitle(sink('/one')).waitFor();
    const { page, check } = await stage.open(['assent:admin'], '#/grants?sinkcontains=one');
    await page.getByTitle(sink('/one')).click();
    const used = page.getByRole('region', { name: 'Used by 1 subscription' });
    await used.getByRole('link', { name: 'zaaksysteem' }).waitFor();
    await page.getByText('WebHook-Allowed-Rate: 240').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Copy as signed token (JWT)' }).click();
    const token = await page.getByRole('dialog', { name: 'Signed token' }).locator('pre').innerText();
    const { body: jwks } = await stage.tenant.admin.get('/.well-known/jwks.json').expect(200);
    const { payload } = await jwtVerify(token, createLocalJWKSet(jwks));
    expect(payload).toMatchObject({ sub: stage.tenant.origin, aud: sink('/one'), allowedrate: 240 });
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
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
    await page.getByText('The origin may not send: an admin revoked the grant.').waitFor();
    expect(await page.getByRole('button', { name: 'More actions' }).count()).toBe(0);
    const row = watching.page.getByRole('row').filter({ hasText: sink('/one') });
    await row.getByText('revoked').waitFor();
    await page.getByRole('link', { name: 'Changes' }).click();
    await page.getByText('Revoked: ').waitFor();
    const { body } = await stage.tenant.admin.get('/v1/audit').expect(200);
    expect(JSON.stringify(body)).toContain('TICKET-7');
    await check();
    await watching.check();
  });

  test('a revocation that somebody else overtook is refused, and what was typed stays', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/grants?sinkcontains=two');
    await page.getByTitle(sink('/two')).click();
    await page.getByRole('button', { name: 'More actions' }).click();
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

  test('an admin approves a pending subscription by agreement where it is, with faults at their fields', async () => {
    const { registry, tenant } = stage;
    registry.receiver.on('/paper', (_request, response) => response.writeHead(200).end());
    const { id } = await tenant.register(sink('/paper'), { requestedrate: 33 }, 'respond-async');
    const { page, check } = await stage.open(['assent:admin'], `#/subscriptions/${id}`);
    await page.getByRole('link', { name: 'Approve by agreement' }).first().click();
    await page.getByLabel('Sink').waitFor();
    expect(await page.getByLabel('Sink').inputValue()).toBe(sink('/paper'));
    expect(await page.getByLabel('Requests per minute').inputValue()).toBe('33');
    await page.locator(`datalist option[value="${sink('/paper')}"]`).waitFor({ state: 'attached' });
    await page.getByLabel('Last day').fill('2001-01-01');
    await page.getByLabel('Agreement', { exact: true }).fill('2026/17');
    await page.getByRole('button', { name: 'Record an agreement' }).click();
    await page.getByText('at most five years from now').nth(1).waitFor();
    expect(await page.getByLabel('Last day').getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    expect(await page.getByRole('link', { name: 'Cancel' }).getAttribute('href')).toBe(`#/subscriptions/${id}`);
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

  test('an admin finds what is on hold by a link to the page of webhooks, sees its deliveries, and ends the hold', async () => {
    const { tenant } = stage;
    const report = { origin: tenant.origin, sink: sink('/held') };
    await tenant.sender
      .post('/v1/deliveries/outcomes')
      .send([
        { ...report, statuscode: 204, count: 1_234 },
        { ...report, statuscode: 429, retryafter: 3_600 },
      ])
      .expect(200);
    const { page, check } = await stage.open(['assent:admin'], `#/webhooks?${new URLSearchParams(report)}`);
    await page.getByRole('row').filter({ hasText: 'on hold' }).getByTitle(sink('/held')).click();
    await page.getByText('Senders wait, because the webhook asked for it.').waitFor();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('button', { name: 'Revoke' }).waitFor();
    expect(await page.getByRole('button', { name: 'Copy as signed token (JWT)' }).count()).toBe(0);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('table', { name: 'Deliveries' }).getByText('1,234').waitFor();
    await page.getByRole('button', { name: 'End the hold' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the hold' }).click();
    await page.getByText('The hold has ended.').waitFor();
    await page.getByText('The origin may send to this sink, up to 240 requests per minute').waitFor();
    expect((await tenant.permission(sink('/held'))).allowed).toBe(true);
    await check();
  });

  test('a sender sees a grant in Dutch, and is offered no change', async () => {
    const { page, check } = await stage.open(['assent:deliver'], '#/grants?sinkcontains=held', { language: 'nl' });
    await page.getByTitle(sink('/held')).click();
    await page.getByText('De herkomst mag aan deze sink sturen').waitFor();
    await page.getByRole('definition').getByText('antwoord op OPTIONS').waitFor();
    await page.getByRole('button', { name: 'Meer acties' }).click();
    await page.getByRole('button', { name: 'Als ondertekend token kopiëren (JWT)' }).waitFor();
    expect(await page.getByRole('button', { name: 'Intrekken' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Overeenkomst vastleggen' }).count()).toBe(0);
    await check();
  });
});
