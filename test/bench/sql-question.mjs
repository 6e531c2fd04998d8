// The same question as SQL: each subscription is a row with the keys that it can be found by, in a GIN index; an event
// asks for the rows that share a key with it, and what comes back is verified in this process. It is given the better
// of every choice: no fsync, a prepared statement, only the number of a subscription comes back, and its filter is
// compiled already.
import pg from 'pg';
import { dialects } from '../../dist/matching/filters/dialects.js';

const rank = ['subject=', 'source=', 'subject$', 'type^', 'source^', 'type='];

export async function loadSql(url, each) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('drop table if exists matchable; create unlogged table matchable (number int, keys text[])');
  const lengths = new Map();
  let rows = [];
  const flush = async () => {
    const values = rows.map(({ number, keys }) => `(${number}, array[${keys.map((key) => pg.escapeLiteral(key))}])`);
    if (rows.length > 0) await client.query(`insert into matchable values ${values.join(',')}`);
    rows = [];
  };
  for (const [number, subscription] of each) {
    const keys = keysOf(subscription);
    for (const key of keys) noteLength(lengths, key);
    rows.push({ number, keys });
    if (rows.length === 2000) await flush();
  }
  await flush();
  await client.query(
    'create index on matchable using gin (keys) with (fastupdate = off); vacuum analyze matchable'.split(';')[0],
  );
  await client.query('vacuum analyze matchable');
  await client.end();
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  return {
    async ask(event) {
      const text = 'select number from matchable where keys && $1::text[]';
      const { rows: found } = await pool.query({
        name: 'match',
        text,
        values: [eventKeys(event, lengths)],
        rowMode: 'array',
      });
      return found;
    },
    end: () => pool.end(),
  };
}

/** Keys of which an event that matches has at least one; '*' if there is no such key. */
function keysOf({ source, types, subject, filters = [] }) {
  const choices = filters.flatMap((filter) => necessary(filter, true));
  if (source) choices.push([`source=${source}`]);
  if (subject) choices.push([`subject=${subject}`]);
  if (types) choices.push(types.map((type) => `type=${type}`));
  const worst = (keys) => Math.max(...keys.map(rankOf));
  choices.sort((one, other) => worst(one) - worst(other) || one.length - other.length);
  return choices[0] ?? ['*'];
}

function rankOf(key) {
  const place = rank.findIndex((start) => key.startsWith(start));
  return place < 0 ? rank.length : place;
}

function necessary(filter, wanted) {
  const [[dialect, value]] = Object.entries(filter);
  if (dialect === 'not') return necessary(value, !wanted);
  if (dialect === 'sql') return wanted ? dialects.sql(value).anchors.map((choice) => choice.map(anchorKey)) : [];
  if (dialect === 'all' || dialect === 'any') {
    if ((dialect === 'all') === wanted) return value.flatMap((nested) => necessary(nested, wanted));
    const firsts = value.map((nested) => necessary(nested, wanted)[0]);
    return firsts.includes(undefined) ? [] : [firsts.flat()];
  }
  return wanted ? Object.entries(value).map(([name, text]) => [anchorKey({ attribute: name, [dialect]: text })]) : [];
}

function anchorKey({ attribute, exact, prefix, suffix }) {
  if (exact !== undefined) return `${attribute}=${exact}`;
  return prefix === undefined ? `${attribute}$${suffix}` : `${attribute}^${prefix}`;
}

function noteLength(lengths, key) {
  const [, what, text] = /^([a-z0-9]+[$^])(.*)$/s.exec(key) ?? [];
  if (what) lengths.set(what, (lengths.get(what) ?? new Set()).add(text.length));
}

function eventKeys(event, lengths) {
  const keys = ['*'];
  for (const name of ['type', 'source', 'subject', 'id', 'tenantid']) {
    const text = event.get(name);
    if (text === undefined) continue;
    keys.push(`${name}=${text}`);
    for (const length of lengths.get(`${name}^`) ?? []) {
      if (length <= text.length) keys.push(`${name}^${text.slice(0, length)}`);
    }
    for (const length of lengths.get(`${name}$`) ?? []) {
      if (length <= text.length) keys.push(`${name}$${text.slice(text.length - length)}`);
    }
  }
  return keys;
}
