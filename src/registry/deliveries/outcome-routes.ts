import type { Context } from '../context.js';
import type { Fault } from '../../base/errors.js';
import { brokenBody } from '../http/body.js';
import type { components } from '../../base/contract/contract.gen.js';
import { actorOf, idempotent, replayHeader, type Handlers } from '../http/handler.js';
import { faultsIn } from '../../base/problem.js';
import { findFaults } from '../../base/formats/json.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { limits } from '../../base/limits.js';
import { ageOf, kindOf, holdSecondsOf, type Outcome } from '../../consent/outcome.js';
import { createSubscriptionReader } from '../subscriptions/read.js';
import { createDeliveryReader } from './read-deliveries.js';
import { createRecordOutcomes } from './record-outcomes.js';

type Entry = components['schemas']['Outcome'];
type Result = components['schemas']['OutcomeResult'];

export function outcomeRoutes(context: Context): Handlers<'reportOutcomes' | 'getDeliveries'> {
  const { contract, counter, database, metrics, now } = context;
  const record = createRecordOutcomes(database);
  const deliveries = createDeliveryReader(database);
  const subscriptions = createSubscriptionReader(database, now);
  const { checkBody } = contract.operationOf('reportOutcomes');

  function countDelivery(tenant: string, { origin, sink, kind, count }: Outcome): void {
    metrics.delivery(kind, count);
    counter.count({ tenant, origin, sink }, { kind: 'delivery', code: kind }, count);
  }

  return {
    reportOutcomes: async (call) => {
      const entries: unknown = call.body;
      if (!Array.isArray(entries) || entries.length === 0 || entries.length > limits.entries) {
        throw brokenBody(checkBody(entries));
      }
      const unfit = new Map(findFaults(call.bytes).map((fault) => [indexOf(fault), fault]));
      const now = new Date(context.now());
      const results: Result[] = [];
      const outcomes: Outcome[] = [];
      for (const [index, entry] of entries.entries()) {
        const fault = unfit.get(index);
        const faults = fault ? [fault] : checkBody([entry]).map((each) => placed(each, index));
        if (faults.length > 0) {
          results.push({ accepted: false, faults: faultsIn(faults, call.language) });
          continue;
        }
        const { outcome, warnings } = read(entry as Entry, index, now);
        outcomes.push(outcome);
        results.push({
          accepted: true,
          ...(warnings.length > 0 ? { warnings: faultsIn(warnings, call.language) } : {}),
        });
      }
      // An invalid entry may be nested too deep to be written, and had no effect.
      const content = entries.map((entry: unknown, index) => (unfit.has(index) ? null : entry));
      const request = idempotent(call, 'reportOutcomes', content);
      const { unknown, replayed, held } = await record(actorOf(call), outcomes, request);
      for (const index of unknown)
        results[index] = { accepted: false, faults: faultsIn([withoutGrant(index)], call.language) };
      if (!replayed) {
        for (const outcome of outcomes)
          if (results[outcome.index]?.accepted) countDelivery(call.principal.tenant, outcome);
        if (held > 0) metrics.held(held);
      }
      return { status: 200, headers: replayHeader(replayed), body: results };
    },

    getDeliveries: async ({ path, principal, language }) => {
      const subscription = await subscriptions.read(principal, path.id);
      const isAdmin = principal.scopes.has('assent:admin');
      return { status: 200, body: await deliveries.read(subscription, isAdmin, language) };
    },
  };
}

/** The index of the entry with this fault. */
function indexOf({ pointer }: Fault): number {
  return Number(pointer.split('/')[1]);
}

/** The entry was checked alone in a list; this puts the fault at its real index. */
function placed({ pointer, rule, detail }: Fault, index: number): Fault {
  return { pointer: pointer.replace(/^\/0/, `/${index}`), rule, detail };
}

function withoutGrant(index: number): Fault {
  return { pointer: `/${index}/sink`, rule: 'no_grant', detail: 'The origin never had a grant for this sink.' };
}

function read(entry: Entry, index: number, now: Date): { outcome: Outcome; warnings: Fault[] } {
  const { sink, statuscode, count = 1 } = entry;
  const at = entry.at === undefined ? undefined : timeOf(entry.at);
  const asks = (statuscode === 429 || statuscode === 503) && entry.retryafter !== undefined;
  const holdSeconds = asks ? holdSecondsOf(String(entry.retryafter), at, now) : undefined;
  const detail = 'The value is neither a number of seconds to wait nor an HTTP date, so Assent ignores it.';
  const isMalformed = asks && holdSeconds === undefined;
  return {
    outcome: {
      index,
      origin: entry.origin.toLowerCase(),
      sink,
      statusCode: statuscode,
      kind: kindOf(statuscode),
      count,
      at,
      ageSeconds: ageOf(at, now),
      holdSeconds,
    },
    warnings: isMalformed ? [{ pointer: `/${index}/retryafter`, rule: 'retryafter_malformed', detail }] : [],
  };
}
