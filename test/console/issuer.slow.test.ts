import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, inBrowser } from '../support/browser.js';
import { startConsole, type ConsoleStage, userOf } from '../support/console.js';
import { openIssuer, type TestIssuer } from '../support/issuer.js';

inBrowser('signing in with an issuer', () => {
  let issuer: TestIssuer;
  let stage: ConsoleStage;
  beforeAll(async () => {
    issuer = await openIssuer();
    const { url, audience, client: consoleclient } = issuer;
    const consolescope = 'openid assent:admin assent:subscribe';
    const configured = {
      issuer: url,
      audience,
      jwks: `${url}/jwks`,
      algorithms: ['ES256'],
      consoleclient,
      consolescope,
    };
    stage = await startConsole({ env: { ASSENT_ISSUERS: JSON.stringify([configured]) } });
  });
  afterAll(async () => {
    await stage?.stop();
    await issuer?.stop();
  });
  beforeEach(() => void issuer.grants.splice(0));

  const startIssuer = (tokenSeconds: number, hasRefreshTokens: boolean) =>
    issuer.start({ redirectUri: `${stage.registry.url}/console`, hasRefreshTokens, tokenSeconds });

  async function openConsole(): Promise<Page> {
    const context = await stage.browser.newContext({ locale: 'en' });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    await page.addInitScript(`
      window.violations = [];
      addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + event.blockedURI));
    `);
    return page;
  }

  const signInAt = async (page: Page) => {
    await page.getByPlaceholder('Enter any login').fill('beheer');
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  test('a code and its verifier become a token, and none of them is left behind', async () => {
    await startIssuer(3_600, false);
    const page = await openConsole();
    const requested: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(`${stage.registry.url}/console#/grants`);
    await page.getByRole('button', { name: 'Sign in with' }).waitFor();
    // A token is for whoever has no account at the issuer.
    expect(await page.getByLabel('Token', { exact: true }).isVisible()).toBe(false);
    await page.getByText('Sign in with a token').click();
    await page.getByLabel('Token', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await signInAt(page);
    await page.getByRole('heading', { name: 'Grants' }).waitFor();
    // The person, not the client of everyone.
    await userOf(page, 'beheer').filter({ hasText: 'assent-console' }).waitFor();
    expect(issuer.grants).toEqual(['authorization_code']);
    expect(page.url()).toBe(`${stage.registry.url}/console#/grants`);
    const kept = await page.evaluate<string[][]>('[Object.keys(localStorage), Object.keys(sessionStorage)]');
    expect(kept).toEqual([[], ['assent.session /']]);
    expect(await page.evaluate('violations')).toEqual([]);
    // The code came in the fragment, which no server sees.
    expect(
      requested.filter((url) => url.startsWith(stage.registry.url) && url.split('#')[0]?.includes('code=')),
    ).toEqual([]);
    expect(stage.registry.logs.join('')).not.toContain('code=');
    await page.context().close();
  });

  test('a response with another state, or one that nobody asked for, signs nobody in', async () => {
    await startIssuer(3_600, false);
    const page = await openConsole();
    await page.goto(`${stage.registry.url}/console`);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await page.getByPlaceholder('Enter any login').waitFor();
    await page.goto(`${stage.registry.url}/console#code=stolen&state=other&iss=${encodeURIComponent(issuer.url)}`);
    await page.getByRole('button', { name: 'Sign in with' }).waitFor();
    expect(page.url()).not.toContain('stolen');
    expect(issuer.grants).toEqual([]);
    // The sign-in that was started goes on.
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await signInAt(page);
    await userOf(page).waitFor();
    await page.context().close();
  });

  test('a token is renewed with the refresh token before it expires', async () => {
    await startIssuer(62, true);
    const page = await openConsole();
    await page.goto(`${stage.registry.url}/console`);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await signInAt(page);
    await userOf(page).waitFor();
    await page.reload();
    await userOf(page).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain('refresh');
    while (!issuer.grants.includes('refresh_token'))
      await page.waitForResponse((response) => response.url().endsWith('/token'));
    await userOf(page).waitFor();
    await page.context().close();
  });

  test('without a refresh token the console asks in a second window, and what was typed stays', async () => {
    await startIssuer(3_600, false);
    const page = await openConsole();
    await page.goto(`${stage.registry.url}/console#/new-grant`);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await signInAt(page);
    await page.getByLabel('Sink').fill('https://webhook.example.com/typed');
    await page.getByLabel('Agreement', { exact: true }).fill('2026/17');
    await page.route('**/v1/grants', (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole('button', { name: 'Record an agreement' }).click();
    await page.getByText('Your token has expired').waitFor();
    const [beside] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Sign in with' }).click(),
    ]);
    const closed = beside.waitForEvent('close');
    await closed;
    await page.getByText('Your token has expired').waitFor({ state: 'detached' });
    expect(issuer.grants).toEqual(['authorization_code', 'authorization_code']);
    expect(await page.getByLabel('Sink').inputValue()).toBe('https://webhook.example.com/typed');
    expect(await page.evaluate('violations')).toEqual([]);
    await page.context().close();
  });

  test('the console asks again before a token expires that it cannot renew', async () => {
    await startIssuer(55, false);
    const page = await openConsole();
    await page.goto(`${stage.registry.url}/console`);
    await page.getByRole('button', { name: 'Sign in with' }).click();
    await signInAt(page);
    await page.getByText('Your session ends within a minute').waitFor();
    await Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Sign in with' }).click()]);
    await page.getByText('Your session ends within a minute').waitFor({ state: 'detached' });
    expect(issuer.grants).toEqual(['authorization_code', 'authorization_code']);
    await page.context().close();
  });
});
