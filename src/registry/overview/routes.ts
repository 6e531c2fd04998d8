import type { Context } from '../context.js';
import type { components } from '../../base/contract/contract.gen.js';
import { createGrantReader } from '../grants/read.js';
import { present as presentGrant } from '../grants/routes.js';
import { recentOverloads } from '../handshake/renewal-load.js';
import type { Handlers } from '../http/handler.js';
import { renewalsExceedBudget } from '../../base/texts/handshakes.js';
import { findAttention } from '../subscriptions/attention.js';
import { createSubscriptionReader } from '../subscriptions/read.js';
import { membersOf } from '../subscriptions/routes.js';

type Group = components['schemas']['AttentionGroup'];

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
      const [ofSubscriptions, ofGrants, overloads] = await Promise.all([
        findAttention(database.sql, principal),
        isAdmin ? grants.attention(principal.tenant) : [],
        isAdmin ? recentOverloads(database.sql, principal.tenant) : [],
      ]);
      const first = await subscriptions.readMany(
        principal,
        ofSubscriptions.flatMap(({ ids }) => ids),
      );
      const groups: Group[] = [
        ...ofSubscriptions.map(({ group, count, isAtLeast, ids }) => ({
          group,
          count,
          more: isAtLeast,
          firstsubscriptions: first
            .filter(({ id }) => ids.includes(id))
            .map((each) => membersOf(each, language, registry)),
        })),
        ...ofGrants.map(({ group, count, isAtLeast, grants: found }) => ({
          group,
          count,
          more: isAtLeast,
          firstgrants: found.map((grant) => presentGrant(grant, principal, language)),
        })),
      ];
      return {
        status: 200,
        body: {
          groups: groups.filter(({ count, more }) => count > 0 || more),
          alerts: overloads.map(({ sinkhost, budget }) => ({
            code: 'renewals_exceed_budget',
            message: renewalsExceedBudget(sinkhost, budget)[language],
          })),
        },
      };
    },
  };
}
