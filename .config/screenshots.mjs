// Takes the screenshots of README.md and docs/ from a running registry with a webhook, in light and dark: `npm run
// screenshots`. It writes docs/images/, with a hash of what the pages are made of: test/docs/screenshots.test.ts says when
// they are older than the pages.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the pages are made of. */
export async function hashOfPages() {
  const hash = createHash('sha256');
  const folder = join(root, 'src/console');
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    if (!/\.(tsx?|css)$/.test(name)) continue;
    hash.update(`${name.replaceAll('\\', '/')}\n`).update(await readFile(join(folder, name)));
  }
  return hash.digest('hex');
}

const places = {
  /** As the link that `assent try` prints shows it. */
  first: () => '#/',
  subscription: ({ refused }) => `#/subscriptions/${refused}`,
};

async function takeScreenshots() {
  const { chromium } = await import('playwright-core');
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
  const data = await mkdtemp(join(tmpdir(), 'assent-screenshots-'));
  const stage = spawn(
    process.execPath,
    ['dist/tools/cli/assent.js', 'try', '--port', '0', '--webhook-port', '0', '--data', data],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    await printed(stage, 'sign you in');
    const env = await readEnv(join(data, 'try', 'env'));
    const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox'] });
    await mkdir(join(root, 'docs/images'), { recursive: true });
    const take = async (names, ids) => {
      for (const colorScheme of ['light', 'dark']) {
        const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 860 }, locale: 'en' });
        await page.goto(`${new URL('..', env.API)}console#token=${env.ADMIN}`);
        for (const name of names) {
          await page.evaluate(`location.hash = ${JSON.stringify(places[name](ids))}`);
          await page.waitForSelector('main h1');
          await page.waitForTimeout(1_500);
          await page.screenshot({ path: join(root, `docs/images/console-${name}-${colorScheme}.png`) });
        }
        await page.close();
      }
    };
    await take(['first']);
    await take(['subscription'], await populate(env));
    await browser.close();
    await writeFile(join(root, 'docs/images/pages.sha256'), `${await hashOfPages()}\n`);
  } finally {
    stage.kill('SIGINT');
    await new Promise((resolve) => stage.once('exit', resolve));
    await rm(data, { recursive: true, force: true });
  }
}

/** Everything of the example is there when its links are printed. */
function printed({ stdout }, words) {
  let text = '';
  return new Promise((resolve) => {
    stdout.on('data', (part) => {
      text += part;
      if (text.includes(words)) resolve();
    });
  });
}

/** The variables of `assent try`, as soon as it has written them. */
async function readEnv(path) {
  for (;;) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.includes('OPERATIONS='))
      return Object.fromEntries([...text.matchAll(/^(\w+)='(.*)'$/gm)].map(([, n, v]) => [n, v]));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Webhooks of all sorts, and a day of deliveries. */
async function populate({ API, CONSUMER, ADMIN, SENDER, WEBHOOK }) {
  const post = async (path, token, body) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return (await fetch(`${API}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const subscribe = (path, more) =>
    post('/subscriptions', CONSUMER, { sink: `${WEBHOOK}${path}`, protocol: 'HTTP', ...more });
  const refused = await subscribe('/closed', { types: ['com.example.order.created', 'com.example.order.paid'] });
  await subscribe('/later', { types: ['com.example.invoice.sent'] });
  await subscribe('/events', { filters: [{ prefix: { subject: 'orders/' } }] });
  await subscribe('/events', { types: ['com.example.order.cancelled'], subject: 'orders/7' });
  const paused = await subscribe('/events', { source: 'urn:example:stock' });
  await post(`/subscriptions/${paused.id}/suspend`, CONSUMER, { reason: 'Maintenance until Monday.' });
  await post('/blocks', ADMIN, { kind: 'host', value: 'old.example.net', reason: 'The host was sold. See INC-1042.' });
  const outcome = { origin: 'eventemitter.example.com', sink: `${WEBHOOK}/events` };
  for (let sent = 0; sent < 40; sent += 1) {
    await post('/deliveries/outcomes', SENDER, [{ ...outcome, status: sent % 9 === 0 ? 500 : 204 }]);
  }
  await post('/leases', SENDER, { ...outcome, instance: 'mailroom', requests: 20 });
  return { refused: refused.id };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await takeScreenshots();
