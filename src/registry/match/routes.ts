import type { Context } from '../context.js';
import { RegistryError, type Fault } from '../../base/errors.js';
import { readEventOf, readEvents } from '../../events/read-events.js';
import { faultOfBreach, presentBreach, type RuleBreach } from '../../events/rule.js';
import { judgeEvent, checkBatch } from '../../events/check-event.js';
import { brokenBody } from '../http/body.js';
import { faultsIn } from '../../base/problem.js';
import type { Handlers } from '../http/handler.js';
import { findFaults } from '../../base/formats/json.js';
import { filterCheckTexts } from '../../base/texts/filters.js';
import { createGrantTokens } from '../grants/grant-token.js';
import { createSecretReader } from '../subscriptions/read-secrets.js';
import { createSubscriptionReader } from '../subscriptions/read.js';
import { compileParts, createExplain, presentFailure } from './explain.js';
import { createDeliverySettings } from './delivery-settings.js';
import { createMatchEvent } from './match-event.js';
import { parseFilters } from '../../matching/filters/filter.js';
import { findUnlikely } from '../../matching/filters/unlikely.js';
import { Turns } from '../../matching/match/turns.js';
import { Work } from '../../matching/match/work.js';

/**
 * Matches events, and returns what a match says of a sink; tests a filter with an event, and an event with a profile. The tests store nothing and ignore consent.
 */
export function routes(
  context: Context,
): Handlers<'matchEvent' | 'getDeliverySettings' | 'checkFilter' | 'checkEvent'> {
  const { config, contract, database, vault, tracing, now } = context;
  const subscriptions = createSubscriptionReader(database, now);
  const turns = new Turns();
  const budget = config.matchSteps;
  const secrets = createSecretReader({ database, vault });
  return {
    matchEvent: createMatchEvent({
      follower: context.follower,
      age: context.freshness.age,
      explain: createExplain({ database, turns, budget }),
      secrets,
      grantTokens: createGrantTokens(context),
      limits: config.message,
      turns,
      budget,
      tracing,
    }),

    getDeliverySettings: createDeliverySettings(context, secrets),

    checkFilter: async (call) => {
      const { body, bytes, principal, signal } = call;
      // The event must follow the rules of events, as in a match.
      const ofText = findFaults(bytes).filter(({ pointer }) => !pointer.startsWith('/event/'));
      const broken = [...ofText, ...contract.operationOf('checkFilter').checkBody(body)];
      if (broken.length > 0) throw brokenBody(broken);
      const read = readEventOf(bytes, 'event');
      const filters = parseFilters(body.filters, '/filters');
      const faults: Fault[] = [
        ...('event' in read ? [] : read.faults.map(faultOfBreach)),
        ...('faults' in filters ? filters.faults : []),
        ...(body.subscription === undefined ? [] : membersBeside(body)),
      ];
      if (!('event' in read) || !('filters' in filters) || faults.length > 0) {
        throw new RegistryError('invalid_request', filterCheckTexts.invalid, { faults });
      }
      const subscription =
        body.subscription === undefined
          ? { id: '', source: body.source, types: body.types, subject: body.subject, filters: filters.filters }
          : await subscriptions.read(principal, body.subscription);
      const work = new Work(budget, turns.slice);
      const compiled = compileParts(subscription, work);
      const { attributes } = read.event;
      const judge = () => compiled.map(({ failureOf, ...part }) => ({ ...part, failure: failureOf(attributes) }));
      const judged = await turns.finish(work, principal.tenant, judge, signal);
      const failed = judged.find(({ isDecisive, failure }) => isDecisive && failure !== undefined)?.failure;
      const present = (failure: typeof failed) => failure && presentFailure(failure, () => call.language);
      const unlikely = findUnlikely(subscription);
      const parts = judged.map(({ pointer, failure }) => ({
        pointer,
        matched: failure === undefined,
        ...present(failure),
      }));
      const answer = {
        matched: failed === undefined,
        ...present(failed),
        parts,
        ...(unlikely.length > 0 && { warnings: faultsIn(unlikely, call.language) }),
      };
      return { status: 200, body: answer };
    },

    checkEvent: async ({ body, query, rawHeaders }) => {
      const profile = query.profile ?? 'cloudevents';
      const read = readEvents({ headers: rawHeaders, body: body as Buffer }, config.message);
      if ('code' in read) {
        throw new RegistryError(read.code, 'The message cannot be read as events. The faults say why.', {
          faults: read.faults,
        });
      }
      const batch =
        read.mode === 'batched' ? checkBatch(profile, { count: read.events.length, bytes: read.bytes }) : undefined;
      const events = read.events.map((event) => {
        const { faults, warnings } = judgeEvent(profile, event);
        return presentation([...(batch?.faults ?? []), ...faults], [...(batch?.warnings ?? []), ...warnings]);
      });
      return { status: 200, body: { profile, valid: events.every(({ valid }) => valid), events } };
    },
  };
}

/** A stored subscription is tested as it is: the other members would be ignored. */
function membersBeside(body: object): Fault[] {
  return ['source', 'types', 'subject', 'filters']
    .filter((name) => name in body)
    .map((name) => ({
      pointer: `/${name}`,
      rule: 'stands_beside_subscription',
      detail: filterCheckTexts.besideSubscription,
    }));
}

function presentation(faults: readonly RuleBreach[], warnings: readonly RuleBreach[]) {
  return { valid: faults.length === 0, faults: faults.map(presentBreach), warnings: warnings.map(presentBreach) };
}
