import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { consolePages } from '../support/accessible-pages.js';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage, type Opened } from '../support/console.js';

const places = [...consolePages.map(([place]) => place), '#/nowhere'];

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

  test('a page that failed while the registry was away comes back by itself, and a failed read says that nothing was done', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/origins');
    await page.getByRole('link', { name: stage.tenant.origin, exact: true }).waitFor();
    await page.evaluate(`location.hash = '#/feed'`);
    await page.getByRole('heading', { name: 'Feed', exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.evaluate(`location.hash = '#/origins'`);
    await page.getByText('Nothing was changed. This page tries again').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('link', { name: stage.tenant.origin, exact: true }).waitFor();
    await check();
  });

  describe('signing in', () => {
    test('everything is there in Dutch', async () => {
      const { page, check } = await stage.open(['assent:admin'], '#/subscriptions', { language: 'nl' });
      await page.waitForSelector('h1:has-text("Abonnementen")');
      expect(await page.getAttribute('html', 'lang')).toBe('nl');
      await expectAccessible(page);
      for (const [place] of consolePages.filter(([, languages]) => languages.includes('nl'))) {
        await page.evaluate(`location.hash = '${place}'`);
        await page.waitForSelector('main h1');
        await expectAccessible(page);
      }
      await page.evaluate(`location.hash = '#/subscriptions'`);
      await page.setViewportSize({ width: 1280, height: 900 });
      const user = page.getByRole('button', { name: /zaaksysteem/ });
      await user.click();
      await page.getByRole('button', { name: 'English' }).click();
      await page.waitForSelector('h1:has-text("Subscriptions")');
      // What the system prefers is light.
      await page.emulateMedia({ colorScheme: 'light' });
      await user.click();
      await page.getByRole('button', { name: 'Dark', exact: true }).click();
      await page.reload();
      await page.waitForSelector('h1:has-text("Subscriptions")');
      expect(await page.evaluate(`getComputedStyle(document.body).backgroundColor`)).toBe('rgb(16, 21, 19)');
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
