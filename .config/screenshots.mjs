// Takes pictures of the pages, of a registry with a plausible day (day.mjs): `npm run screenshots`.
//
// Without options it takes those of README.md and docs/, and writes them to docs/images/ with a hash of what the pages are
// made of: test/docs/screenshots.test.ts says when they are older than the pages.
//
// `npm run screenshots -- --all --out FOLDER` takes every page, tab and dialog, for who works on them. These narrow it:
//
//   --pages NAME,...       --list prints the names; `subscription*` takes all that begin so
//   --widths 1280,768,390  --themes light,dark  --languages en,nl
//   --plain                no tabs, menus and dialogs
//   --full                 the whole height of a page instead of the window
//   --subscriptions 10000  another number of them; --fresh makes the day again
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the pages are made of. */
export async function hashOfPages() {
  const hash = createHash('sha256');
  const inFolder = async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name));
  const found = await Promise.all(['src/console', 'src/registry/pages/assets'].map(inFolder));
  const names = [...found.flat(), 'src/registry/handshake/callback-page.ts', 'src/registry/http/html-page.ts'];
  for (const name of names.map((each) => each.replaceAll('\\', '/')).sort()) {
    if (/\.(tsx?|css)$/.test(name)) hash.update(`${name}\n`).update(await readFile(join(root, name)));
  }
  return hash.digest('hex');
}

const everyScope = ['assent:admin', 'assent:subscribe', 'assent:deliver'];
const caseAdmin = {
  tenant: 'gemeente',
  subscriber: 'case-admin',
  scopes: everyScope,
  person: 'noor.bakker@example.nl',
  name: 'Noor Bakker',
};

const subscriptionAt = (sink) => async (day) => {
  const [{ id }] = await day.sql('select id::text from subscription where sink = $1', sink);
  return `#/subscriptions/${id}`;
};
/** The newest of a status. */
const subscriptionOf = (status, code) => async (day) => {
  const [row] = await day.sql(
    `select s.id::text from subscription s cross join lateral (select * from subscription_status d where d.id = s.id) d
     where d.status = $1 and ($2::text is null or d.code = $2) order by s.id desc limit 1`,
    status,
    code ?? null,
  );
  return row && `#/subscriptions/${row.id}`;
};
/** The newest grant for which a condition of SQL holds. */
const grantWhere = (condition) => async (day) => {
  const [row] = await day.sql(`select id::text from "grant" where ${condition} order by id desc limit 1`);
  return row && `#/grants/${row.id}`;
};

const event = {
  specversion: '1.0',
  id: '5b3c1a52',
  source: 'https://shop.example.com/orders',
  type: 'com.example.order.created',
  subject: 'orders/1042',
  time: '2026-11-25T09:24:00Z',
  region: 'eu-west',
  datacontenttype: 'application/json',
  data: { total: 129.5 },
};

/** The address of the callback page of a webhook that has not decided. */
const callbackPage = async (day) => {
  const callback = await day.callbackAt('https://events.delta.example/v2/callback');
  return callback && new URL(callback).pathname + new URL(callback).search;
};

/**
 * Every page, by name. `at` is a place in the console, or a path of the registry, and can be found when it is opened; `who`
 * signs in, by default an admin; `act` fills the page.
 */
const pages = {
  landing: { at: '/' },
  guides: { at: '/guides/' },
  guide: { at: '/guides/consumers/receive' },
  reference: { at: '/reference' },
  callback: { at: callbackPage },
  'callback-unknown': { at: '/v1/callbacks/01a211e7-7762-7086-8000-000000000000?key=unknown' },
  'sign-in': { at: '/console', who: null },
  today: { at: '#/' },
  'today-consumer': { at: '#/', who: { ...caseAdmin, subscriber: 'orders-team', scopes: ['assent:subscribe'] } },
  subscriptions: { at: '#/subscriptions' },
  'subscriptions-refused': { at: '#/subscriptions?status=refused' },
  'subscriptions-search': { at: '#/subscriptions', act: ({ page }) => type(page, 'status:') },
  'subscriptions-chosen': { at: '#/subscriptions', act: chooseTwo },
  'subscriptions-none': { at: '#/subscriptions?status=refused&origin=nowhere.example.com' },
  'subscription-refused': { at: subscriptionAt('https://hooks.acme.example/orders/events') },
  'subscription-cors': { at: subscriptionAt('https://api.noord.example/ontvangst') },
  'subscription-waiting': { at: subscriptionAt('https://events.delta.example/v2/callback') },
  'subscription-retrying': { at: subscriptionAt('https://hooks.kust.example/in') },
  'subscription-active': { at: subscriptionAt('https://orders.example.com/hooks') },
  'subscription-blocked': { at: subscriptionAt('https://collector.example.net/ingest') },
  'subscription-suspended': { at: subscriptionAt('https://staging.example.com/hooks') },
  'subscription-unreachable': { at: subscriptionOf('unreachable') },
  'subscription-expired': { at: subscriptionOf('expired', 'expired') },
  'subscription-ended': { at: subscriptionOf('expired', 'ended') },
  'subscription-retired': { at: subscriptionOf('retired') },
  'subscription-revoked': { at: subscriptionOf('refused', 'revoked') },
  'subscription-unknown': { at: '#/subscriptions/01a211e7-7762-7086-8000-000000000000' },
  register: { at: '#/register' },
  'register-filled': { at: '#/register', act: fillRegister },
  playground: { at: '#/playground' },
  'playground-result': { at: '#/playground', act: fillPlayground },
  grants: { at: '#/grants' },
  'grants-ending': { at: '#/grants?state=live&renews=false&within=30' },
  grant: { at: grantWhere(`sink = 'https://orders.example.com/hooks'`) },
  'grant-revoked': { at: grantWhere(`state = 'revoked'`) },
  'grant-agreement': { at: grantWhere(`basis = 'agreement'`) },
  'new-grant': {
    at: `#/new-grant?${new URLSearchParams({ origin: 'shop.example.com', sink: 'https://events.delta.example/v2/callback' })}`,
  },
  origins: { at: '#/origins' },
  hosts: { at: '#/origins?tab=hosts' },
  origin: { at: '#/origins/shop.example.com' },
  'origin-rules': { at: '#/origins/identity.example.com?tab=rules' },
  'origin-settings': { at: '#/origins/shop.example.com?tab=settings' },
  'new-origin': { at: '#/new-origin' },
  blocks: { at: '#/blocks' },
  block: {
    at: async (day) => `#/blocks/${(await day.sql(`select id::text from block where kind = 'host'`))[0]?.id}`,
  },
  'new-block': { at: '#/new-block' },
  'new-block-filled': { at: '#/new-block?kind=host&value=collector.example.net&until=hour' },
  audit: { at: '#/audit' },
  feed: { at: '#/feed' },
  'not-found': { at: '#/nowhere' },
  'not-allowed': { at: '#/audit', who: { ...caseAdmin, scopes: ['assent:subscribe'] } },
};

/** The pictures of README.md and docs/, by name. */
const pictures = {
  subscriptions: 'subscriptions',
  subscription: 'subscription-refused',
  register: 'register-filled',
  today: 'today',
  playground: 'playground-result',
  callback: 'callback',
};

async function fillRegister({ page }) {
  const main = page.locator('main');
  await main.getByLabel('Sink').fill('https://orders.example.com/hooks');
  await main.getByLabel('Types').fill('com.example.order.created,');
  for (const [attribute, operator, value] of [
    ['subject', 1, 'orders/'],
    ['region', 0, 'eu-west'],
  ]) {
    await main.getByRole('button', { name: '+' }).click();
    const row = main.locator('.condition').last();
    await row.locator('input').first().fill(attribute);
    await row.locator('select').selectOption({ index: operator * 2 });
    await row.locator('input').last().fill(value);
  }
  await settled(page);
  const event = main.locator('aside textarea');
  await event.fill((await event.inputValue()).replace('eu-west', 'eu-north'));
  await main.locator('aside button').first().click();
  await main.locator('aside pre').first().waitFor();
  await settled(page);
}

async function fillPlayground({ page }) {
  await page
    .locator('main textarea')
    .first()
    .fill(JSON.stringify(event, null, 2));
  await settled(page);
}

async function type(page, text) {
  await page.locator('main input').first().pressSequentially(text);
  await settled(page);
}

async function chooseTwo({ page }) {
  for (const place of [1, 2]) await page.locator('main table input[type=checkbox]').nth(place).check();
  await settled(page);
}

/** Nothing is being loaded, and two looks at the page are the same. */
async function settled(page) {
  let before = '';
  for (let turn = 0; turn < 25; turn += 1) {
    await page.waitForTimeout(120);
    const [text, busy] = await page.evaluate(
      `[document.body.innerText + document.querySelectorAll('*').length,
        document.querySelectorAll('[aria-busy=true], .skeleton').length > 0 || /^(Loading|Wordt geladen|Laden)…?$/m.test(document.body.innerText)]`,
    );
    if (text === before && !busy) return;
    before = text;
  }
}

async function launch() {
  const { chromium } = await import('playwright-core');
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars', '--force-color-profile=srgb'];
  return chromium.launch({ ...(executablePath && { executablePath }), args });
}

/** Opens pages of the day in a look: a width, a theme and a language. */
async function createCamera({ width, theme, language }, { day, browser, turnClock }) {
  day.rewind();
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height: width < 600 ? 844 : 800 },
    locale: language,
    timezoneId: 'Europe/Amsterdam',
    reducedMotion: 'reduce',
  });
  await context.addInitScript(turnClock(String(day.ahead())));
  return {
    close: () => context.close(),
    /** Undefined if it is not there. */
    async open(name) {
      const { at, who = caseAdmin, act } = pages[name];
      day.rewind();
      const place = typeof at === 'function' ? await at(day) : at;
      if (place === undefined) return void console.error(`  ${name}: the day has none`);
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      page.on('pageerror', (error) => console.error(`  ${name}: ${error.message}`));
      try {
        if (place.startsWith('#')) {
          await page.goto(`${day.url}/console#token=${await day.token(who)}`);
          await page.waitForSelector('nav a, header a');
          await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
        } else await page.goto(`${day.url}${place}`);
        await page.waitForSelector('h1');
        await settled(page);
        await act?.({ page, day, language });
        return page;
      } catch (error) {
        console.error(`  ${name}: ${error.message.split('\n')[0]}`);
        await page.close();
        return undefined;
      }
    },
  };
}

async function takeAll({ day, browser, turnClock }, names, { out, widths, themes, languages, plain, full }) {
  await mkdir(out, { recursive: true });
  let count = 0;
  for (const language of languages) {
    for (const theme of themes) {
      for (const width of widths) {
        const camera = await createCamera({ width: Number(width), theme, language }, { day, browser, turnClock });
        for (const name of names) {
          const page = await camera.open(name);
          if (page === undefined) continue;
          const shoot = async (part = '') => {
            const path = join(out, `${name}${part}-${width}-${theme}-${language}.png`);
            await page.screenshot({ path, fullPage: full && part === '' });
            count += 1;
          };
          await shoot();
          if (!plain) {
            await walk(page, shoot, name).catch((error) => console.error(`  ${name}: ${error.message.split('\n')[0]}`));
          }
          await page.close();
        }
        await camera.close();
      }
    }
  }
  console.log(`${count} pictures in ${out}`);
}

/** Requests that write nothing. */
const isRead = (request) => request.method() === 'GET' || /\/(?:match|check)$|dryrun/i.test(request.url());
const opened = 'dialog[open], [popover]:popover-open';

/** Each tab, and what buttons open there: menus, dialogs, and what is folded away. Nothing is written. */
async function walk(page, shoot, name) {
  const problem = { code: 'not_written', title: 'Pictures write nothing.', status: 403, detail: '' };
  await page.route('**/v1/**', (route) =>
    isRead(route.request()) ? route.fallback() : route.fulfill({ status: 403, json: problem }),
  );
  const known = new Set();
  const place = await page.evaluate('location.href');
  const tabs = page.locator('main [role=tab], main nav:has(a[href*="tab="]) a');
  const count = await tabs.count();
  for (let turn = 0; turn < Math.max(count, 1); turn += 1) {
    if (count > 0) {
      const title = await tabs.nth(turn).innerText();
      await tabs.nth(turn).click();
      await settled(page);
      if (turn > 0) await shoot(`-tab${slug(title)}`);
    }
    await walkButtons(page, shoot, name, known);
    await page.goto(place);
    await settled(page);
  }
  if (name !== 'today') return;
  await page.keyboard.press('Control+k');
  await settled(page);
  if (await isOpen(page)) await shoot('-find');
}

const isOpen = async (page) => (await page.locator(opened).count()) > 0;

/** Clicks each button whose name was not seen before. */
async function walkButtons(page, shoot, name, known) {
  const place = await page.evaluate('location.href');
  const again = async () => {
    await page.goto(place);
    await page.reload();
    await page.waitForSelector('h1');
    await settled(page);
  };
  const click = async (button) => {
    await button.click({ timeout: 2_000 });
    await settled(page);
  };
  const buttons = `main button:not([type=submit]), main summary${name === 'today' ? ', header [popovertarget]' : ''}`;
  for (const [index, label] of (await labelsOf(page, buttons)).entries()) {
    if (label === '' || known.has(label)) continue;
    known.add(label);
    const button = page.locator(buttons).nth(index);
    try {
      if (!(await button.isVisible()) || (await button.isDisabled())) continue;
      const isFolded = await button.evaluate((each) => each.matches('summary'));
      await click(button);
      if (isFolded) await shoot(`-folded${slug(label)}`);
      if (!(await isOpen(page))) {
        await again();
        continue;
      }
      await shoot(`-open${slug(label)}`);
      // In the menu of the user are the language and the way out.
      const isOfPage = await button.evaluate((each) => each.closest('main') !== null);
      const items = isOfPage ? await labelsOf(page, '[popover]:popover-open button') : [];
      for (const [itemIndex, item] of items.entries()) {
        if (known.has(item)) continue;
        known.add(item);
        if (!(await isOpen(page))) await click(button);
        await click(page.locator('[popover]:popover-open button').nth(itemIndex));
        if (await isOpen(page)) await shoot(`-open${slug(`${label} ${item}`)}`);
        await again();
      }
      await again();
    } catch (error) {
      console.error(`  ${name}: ${label}: ${error.message.split('\n')[0]}`);
      await again();
    }
  }
}

const labelsOf = (page, selector) =>
  page
    .locator(selector)
    .evaluateAll((found) => found.map((each) => (each.getAttribute('aria-label') ?? each.innerText).trim()));

const slug = (label) => {
  const words = label.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.length === 0 ? '' : `-${words.slice(0, 5).join('-')}`;
};

/** Makes the window a little higher or lower, so that its edge cuts no line. */
async function fit(page) {
  const height = await page.evaluate(`(() => {
    const lines = [...document.querySelectorAll(
      ':is(tr, li, p, dt, dd, h1, h2, h3, summary, button, input, select, textarea, label, pre):not(header *)',
    )]
      // What is folded away has a place, too.
      .filter((each) => each.checkVisibility())
      .map((each) => each.getBoundingClientRect())
      .filter(({ top, bottom }) => bottom > top && bottom - top < 160);
    const heights = Array.from({ length: 141 }, (_, step) => 800 + (step % 2 ? -1 : 1) * Math.ceil(step / 2));
    // Rows of a table leave no room between them.
    return [-8, 1]
      .map((room) => heights.find((edge) => lines.every(({ top, bottom }) => bottom <= edge + room || top >= edge - 1)))
      .find((height) => height !== undefined);
  })()`);
  await page.evaluate('document.activeElement?.blur()');
  if (height !== undefined) await page.setViewportSize({ width: 1280, height });
  await settled(page);
}

async function takePictures({ day, browser, turnClock }) {
  const out = join(root, 'docs/images');
  await mkdir(out, { recursive: true });
  for (const theme of ['light', 'dark']) {
    const camera = await createCamera({ width: 1280, theme, language: 'en' }, { day, browser, turnClock });
    for (const [picture, name] of Object.entries(pictures)) {
      const page = await camera.open(name);
      if (page === undefined) throw new Error(`There is no ${name}.`);
      await fit(page);
      await page.screenshot({ path: join(out, `console-${picture}-${theme}.png`) });
      await page.close();
    }
    await camera.close();
  }
  await writeFile(join(out, 'pages.sha256'), `${await hashOfPages()}\n`);
}

async function main() {
  const { values } = parseArgs({
    options: {
      all: { type: 'boolean', default: false },
      out: { type: 'string' },
      pages: { type: 'string', default: '*' },
      widths: { type: 'string', default: '1280,768,390' },
      themes: { type: 'string', default: 'light,dark' },
      languages: { type: 'string', default: 'en,nl' },
      plain: { type: 'boolean', default: false },
      full: { type: 'boolean', default: false },
      subscriptions: { type: 'string', default: '300' },
      fresh: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  if (values.list) return console.log(Object.keys(pages).join('\n'));
  const patterns = values.pages.split(',');
  const names = Object.keys(pages).filter((name) =>
    patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern)),
  );
  if (values.all && names.length === 0) throw new Error('No page has this name: --list prints them.');
  if (values.all && !values.out) throw new Error('--out names the folder.');
  const { openDay, turnClock } = await import('./day.mjs');
  const day = await openDay({ subscriptions: Number(values.subscriptions), fresh: values.fresh, log: console.error });
  const browser = await launch();
  try {
    if (values.all) {
      const [widths, themes, languages] = [values.widths, values.themes, values.languages].map((list) =>
        list.split(','),
      );
      await takeAll({ day, browser, turnClock }, names, { ...values, widths, themes, languages });
    } else await takePictures({ day, browser, turnClock });
  } finally {
    await browser.close();
    await day.stop();
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await main();
