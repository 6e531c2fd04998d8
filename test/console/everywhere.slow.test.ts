import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import { expectAccessible, inBrowser, watch } from '../support/browser.js';
import { startConsole, type ConsoleStage, type Opened } from '../support/console.js';

const places = [
  '#/',
  '#/subscriptions',
  '#/register',
  '#/playground',
  '#/webhooks',
  '#/grants',
  '#/origins',
  '#/new-origin',
  '#/blocks',
  '#/new-block',
  '#/audit',
  '#/feed',
  '#/nowhere',
];

inBrowser('the console', () => {
  let stage: ConsoleStage;
  let opened: Opened;
  beforeAll(async () => {
    stage = await startConsole();
    stage.registry.receiver.consent('/everywhere');
    await stage.tenant.register(stage.registry.receiver.sink('/everywhere'));
    opened = await stage.open(['assent:admin', 'assent:subscribe', 'assent:deliver'], '#/');
  });
  afterAll(async () => {
    await opened?.check();
    await stage?.stop();
  });

  test.each(places)('%s works in forced colours, and at 200 percent in a window of 640 pixels', async (place) => {
    const { page } = opened;
    await page.evaluate(`location.hash = '${place}'`);
    await page.waitForSelector('main h1');
    await expectAccessible(page, [
      { colorScheme: 'dark', forcedColors: 'active', viewport: { width: 1280, height: 900 } },
      { colorScheme: 'light', forcedColors: 'none', viewport: { width: 320, height: 450 } },
    ]);
  });

  test.each(places.slice(0, -1))(
    'the first control of %s is reached with the keyboard, behind the menu',
    async (place) => {
      const { page } = opened;
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.evaluate(`location.hash = '${place}'`);
      await page.waitForSelector('main h1');
      // The content has the focus after a change of the page, so the next stop is in it.
      await page.evaluate(`document.getElementById('content').focus()`);
      await page.keyboard.press('Tab');
      expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true);
      expect(await page.evaluate(`document.activeElement.matches(':focus-visible')`)).toBe(true);
    },
  );

  describe('signing in', () => {
    test('a link signs in, and its token is gone from the address and the history, and not stored', async () => {
      const { page, check } = await stage.open(['assent:admin'], '#/subscriptions');
      await page.waitForSelector('h1:has-text("Subscriptions")');
      expect(page.url()).not.toContain('token');
      expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain('eyJ');
      await page.goBack();
      expect(page.url()).not.toContain('token');
      await check();
    });

    test('a pasted token signs in; what it may not do is not offered; signing out forgets it', async () => {
      const context = await stage.browser.newContext();
      const page = await context.newPage();
      const check = await watch(page, stage.registry.url);
      await page.goto(`${stage.registry.url}/console`);
      await expectAccessible(page);
      await page.getByLabel('Token', { exact: true }).fill('no token');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForSelector('text=This is not a JWT.');
      const who = { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes: ['assent:subscribe'], minutes: 5 };
      await page.getByLabel('Token', { exact: true }).fill(await createToken(who, stage.registry.env));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForSelector('nav');
      const menu = await page.locator('nav a').allTextContents();
      expect(menu).toContain('Subscriptions');
      expect(menu).not.toContain('Blocks');
      expect(menu).not.toContain('Audit');
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForSelector('text=Sign in');
      await page.reload();
      await page.waitForSelector('text=Sign in');
      await check();
      await context.close();
    });

    test('everything is there in Dutch', async () => {
      const { page, check } = await stage.open(['assent:admin'], '#/subscriptions', { language: 'nl' });
      await page.waitForSelector('h1:has-text("Abonnementen")');
      expect(await page.getAttribute('html', 'lang')).toBe('nl');
      await expectAccessible(page);
      await page.getByRole('button', { name: 'English' }).click();
      await page.waitForSelector('h1:has-text("Subscriptions")');
      await check();
    });

    test('a token that is refused asks to sign in again, above what was open', async () => {
      const { page, check } = await stage.open(['assent:admin'], '#/subscriptions');
      await page.waitForSelector('h1:has-text("Subscriptions")');
      await page.route('**/v1/subscriptions*', (route) => route.fulfill({ status: 401, json: {} }));
      await page.evaluate(`location.hash = '#/feed'`);
      await page.evaluate(`location.hash = '#/subscriptions'`);
      await page.waitForSelector('text=Your token has expired');
      await check();
    });
  });
});
