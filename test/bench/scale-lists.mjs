// Milliseconds of what people look at: the console's page Today, and pages of lists.
import { median, round2 } from './measure.mjs';

const rounds = 7;
const after = (ms) => new Date(Date.now() + ms).toISOString();
const days = 86_400_000;

export async function measureLists({ url, token }) {
  const headers = { Authorization: `Bearer ${await token('assent:admin', 'bench')}` };
  const get = async (path) => {
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return response.headers.get('Link');
  };
  /** Of the page after this one. */
  const cursorIn = async (path) => new URL(/<(.*)>/.exec(await get(path))[1], url).searchParams.get('cursor');
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
  const pages = {};
  for (const [list, away] of [
    ['grants', 5 * days],
    ['subscriptions', 335 * days],
  ]) {
    const first = `/v1/${list}?sort=expiresat&limit=50`;
    pages[`${list} by expiry, first page`] = first;
    pages[`${list} by expiry, deep`] =
      `${first}&cursor=${await cursorIn(`/v1/${list}?sort=expiresat&limit=1&expiressince=${after(away)}`)}`;
    pages[`${list}, first page`] = `/v1/${list}?limit=50`;
  }
  const rows = [{ page: 'today', ms: await time(today()) }];
  for (const [page, path] of Object.entries(pages)) rows.push({ page, ms: await time([path]) });
  return rows;
}

/** What the page requests, at once. */
const today = () => ['/v1/overview', '/v1/statistics', '/v1/health'];
