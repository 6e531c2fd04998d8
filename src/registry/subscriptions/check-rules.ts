import { setImmediate as otherWork } from 'node:timers/promises';
import { RegistryError, type Fault } from '../../base/errors.js';
import type { Context } from '../context.js';
import type { Handlers } from '../http/handler.js';
import { faultsIn } from '../http/problem.js';
import type { Filter } from '../../matching/filters/filter.js';
import type { SubscriptionRule } from '../../consent/origin.js';
import { checkSubscriptionRules } from '../origins/subscription-rule.js';
import { findOrigin } from '../origins/store.js';
import type { Sql } from '../storage/database.js';
import { requestTexts } from '../../base/texts/requests.js';
import { refuseUnallowed, type Wishes } from './allowed.js';

/** Subscriptions that one request examines, and that one response lists. */
const max = { examined: 100_000, listed: 100 };
const atOnce = 1_000;
/** Then other requests get their turn. */
const longestMs = 2;

/** Which subscriptions of an origin its rules do not allow, or would not. It changes nothing. */
export function ruleRoutes({ database: { sql } }: Context): Handlers<'checkSubscriptionRules'> {
  return {
    checkSubscriptionRules: async ({ path, body, principal: { tenant }, language }) => {
      const origin = await findOrigin(sql, tenant, path.name.toLowerCase());
      const faults = checkSubscriptionRules(body.subscriptionrules, '/subscriptionrules');
      if (faults.length > 0) throw new RegistryError('invalid_request', requestTexts.brokenBody, { faults });
      const subscriptionRules = body.subscriptionrules ?? origin.subscriptionRules;
      const counts = { examined: 0, refused: 0, undecided: 0 };
      const listed = [];
      let rows: Row[] = [];
      let begun = performance.now();
      do {
        rows = await readSome(sql, tenant, origin.name, rows.at(-1)?.id);
        for (const row of rows) {
          if (performance.now() - begun > longestMs) {
            await otherWork();
            begun = performance.now();
          }
          const found = judge({ name: origin.name, subscriptionRules }, row);
          if (found === undefined) continue;
          counts[found.verdict] += 1;
          if (listed.length === max.listed) continue;
          const { verdict, faults } = found;
          listed.push({ id: row.id, subscriber: row.subscriber, verdict, faults: faultsIn(faults, language) });
        }
        counts.examined += rows.length;
      } while (rows.length === atOnce && counts.examined < max.examined);
      return { status: 200, body: { ...counts, complete: rows.length < atOnce, subscriptions: listed } };
    },
  };
}

interface Row {
  id: string;
  subscriber: string;
  source: string | null;
  types: string[];
  subject: string | null;
  filters: Filter[] | null;
}

function readSome(sql: Sql, tenant: string, origin: string, after: string | undefined): Promise<Row[]> {
  return sql.$queryRaw<Row[]>`
    select id, subscriber, source, types, subject, filters from subscription
    where tenant = ${tenant} and origin = ${origin} and endedat is null
      and id > ${after ?? '00000000-0000-0000-0000-000000000000'}::uuid
    order by id limit ${atOnce}`;
}

/** Undecided if a rule allows it that also needs claims, which only the token of the subscriber has. */
function judge(
  origin: { name: string; subscriptionRules: readonly SubscriptionRule[] | undefined },
  { subscriber, source, types, subject, filters }: Row,
): { verdict: 'refused' | 'undecided'; faults: readonly Fault[] } | undefined {
  const wishes: Wishes = {
    source: source ?? undefined,
    types,
    subject: subject ?? undefined,
    filters: filters ?? undefined,
  };
  const refused = refuseUnallowed(origin, { subscriber }, wishes);
  if (refused === undefined) return undefined;
  const withAnyClaims = origin.subscriptionRules?.map(({ claims: _, ...rule }) => rule);
  const mayFit = refuseUnallowed({ ...origin, subscriptionRules: withAnyClaims }, { subscriber }, wishes) === undefined;
  return { verdict: mayFit ? 'undecided' : 'refused', faults: refused.faults };
}
