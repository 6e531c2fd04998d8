import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect } from '@jest/globals';
import { chromium, type Browser, type Page } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = places.find((place) => existsSync(place));
if (executablePath === undefined) {
  if (process.env['TEST_BROWSER'] === 'required') throw new Error(`There is no Chromium: ${places.join(', ')}.`);
  console.log('There is no Chromium here, so the pages are not opened in a browser.');
}

/** As `describe`, where there is a Chromium. */
export const inBrowser: typeof describe.skip = executablePath === undefined ? describe.skip : describe;

export function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  return chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const criteria = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export interface Look {
  colorScheme: 'light' | 'dark';
  forcedColors?: 'active' | 'none';
  viewport: { width: number; height: number };
}

export const looks: readonly [Look, ...Look[]] = [
  { colorScheme: 'light', forcedColors: 'none', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', forcedColors: 'none', viewport: { width: 320, height: 640 } },
];

/** WCAG 2.2, A and AA, in each look. A page is never wider than the window. */
export async function expectAccessible(page: Page, inLooks: readonly Look[] = looks): Promise<void> {
  // As the tools of a developer do it: the policy of the page would refuse it as a script of its own.
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axe);
  for (const { colorScheme, forcedColors, viewport } of inLooks) {
    // A colour on its way to another one has no contrast to measure.
    await page.emulateMedia({ colorScheme, forcedColors: forcedColors ?? 'none', reducedMotion: 'reduce' });
    await page.setViewportSize(viewport);
    const settings = JSON.stringify({ runOnly: criteria, resultTypes: ['violations'] });
    const { violations } = await page.evaluate<{ violations: Array<{ id: string; nodes: Array<{ html: string }> }> }>(
      `axe.run(document, ${settings})`,
    );
    expect(violations.map(({ id, nodes }) => [id, nodes.length, nodes[0]?.html])).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  }
  // As a test goes on: what folds in a narrow window is there again.
  await page.setViewportSize(looks[0].viewport);
}

/**
 * Watches a page from its beginning. The returned function expects that it did nothing that its policy forbids, threw
 * nothing, and sent no request to another host.
 */
export async function watch(page: Page, origin: string): Promise<() => Promise<void>> {
  const requested: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('pageerror', (error) => errors.push(error.message));
  await page.addInitScript(`
    window.violations = [];
    addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective + ' ' + event.blockedURI));
  `);
  return async () => {
    expect(await page.evaluate('violations')).toEqual([]);
    expect(errors).toEqual([]);
    expect(requested.length).toBeGreaterThan(0);
    expect(requested.filter((url) => new URL(url).origin !== new URL(origin).origin)).toEqual([]);
  };
}
