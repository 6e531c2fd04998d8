import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage } from '../support/console.js';
import { offer } from '../support/offer.js';

inBrowser('the console, in short', () => {
  let stage: ConsoleStage;
  beforeAll(async () => {
    stage = await startConsole();
  });
  afterAll(() => stage?.stop());

  test('with the keyboard alone, a consumer registers a webhook and sees that it is active', async () => {
    const { page, check } = await stage.open(['assent:subscribe'], '#/register');
    stage.registry.receiver.consent('/smoke');
    // A list, with the default chosen.
    await page.locator('select', { hasText: `${stage.tenant.origin} (default)` }).waitFor();
    await page.getByLabel('Sink', { exact: true }).focus();
    await page.keyboard.type(stage.registry.receiver.sink('/smoke'));
    await page.keyboard.press('Enter');
    await page.getByText('active', { exact: true }).first().waitFor();
    // A page for others says for whom it is, and has a way on.
    await page.evaluate(`location.hash = '#/grants'`);
    await page.getByText('one of these scopes: assent:admin, assent:deliver. Yours has: assent:subscribe.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Today' }).click();
    await page.getByRole('heading', { name: 'Today' }).waitFor();
    await check();
  });

  test('an admin blocks a host after seeing the effect, and lifts the block', async () => {
    const sink = stage.registry.receiver.sink('/smoke');
    const { page, check } = await stage.open(['assent:admin'], '#/new-block?kind=host&value=localhost');
    await page.getByRole('definition').getByText('zaaksysteem').waitFor();
    await page.getByLabel('Reason').fill('Incident.');
    await page.getByRole('button', { name: 'Block now' }).click();
    await page.getByRole('button', { name: 'Lift: localhost' }).click();
    expect((await stage.tenant.permission(sink)).denial).toBe('blocked');
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await stage.tenant.permission(sink)).allowed).toBe(true);
    await check();
  });

  test('a webhook owner decides on the page of the callback URL, and no other page decides for them', async () => {
    const { callback, sink } = await offer(stage.registry, stage.tenant);
    const page = await stage.browser.newPage();
    await page.setContent(`<img src="${callback}"><script src="${callback}"></script><iframe src="${callback}"></iframe>
      <form method="post" action="${callback}"><button name="decision" value="allow">Win</button></form>`);
    await page.evaluate(`fetch(${JSON.stringify(callback)}, { mode: 'no-cors', method: 'POST' })`);
    await page.getByRole('button', { name: 'Win' }).click();
    await page.getByRole('heading', { name: 'Nothing was decided.' }).waitFor();
    expect((await stage.tenant.permission(sink)).allowed).toBe(false);
    await page.goto(callback);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Consent given' }).waitFor();
    expect((await stage.tenant.permission(sink)).allowed).toBe(true);
    await page.close();
  });

  test('the playground says who gets an event', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/playground');
    await page.getByText('/smoke').first().waitFor();
    await check();
  });
});
