import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { plainPages } from '../../support/accessible-pages.js';
import { expectAccessible, inBrowser, launch, looks, watch } from '../../support/browser.js';
import { offer } from '../../support/offer.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';

inBrowser('in a browser', () => {
  let registry: Registry;
  let tenant: Tenant;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let check: () => Promise<void>;

  beforeAll(async () => {
    [registry, browser] = await Promise.all([startRegistry({ reachable: true }), launch()]);
    tenant = await createTenant(registry);
  });
  afterAll(async () => {
    await browser?.close();
    await registry?.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext(looks[0]);
    page = await context.newPage();
    check = await watch(page, registry.url);
  });
  /** Whatever a test did: no request left for another host, and the page did nothing that its policy forbids. */
  afterEach(async () => {
    await check();
    await context.close();
  });

  test.each(plainPages)('%s in %s is accessible (WCAG 2.2 A and AA)', async (path, language) => {
    await page.setExtraHTTPHeaders({ 'Accept-Language': language });
    await page.goto(`${registry.url}${path}`);
    expect(await page.getAttribute('html', 'lang')).toBe(language);
    await expectAccessible(page);
  });

  test('with the keyboard alone, a person searches the guides, sees that nothing was found, and opens a result', async () => {
    await page.goto(`${registry.url}/guides/concepts`);
    await page.keyboard.press('/');
    const count = () => page.textContent('#guide-count');
    await page.keyboard.type('qqqq');
    await page.waitForSelector('#guide-found:not([hidden])');
    expect(await count()).toContain('Nothing found for “qqqq”');
    await page.keyboard.press('Escape');
    expect(await page.isVisible('#guide-found')).toBe(false);
    await page.keyboard.type('deciding later');
    await page.waitForSelector('#guide-found a');
    expect(await count()).toMatch(/^\d+ sections?/);
    await expectAccessible(page);
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Concepts: Deciding later');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/guides/concepts#deciding-later');
    expect(await page.isVisible('#guide-found')).toBe(false);
  });

  test('in a narrow window, the list of guides and the headings of the page are one step away', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${registry.url}/guides/concepts`);
    expect(await page.isVisible('.contents')).toBe(false);
    await page.click('.on-this-page summary');
    await page.click('.on-this-page a[href="#glossary"]');
    await page.click('.to-contents');
    await page.click('.contents a[href$="guides/quickstart"]');
    expect(await page.textContent('h1')).toBe('Quickstart');
  });

  test('the reference is accessible, with what is folded in it too', async () => {
    await page.goto(`${registry.url}/docs`);
    // All operations are made in one way, and axe takes its time for each.
    await page.evaluate(`for (const id of ['listSubscriptions', 'createSubscription', 'matchEvent', 'decideCallback'])
      for (const folded of document.querySelectorAll('#' + id + ' details')) folded.open = true;
      for (const folded of document.querySelectorAll('#type-Subscription, #response-BadRequest'))
        folded.closest('details').open = true;`);
    await expectAccessible(page);
  });

  test('the pages of a callback URL are accessible: the question, a wrong rate, permission, refusal, a broken link', async () => {
    const [first, second] = [await offer(registry, tenant), await offer(registry, tenant)];
    await page.goto(first.callback);
    await expectAccessible(page);
    await page.fill('#rate', '1.5');
    await page.click('button[value=allow]');
    await expectAccessible(page);
    await page.fill('#rate', '30');
    await page.click('button[value=allow]');
    expect(await page.textContent('dl')).toContain('30');
    await expectAccessible(page);
    // In Dutch from here on.
    await page.setExtraHTTPHeaders({ 'Accept-Language': 'nl' });
    await page.goto(second.callback);
    expect(await page.getAttribute('html', 'lang')).toBe('nl');
    await expectAccessible(page);
    await page.click('button[value=refuse]');
    await page.goto(`${second.callback}x`);
    await expectAccessible(page);
  });

  test('the callback page has the time of its reader and the theme of the console; no request has its key in a referrer', async () => {
    const { callback } = await offer(registry, tenant);
    await context.close();
    context = await browser.newContext({ ...looks[0], timezoneId: 'America/New_York' });
    page = await context.newPage();
    check = await watch(page, registry.url);
    const referrers: string[] = [];
    page.on('request', (request) => referrers.push(request.headers()['referer'] ?? ''));
    await page.addInitScript(`localStorage.setItem('assent.theme', 'dark')`);
    await page.goto(callback);
    await page.waitForFunction(`document.querySelector('.facts').textContent.includes('where you are')`);
    expect(await page.textContent('.facts')).toMatch(
      / UTC \((?:\d+ \w+(?: at)?,? )?\d\d:\d\d (?:GMT-[45]|E[SD]T) where you are\)/,
    );
    expect(await page.getAttribute('html', 'data-theme')).toBe('dark');
    await page.getByRole('link', { name: 'Guide for owners' }).click();
    await page.getByRole('heading', { name: 'Receive events' }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Nederlands' }).click();
    await page.getByRole('button', { name: 'Weigeren' }).click();
    await page.getByRole('heading', { name: 'Toestemming geweigerd' }).waitFor();
    expect(referrers.length).toBeGreaterThan(8);
    expect(referrers.filter((each) => each !== '' && each !== `${registry.url}/`)).toEqual([]);
  });

  const focused = (selector: string) => page.evaluate<boolean>(`document.activeElement.matches('${selector}')`);
  async function tabTo(selector: string): Promise<void> {
    for (let presses = 0; !(await focused(selector)); presses += 1) {
      if (presses === 600) throw new Error(`The tab key does not lead to ${selector}.`);
      await page.keyboard.press('Tab');
    }
  }

  test('with the keyboard alone, a person pastes a token and sends a request', async () => {
    const scopes = ['assent:subscribe'];
    const token = await createToken(
      { tenant: 'gemeente', subscriber: 'zaaksysteem', scopes, minutes: 5 },
      registry.env,
    );
    await page.goto(`${registry.url}/docs`);
    await page.keyboard.press('Tab');
    expect(await focused('.skip')).toBe(true);
    await page.keyboard.press('Enter');
    await tabTo('#token-field');
    await page.keyboard.insertText(token);
    expect(await page.textContent('#token-claims')).toContain('Client zaaksysteem, scope assent:subscribe.');
    await tabTo('#listOrigins .try > summary');
    await page.keyboard.press('Enter');
    await tabTo('#listOrigins button.first');
    await page.keyboard.press('Enter');
    const output = page.locator('#listOrigins .output');
    await output.waitFor();
    expect(await page.textContent('#listOrigins [role=status]')).toMatch(/^200 OK, \d+ ms$/);
    expect(await output.textContent()).toContain(`"name": "${tenant.origin}"`);
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).toEqual([0, 0, '']);
  });

  test('what came of a stream in some seconds is shown; the curl command has a variable in place of the token', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${registry.url}/docs`);
    const scopes = ['assent:deliver'];
    const token = await createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 5 }, registry.env);
    await page.fill('#token-field', token);
    await page.click('#listChanges .try > summary');
    await page.selectOption('#listChanges-accept', 'text/event-stream');
    await page.click('#listChanges button.first');

    await page.click('#matchEvent .try > summary');
    const last = await page.evaluate<string>(`document.querySelector('#matchEvent-example').options[1].text`);
    await page.selectOption('#matchEvent-example', { label: last });
    await page.fill('#matchEvent-query-origin', `it's & it`);
    await page.click('#matchEvent [data-curl]');
    await page.waitForSelector('#matchEvent .output');
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toMatch(/^curl -i -X POST 'http:\/\/127\.0\.0\.1:\d+\/v1\/match\?origin=it%27s\+%26\+it' \\\n/);
    expect(copied).toContain('-H "Authorization: Bearer $TOKEN"');
    expect(copied).toMatch(/-H 'Content-Type: application\/cloudevents[\w+-]*json'/);
    expect(copied).toContain(await page.inputValue('#matchEvent-body'));
    expect(copied).not.toContain(token);

    await page.waitForSelector('#listChanges .output');
    expect(await page.textContent('#listChanges .output')).toContain('event: heartbeat');
  });

  test('a link into what is folded opens it', async () => {
    await page.goto(`${registry.url}/docs#type-Subscription`);
    expect(await page.isVisible('#type-Subscription')).toBe(true);
  });
});
