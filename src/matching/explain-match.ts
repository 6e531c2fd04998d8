import { setImmediate } from 'node:timers/promises';
import type { components } from '../http/contract.gen.js';
import type { Principal } from '../http/principal.js';
import type { Database } from '../storage/database.js';
import { firstFailure } from './explain.js';
import type { Filter } from './filter.js';
import type { ContextAttributes } from '../events/context-attributes.js';

type Explanation = components['schemas']['Explanation'];

/** Why each subscription of an origin did or did not get an event: all for admins, their own for subscribers. */
export type Explain = (principal: Principal, origin: string, event: ContextAttributes) => Promise<Explanation[]>;

interface Row {
  id: string;
  sink: string;
  source: string | null;
  types: string[] | null;
  subject: string | null;
  filters: Filter[] | null;
  suspended: boolean;
  grantstate: 'live' | 'expired' | 'ended' | 'revoked' | null;
}

/** The oldest thousand; an explanation is for people. */
const longest = 1_000;
/** Long filters are compiled for it, a thousand of them for seconds; meanwhile everybody else wants answers. */
const turnMs = 10;

export function createExplain({ client }: Pick<Database, 'client'>): Explain {
  return async ({ tenant, subscriber, scopes }, origin, event) => {
    const isAdmin = scopes.has('assent:admin');
    const rows = await client.$queryRaw<Row[]>`
      select s.id, s.sink, s.source, s.types, s.subject, s.filters, s.suspendedat is not null as suspended,
        case when g.state = 'live' and g.expiresat <= now() then 'expired' else g.state end as grantstate
      from subscription s left join "grant" g on g.origin = s.origin and g.sink = s.sink
      where s.tenant = ${tenant} and s.origin = ${origin} and (${isAdmin} or s.subscriber = ${subscriber})
      order by s.id limit ${longest}`;
    const explanations: Explanation[] = [];
    let turn = performance.now();
    for (const row of rows) {
      explanations.push(explain(row, event));
      if (performance.now() - turn < turnMs) continue;
      await setImmediate();
      turn = performance.now();
    }
    return explanations;
  };
}

function explain(row: Row, event: ContextAttributes): Explanation {
  const { id, sink, suspended, grantstate } = row;
  const pointer = firstFailure(
    {
      id,
      source: row.source ?? undefined,
      types: row.types ?? undefined,
      subject: row.subject ?? undefined,
      filters: row.filters ?? undefined,
    },
    event,
  );
  const base = { subscription: id, sink };
  if (pointer !== undefined) return { ...base, matched: false, reason: 'filter', pointer };
  if (suspended) return { ...base, matched: false, reason: 'suspended' };
  if (grantstate !== 'live') return { ...base, matched: false, reason: grantstate ?? 'no_grant' };
  return { ...base, matched: true, reason: 'matched' };
}
