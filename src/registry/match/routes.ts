import { RegistryError, type Fault } from '../../base/errors.js';
import { readEventOf, readEvents, type MessageLimits } from '../../events/read-events.js';
import { faultOfBreach, presentBreach, type RuleBreach } from '../../events/rule.js';
import { judgeEvent, validateBatch } from '../../events/validate-event.js';
import { brokenBody } from '../http/body.js';
import type { Handlers } from '../http/handler.js';
import { findFaults } from '../../base/formats/json.js';
import type { Principal } from '../../base/contract/principal.js';
import { filterTestTexts } from '../../base/texts/filters.js';
import { compileFailure, presentFailure } from './explain.js';
import { parseFilters } from '../../matching/filters/filter.js';
import type { MatchableSubscription } from '../../matching/filters/predicate.js';
import type { Turns } from '../../matching/match/turns.js';
import { Work } from '../../matching/match/work.js';

export interface MatchRoutes {
  /** Throws RegistryError `subscription_not_found` for a subscription that the principal may not see. */
  readSubscription: (principal: Principal, id: string) => Promise<MatchableSubscription>;
  /** Checks a body against the contract of the operation. */
  checkBody: (operation: 'testFilter', body: unknown) => Fault[];
  limits: MessageLimits;
  turns: Turns;
  /** Steps that the filters may take. */
  budget: number;
}

/**
 * Tests a filter with an event, and an event with a profile. Stores nothing and ignores consent.
 */
export function createMatchHandlers({
  readSubscription,
  checkBody,
  limits,
  turns,
  budget,
}: MatchRoutes): Handlers<'testFilter' | 'validateEvent'> {
  return {
    testFilter: async (call) => {
      const { body, bytes, principal, signal } = call;
      // The event must follow the rules of events, as in a match.
      const ofText = findFaults(bytes).filter(({ pointer }) => !pointer.startsWith('/event/'));
      const broken = [...ofText, ...checkBody('testFilter', body)];
      if (broken.length > 0) throw brokenBody(broken);
      const read = readEventOf(bytes, 'event');
      const filters = parseFilters(body.filters, '/filters');
      const faults: Fault[] = [
        ...('event' in read ? [] : read.faults.map(faultOfBreach)),
        ...('faults' in filters ? filters.faults : []),
        ...(body.subscription === undefined ? [] : membersBeside(body)),
      ];
      if (!('event' in read) || !('filters' in filters) || faults.length > 0) {
        throw new RegistryError('invalid_request', filterTestTexts.invalid, { faults });
      }
      const subscription =
        body.subscription === undefined
          ? { id: '', source: body.source, types: body.types, subject: body.subject, filters: filters.filters }
          : await readSubscription(principal, body.subscription);
      const work = new Work(budget, turns.slice);
      const failureOf = compileFailure(subscription, work);
      const { attributes } = read.event;
      const failure = await turns.finish(work, principal.tenant, () => failureOf(attributes), signal);
      if (failure === undefined) return { status: 200, body: { matched: true } };
      return { status: 200, body: { matched: false, ...presentFailure(failure, () => call.language) } };
    },

    validateEvent: async ({ body, query, rawHeaders }) => {
      const profile = query.profile ?? 'cloudevents';
      const read = readEvents({ headers: rawHeaders, body: body as Buffer }, limits);
      if ('code' in read) {
        throw new RegistryError(read.code, 'The message cannot be read as events. The faults say why.', {
          faults: read.faults,
        });
      }
      const batch =
        read.mode === 'batched' ? validateBatch(profile, { count: read.events.length, bytes: read.bytes }) : undefined;
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
      detail: filterTestTexts.besideSubscription,
    }));
}

function presentation(faults: readonly RuleBreach[], warnings: readonly RuleBreach[]) {
  return { valid: faults.length === 0, faults: faults.map(presentBreach), warnings: warnings.map(presentBreach) };
}
