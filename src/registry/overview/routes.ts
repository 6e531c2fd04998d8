import type { Context } from '../context.js';
import type { Principal } from '../../base/contract/principal.js';
import type { components } from '../../base/contract/contract.gen.js';
import { createGrantReader } from '../grants/read.js';
import { present as presentGrant } from '../grants/routes.js';
import { recentOverloads } from '../handshake/renewal-load.js';
import type { Handlers } from '../http/handler.js';
import { Prisma } from '../storage/generated/client.js';
import { countRows, type SearchCount } from '../storage/search.js';
import { renewalsExceedBudget } from '../../base/texts/handshakes.js';
import { certificateExpires } from '../../base/texts/origins.js';
import { findExpiring } from '../origins/client-certificate.js';
import { findAttention } from '../subscriptions/attention.js';
import { countVisible, createSubscriptionReader } from '../subscriptions/read.js';
import { membersOf } from '../subscriptions/routes.js';

type Group = components['schemas']['AttentionGroup'];
type Total = components['schemas']['OverviewTotal'];

/** Groups that need no action: a block is someone's decision, and a hold ends by itself. */
const settled: ReadonlySet<string> = new Set(['blocked', 'held']);

/** What needs attention, in one request that costs the same at any size. */
export function routes({ config, database, now }: Context): Handlers<'getOverview' | 'whoami'> {
  const registry = config.publicUrl ?? '';
  const subscriptions = createSubscriptionReader(database, now);
  const grants = createGrantReader(database, now);
  return {
    whoami: ({ principal }) => {
      const { tenant, subscriber, client, person, scopes, tokenExpiresAt } = principal;
      const body = {
        tenant,
        subscriber,
        client,
        scopes: [...scopes],
        expiresat: new Date(tokenExpiresAt).toISOString(),
      };
      return { status: 200, body: { ...body, ...(person && { person }) } };
    },

    getOverview: async ({ principal, language }) => {
      const isAdmin = principal.scopes.has('assent:admin');
      const [ofSubscriptions, ofGrants, overloads, expiring, totals] = await Promise.all([
        findAttention(database.sql, principal),
        isAdmin ? grants.attention(principal.tenant) : [],
        isAdmin ? recentOverloads(database.sql, principal.tenant) : [],
        isAdmin ? findExpiring(database.sql, principal.tenant) : [],
        countLists(principal),
      ]);
      const first = await subscriptions.readMany(
        principal,
        ofSubscriptions.flatMap(({ ids }) => ids),
      );
      const groups: Group[] = [
        ...ofSubscriptions.map(({ group, count, recent, isAtLeast, ids }) => ({
          group,
          count,
          recent,
          more: isAtLeast,
          firstsubscriptions: first
            .filter(({ id }) => ids.includes(id))
            .map((each) => membersOf(each, language, registry)),
        })),
        ...ofGrants.map(({ group, count, recent, isAtLeast, grants: found }) => ({
          group,
          count,
          ...(recent !== undefined && { recent }),
          more: isAtLeast,
          firstgrants: found.map((grant) => presentGrant(grant, principal, language)),
        })),
      ];
      return {
        status: 200,
        body: {
          groups: groups.filter(({ count, more }) => count > 0 || more),
          totals: [attentionIn(groups), ...totals],
          alerts: [
            ...overloads.map(({ sinkhost, budget }) => ({
              code: 'renewals_exceed_budget',
              message: renewalsExceedBudget(sinkhost, budget)[language],
            })),
            ...expiring.map(({ origin, fingerprint, endsat }) => ({
              code: 'client_certificate_expires',
              message: certificateExpires(
                origin,
                fingerprint,
                endsat.toISOString().slice(0, 10),
                endsat.getTime() <= now(),
              )[language],
            })),
          ],
        },
      };
    },
  };

  /** What each list of the caller has. */
  async function countLists(principal: Principal): Promise<Total[]> {
    const { tenant, scopes } = principal;
    const { sql } = database;
    const total = (counted: Total['counted'], { count, isAtLeast }: SearchCount) => ({
      counted,
      count,
      more: isAtLeast,
    });
    const [ofSubscriptions, origins, blocks] = await Promise.all([
      countVisible(database, principal),
      countRows(sql, Prisma.sql`origin t where t.tenant = ${tenant}`),
      scopes.has('assent:admin') ? countRows(sql, Prisma.sql`block t where t.tenant in (${tenant}, '*')`) : undefined,
    ]);
    const live = blocks && (await grants.countLive(tenant, blocks.count > 0));
    return [
      total('subscriptions', ofSubscriptions),
      ...(live ? [total('grants', live)] : []),
      total('origins', origins),
      ...(blocks ? [total('blocks', blocks)] : []),
    ];
  }
}

function attentionIn(groups: readonly Group[]): Total {
  const waiting = groups.filter(({ group }) => !settled.has(group));
  const count = waiting.reduce((sum, { count: each }) => sum + each, 0);
  return { counted: 'attention', count, more: waiting.some(({ more }) => more) };
}
