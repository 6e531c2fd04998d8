// Milliseconds of what people look at: the console's page Today, and pages of lists.
import pg from 'pg';
import { median, round2 } from './measure.mjs';

const rounds = 7;
const days = 86_400_000;

export async function measureLists({ url, databaseUrl, token }) {
  const headers = { Authorization: `Bearer ${await token('assent:admin', 'bench')}` };
  const get = async (path) => {
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  };
  const time = async (paths) => {
    const times = [];
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now();
      await Promise.all(paths.map(get));
      // The first one plans and reads from the disk.
      if (round > 0) times.push(performance.now() - startedAt);
    }
    return round2(median(times));
  };
  const { grant, subscription } = await readMiddle(databaseUrl);
  const pages = {
    'grants, first page': '/v1/grants?limit=50',
    'grants, deep': `/v1/grants?limit=50&cursor=${cursorOf('/v1/grants', grant)}`,
    'subscriptions, first page': '/v1/subscriptions?limit=50',
    'subscriptions, deep': `/v1/subscriptions?limit=50&cursor=${cursorOf('/v1/subscriptions', subscription)}`,
  };
  const rows = [{ page: 'today', ms: await time(today()) }];
  for (const [page, path] of Object.entries(pages)) rows.push({ page, ms: await time([path]) });
  return rows;
}

/** What the page requests, at once. */
function today() {
  const soon = new Date(Date.now() + 30 * days).toISOString();
  const statuses = ['refused', 'unreachable', 'retired', 'expired&reason=expired', 'blocked'];
  return [
    ...statuses.map((status) => `/v1/subscriptions?status=${status}&limit=3&count=true`),
    '/v1/subscriptions?status=pending&limit=200',
    `/v1/grants?state=live&renews=false&limit=200&expiresuntil=${soon}`,
    '/v1/grants?state=live&held=true&limit=200',
    '/v1/origins?limit=200',
    '/v1/blocks?limit=200',
  ];
}

/** The key in the middle of each list. */
async function readMiddle(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const middle = async (table) => {
    const { rows } = await client.query(
      `select id from ${table} where tenant = 'bench' order by id
       offset (select count(*) / 2 from ${table} where tenant = 'bench') limit 1`,
    );
    return rows[0].id;
  };
  const found = { grant: await middle('"grant"'), subscription: await middle('subscription') };
  await client.end();
  return found;
}

/** As src/registry/http/page.ts writes it. */
const cursorOf = (path, key) => Buffer.from(`${path} ${key}`).toString('base64url');
