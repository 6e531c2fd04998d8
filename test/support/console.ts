import type { Browser, Page } from 'playwright-core';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import type { Scope } from '../../src/base/contract/principal.js';
import { launch, looks, watch } from './browser.js';
import { startRegistry, type Registry, type RegistrySettings } from './registry.js';
import { createTenant, type Tenant } from './tenant.js';

/** A registry with a tenant, and a browser. */
export interface ConsoleStage {
  registry: Registry;
  tenant: Tenant;
  browser: Browser;
  /**
   * Opens the console in a new context, signed in with these scopes, at a place (`#/subscriptions`), from `url` if a proxy
   * is in front. `check` expects that
   * the page broke no policy, and closes it; call it at the end of each test.
   */
  open(
    scopes: Scope[],
    place: string,
    who?: { subscriber?: string; tenant?: string; language?: string; url?: string },
  ): Promise<Opened>;
  stop(): Promise<void>;
}

export interface Opened {
  page: Page;
  check(): Promise<void>;
}

/** The button of the user's menu, once this user is signed in. */
export const userOf = (page: Page, name = '') =>
  page.getByRole('button', { name: 'Signed in as' }).filter({ hasText: name });

export async function signOut(page: Page): Promise<void> {
  await userOf(page).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
}

export async function startConsole(settings: RegistrySettings = {}): Promise<ConsoleStage> {
  const [registry, browser] = await Promise.all([startRegistry({ reachable: true, ...settings }), launch()]);
  const tenant = await createTenant(registry);
  return {
    registry,
    tenant,
    browser,
    async open(
      scopes,
      place,
      { subscriber = 'zaaksysteem', tenant: of = 'gemeente', language = 'en', url = registry.url } = {},
    ) {
      const token = await createToken({ tenant: of, subscriber, scopes, minutes: 60 }, registry.env);
      const [{ colorScheme, viewport }] = looks;
      const context = await browser.newContext({ colorScheme, viewport, locale: language });
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      const check = await watch(page, url);
      await page.goto(`${url}/console#token=${token}`);
      await page.waitForSelector('nav a');
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      return {
        page,
        check: async () => {
          await check();
          await context.close();
        },
      };
    },
    async stop() {
      await browser.close();
      await registry.stop();
    },
  };
}
