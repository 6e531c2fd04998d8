import { type Database, type Sql, service } from '../storage/database.js';
import { renewing, type Budget } from './renew.js';

/** A tenant, or a host of one, whose grants are due faster than its budget renews them. */
interface Overload {
  tenant: string;
  /** Undefined: all hosts together. */
  sinkhost: string | undefined;
  /** Renewals that are due within the next hour, at most one more than fit. */
  due: number;
  /** Handshakes that the budget allows in an hour. */
  budget: number;
}

const minutes = 60;
const action = 'renewals.exceed_budget';

/**
 * Compares the renewals of the next hour with the budgets, and records an excess in the audit record, at most once a day for a
 * tenant. It reads no more grants of a tenant than its budget renews in an hour. Safe in several processes.
 */
export async function findOverloads(
  { sql, write }: Pick<Database, 'sql' | 'write'>,
  budget: Budget,
): Promise<Overload[]> {
  const tenants = await sql.$queryRaw<Array<{ tenant: string }>>`
    with recursive ${renewing} select tenant from known where tenant is not null`;
  const all: Overload[] = [];
  for (const { tenant } of tenants) {
    const found = await overloadsOf({ sql }, tenant, budget);
    if (found.length > 0) await write((tx) => recordOnceADay(tx, tenant, found));
    all.push(...found);
  }
  return all;
}

async function overloadsOf({ sql }: Pick<Database, 'sql'>, tenant: string, budget: Budget): Promise<Overload[]> {
  const most = { tenant: budget.perTenant * minutes, host: budget.perHost * minutes };
  const rows = await sql.$queryRaw<Array<{ sinkhost: string | null; due: number }>>`
    with soon as materialized (
      select sink_host(g.sink) as sinkhost from "grant" g
      where g.state = 'live' and g.tenant = ${tenant} and g.renewat <= now() + make_interval(mins => ${minutes}::int)
      order by g.renewat limit ${most.tenant + 1}
    )
    select null as sinkhost, count(*)::int as due from soon having count(*) > ${most.tenant}
    union all
    select sinkhost, count(*)::int from soon group by sinkhost having count(*) > ${most.host}`;
  return rows.map(({ sinkhost, due }) => {
    return { tenant, sinkhost: sinkhost ?? undefined, due, budget: sinkhost === null ? most.tenant : most.host };
  });
}

/** What was recorded of a tenant within the last day. */
export async function recentOverloads(
  sql: Sql,
  tenant: string,
): Promise<ReadonlyArray<{ sinkhost?: string; budget: number }>> {
  const [row] = await sql.$queryRaw<Array<{ overloads: Array<{ sinkhost?: string; budget: number }> }>>`
    select details -> 'overloads' as overloads from audit
    where tenant = ${tenant} and action = ${action} and at > now() - interval '1 day' order by at desc limit 1`;
  return row?.overloads ?? [];
}

async function recordOnceADay(
  { sql, audit }: Parameters<Parameters<Database['write']>[0]>[0],
  tenant: string,
  found: readonly Overload[],
): Promise<void> {
  const recent = await sql.$queryRaw<unknown[]>`
    select 1 from audit where tenant = ${tenant} and action = ${action} and at > now() - interval '1 day' limit 1`;
  if (recent.length > 0) return;
  const overloads = found.slice(0, 20).map(({ sinkhost, due, budget }) => ({ sinkhost, due, budget }));
  audit(service(tenant), action, `tenant:${tenant}`, { overloads });
}
