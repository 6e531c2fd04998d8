import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Scope } from '../../src/base/contract/principal.js';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import { expectAccessible, inBrowser, watch } from '../support/browser.js';
import { signOut, startConsole, type ConsoleStage, userOf } from '../support/console.js';
import { startRegistry, type Registry } from '../support/registry.js';

inBrowser('the session of the console', () => {
  let stage: ConsoleStage;
  let production: Registry;
  beforeAll(async () => {
    const issuers = JSON.stringify([
      { issuer: 'https://issuer.test', audience: 'a', jwks: 'https://issuer.test/jwks' },
    ]);
    const env = { ASSENT_DEVELOPMENT_ISSUER: 'false', ASSENT_ISSUERS: issuers };
    [stage, production] = await Promise.all([startConsole(), startRegistry({ reachable: true, env })]);
  });
  afterAll(async () => {
    await stage?.stop();
    await production?.stop();
  });

  const tokenOf = (subscriber: string, scopes: Scope[] = ['assent:subscribe']) =>
    createToken({ tenant: 'gemeente', subscriber, scopes, minutes: 60 }, stage.registry.env);
  const signedIn = (page: Page, name: string) => userOf(page, name).waitFor();
  const storageOf = (page: Page) =>
    page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');

  async function openBlank() {
    const context = await stage.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    return { context, page, check: await watch(page, stage.registry.url) };
  }

  /** No entry of the history has it. */
  async function expectGone(page: Page, text: string) {
    expect(page.url()).not.toContain(text);
    expect(await page.evaluate('JSON.stringify(navigation.entries().map(({ url }) => url))')).not.toContain(text);
  }

  test('a link signs nobody in where the registry issues none, and leaves nothing behind', async () => {
    const { context, page } = await openBlank();
    await page.goto(`${production.url}/console#token=${await tokenOf('stranger')}`);
    await page.getByText('This registry issues no links that sign in.').waitFor();
    expect(await page.locator('nav').count()).toBe(0);
    expect(await storageOf(page)).toBe('[{},{}]');
    expect(page.url()).toBe(`${production.url}/console#/`);
    await context.close();
  });

  test('a link over a session asks first, whether the page loads or is open, and its token is gone', async () => {
    const { page, check } = await stage.open(['assent:subscribe'], '#/register');
    const stranger = await tokenOf('stranger');
    const links = [
      () => page.goto(`${stage.registry.url}/console?from=elsewhere#token=${stranger}`),
      () => page.evaluate(`location.hash = 'token=${stranger}'`),
    ];
    for (const open of links) {
      await open();
      const dialog = page.getByRole('dialog', { name: 'Sign in as someone else?' });
      await dialog.getByText('zaaksysteem').first().waitFor();
      await dialog.getByText('stranger').first().waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await signedIn(page, 'zaaksysteem');
      expect(await storageOf(page)).not.toContain(stranger);
      await expectGone(page, stranger);
    }
    // A link of the same client needs no question.
    await page.evaluate(`location.hash = 'token=${await tokenOf('zaaksysteem')}'`);
    await page.evaluate(`location.hash = 'token=${stranger}'`);
    await page.getByRole('button', { name: 'Sign in as stranger' }).click();
    await signedIn(page, 'stranger');
    await page.evaluate(`location.hash = 'token=no-token'`);
    await page.getByText('The link is not complete.').waitFor();
    await expectGone(page, 'no-token');
    await signedIn(page, 'stranger');
    await check();
  });

  test('whatever another page puts into the address is harmless, and does not stay there', async () => {
    const { page, check } = await stage.open(['assent:admin'], '#/origins');
    const started = JSON.stringify({
      issuer: 'https://issuer.test',
      state: 'mine',
      verifier: 'v',
      nonce: 'n',
      place: '',
    });
    await page.evaluate(`sessionStorage.setItem('assent.sign-in /', ${JSON.stringify(started)})`);
    for (const parameters of [
      '?code=stolen&state=last',
      '#code=stolen&state=last',
      '?error=access_denied&state=last&error_description=stolen',
      '?error=stolen',
      '?state=st',
      '#access_token=stolen&token_type=Bearer',
      '#id_token=stolen',
    ]) {
      await page.goto(`${stage.registry.url}/console${parameters}`);
      await page.getByRole('heading', { name: 'Today' }).waitFor();
      await expectGone(page, 'st');
    }
    expect(await storageOf(page)).toContain('mine');
    for (const place of ['__proto__', 'constructor', 'toString', 'hasOwnProperty/valueOf']) {
      await page.evaluate(`location.hash = '#/${place}'`);
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
    }
    for (const [place, heading] of [
      ['subscriptions?status=constructor&__proto__=1', 'Subscriptions'],
      ['grants?state=__proto__&within=constructor&basis=toString&held=valueOf', 'Grants'],
      ['blocks?kind=constructor', 'Blocks'],
      ['new-block?kind=__proto__', 'New block'],
      ['audit?target=constructor&action=__proto__', 'Audit'],
      ['?range=constructor', 'Today'],
      ['playground?origin=__proto__', 'Playground'],
      ['subscriptions/%', 'Subscription'],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`);
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    }
    await check();
  });

  test('a reload and a second tab keep the session, and signing out ends it in both', async () => {
    const { context, page, check } = await openBlank();
    const token = await tokenOf('keeper');
    await page.goto(`${stage.registry.url}/console#token=${token}`);
    await signedIn(page, 'keeper');
    await page.reload();
    await signedIn(page, 'keeper');
    expect(page.url()).not.toContain('token');
    const second = await context.newPage();
    await second.goto(`${stage.registry.url}/console#/feed`);
    await signedIn(second, 'keeper');
    await second.getByRole('heading', { name: 'Feed', exact: true }).waitFor();
    await signOut(page);
    await second.getByLabel('Token', { exact: true }).waitFor();
    await second.reload();
    await second.getByLabel('Token', { exact: true }).waitFor();
    expect(await storageOf(page)).not.toContain('eyJ');
    expect(await storageOf(second)).not.toContain('eyJ');
    await check();
    await context.close();
  });

  test('what was typed outlives other pages and a reload, but a secret, and is gone with its user', async () => {
    const { page, check } = await stage.open(['assent:subscribe', 'assent:admin'], '#/register');
    const sink = () => page.getByLabel('Sink', { exact: true });
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await sink().fill('https://typed.example.com/events');
    await page.evaluate(`location.hash = '#/new-grant'`);
    await page.getByLabel('Agreement', { exact: true }).fill('2026/18');
    await page.evaluate(`location.hash = '#/new-origin'`);
    await page.getByLabel('Name', { exact: true }).fill('typed.example.com');
    await page.evaluate(`location.hash = '#/register'`);
    expect(await sink().inputValue()).toBe('https://typed.example.com/events');
    await page.reload();
    await sink().waitFor();
    expect(asked).toEqual([]);
    expect(await sink().inputValue()).toBe('https://typed.example.com/events');
    await page.evaluate(`location.hash = '#/new-grant'`);
    expect(await page.getByLabel('Agreement', { exact: true }).inputValue()).toBe('2026/18');
    await page.evaluate(`location.hash = '#/new-origin'`);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('typed.example.com');
    // Also if the page is left in the moment of typing.
    await page.evaluate(`
      const field = document.querySelector('input[name=name], main input');
      field.value = 'quick.example.com';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      location.hash = '#/feed'`);
    await page.getByRole('heading', { name: 'Feed', exact: true }).waitFor();
    await page.evaluate(`location.hash = '#/new-origin'`);
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('quick.example.com');

    // A secret is not kept, so the browser asks.
    await page.evaluate(`location.hash = '#/register'`);
    await page.getByLabel('Credential', { exact: true }).selectOption('PLAIN');
    await page.getByLabel('Secret', { exact: true }).fill('never-stored');
    expect(await storageOf(page)).not.toContain('never-stored');
    await page.reload();
    await sink().waitFor();
    expect(asked).toEqual(['beforeunload']);
    await signOut(page);
    await page.getByLabel('Token', { exact: true }).waitFor();
    expect(await storageOf(page)).not.toContain('typed');
    await check();
  });

  test('a token that is pasted for one page stays there; of several sessions the user chooses one', async () => {
    const { context, page, check } = await openBlank();
    await page.goto(`${stage.registry.url}/console`);
    await expectAccessible(page);
    await page.getByLabel('Token', { exact: true }).fill('no token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForSelector('text=This is not a JWT.');
    await page.getByLabel('Token', { exact: true }).fill(await tokenOf('alone'));
    await page.getByLabel('Keep it').uncheck();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signedIn(page, 'alone');
    const menu = (await page.locator('nav a').allTextContents()).join();
    expect(menu).toContain('Subscriptions');
    expect(menu).not.toContain('Blocks');
    const second = await context.newPage();
    await second.goto(`${stage.registry.url}/console`);
    await second.getByLabel('Token', { exact: true }).waitFor();
    await page.reload();
    await page.getByLabel('Token', { exact: true }).waitFor();
    for (const [tab, name] of [
      [page, 'first'],
      [second, 'second'],
    ] as const) {
      await tab.goto(`${stage.registry.url}/console#token=${await tokenOf(name)}`);
      await tab.reload();
      await signedIn(tab, name);
    }
    const third = await context.newPage();
    await third.goto(`${stage.registry.url}/console`);
    await third.getByRole('button', { name: 'Continue as second' }).click();
    await signedIn(third, 'second');
    await check();
    await context.close();
  });
});
