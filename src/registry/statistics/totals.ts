import type { components } from '../../base/contract/contract.gen.js';
import { verdicts } from '../../consent/verdicts.js';
import type { OperationRequest } from '../http/handler.js';
import type { Database } from '../storage/database.js';
import { hostCounts } from './counter.js';

type Query = OperationRequest<'getStatisticTotals'>['query'];
type Entry = components['schemas']['StatisticTotal'];

/** What an origin has in the columns of a host. */
const ofOrigins: Readonly<Record<(typeof hostCounts)[number], string>> = {
  delivered: "kind = 'delivery' and code = 'delivered'",
  throttled: "kind = 'delivery' and code = 'throttled'",
  gone: "kind = 'delivery' and code = 'gone'",
  failed: "kind = 'delivery' and code not in ('delivered', 'throttled', 'gone')",
  refused: "kind = 'handshake' and code = any ($5)",
  leased: "kind = 'lease' and code = 'leased'",
  allowed: "kind = 'lease' and code = 'allowed'",
};
const refusals = Object.entries(verdicts).flatMap(([code, { outcome }]) => (outcome === 'refused' ? [code] : []));

/** Columns of the response, and by what they are sorted. */
const sorts: Readonly<Record<NonNullable<Query['sort']>, string>> = {
  '-deliveries': 'deliverycount',
  '-failures': 'failurecount',
  '-throttled': 'throttledcount',
  '-gone': 'gonecount',
  '-refusals': 'refusalcount',
  '-used': 'usedcount / nullif(allowedcount, 0)',
};

/** What happened since then, added up. One more entry than the limit if there are more; none for what has no number. */
export function readTotals(
  { query }: Pick<Database, 'query'>,
  tenant: string,
  { by, sort = '-failures', limit = 50, name, since }: Query & { since: number },
): Promise<Entry[]> {
  const isHost = by === 'host';
  const sums = hostCounts.map((column) =>
    isHost ? `sum(${column}) as ${column}` : `coalesce(sum(count) filter (where ${ofOrigins[column]}), 0) as ${column}`,
  );
  const source = isHost
    ? `select host as name, ${sums.join()} from host_statistic where tenant = $1 and startsat >= $2::timestamptz
         and ($3::text is null or host = $3)`
    : `select origin as name, ${sums.join()} from statistic where tenant = $1 and step = 'hour' and startsat >= $2::timestamptz
         and ($3::text is null or origin = $3)`;
  // The address of a host is that of its latest consent, as blocks on networks compare it.
  const isBlocked = isHost
    ? `b.kind in ('host', 'domain', 'network', 'tenant') and blocks_pair(b.kind, b.value, '', 'https://' || t.name || '/', (
         select g.address from "grant" g where g.tenant = $1 and sink_host(g.sink) = t.name and g.address is not null
         order by g.id desc limit 1))`
    : `(b.kind = 'tenant' or (b.kind = 'origin' and b.value = t.name))`;
  const failures = '(throttled + gone + failed)::float8';
  const order = `order by ${sorts[sort]} desc nulls last, name`;
  return query<Entry>(
    `select t.*, exists (select from block b where b.tenant in ($1, '*') and ${isBlocked}) as blocked
     from (
       select * from (
         select name, delivered + ${failures} as deliverycount, ${failures} as failurecount,
           throttled::float8 as throttledcount, gone::float8 as gonecount, refused::float8 as refusalcount,
           leased::float8 as usedcount, allowed::float8 as allowedcount
         from (${source} group by 1) s) s
       where deliverycount + refusalcount + usedcount + allowedcount > 0
       ${order} limit $4
     ) t ${order}`,
    [tenant, new Date(since).toISOString(), name?.toLowerCase() ?? null, limit + 1, ...(isHost ? [] : [refusals])],
  );
}
