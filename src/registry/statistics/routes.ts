import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { Call, Handlers } from '../http/handler.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { startOf } from './counter.js';
import { createReadStatistics } from './read.js';
import { stepMs, type Step } from './statistic.js';

/** A year of days, and a day of minutes. */
const maxSteps = 1_500;
const usualSteps: Readonly<Record<Step, number>> = { minute: 60, hour: 24, day: 30 };

export function routes({ database, counter, now }: Context): Handlers<'getStatistics'> {
  const read = createReadStatistics(database);
  return {
    getStatistics: async ({ query, principal }) => {
      const { step, since, until } = spanOf(query, now());
      // So that the caller sees what this process has counted. What another one has counted follows within seconds.
      await counter.flush();
      const { kind, origin } = query;
      const series = await read({
        tenant: principal.tenant,
        origin: origin?.toLowerCase(),
        kind,
        step,
        since,
        until,
      });
      return {
        status: 200,
        body: { step, since: new Date(since).toISOString(), until: new Date(until).toISOString(), series },
      };
    },
  };
}

/** Whole steps. RegistryError `invalid_request` for a span that ends before it begins, or has too many steps. */
function spanOf(query: Call<'getStatistics'>['query'], now: number): { step: Step; since: number; until: number } {
  const { step = 'hour' } = query;
  const each = stepMs[step];
  const until = startOf((query.until === undefined ? now : timeOf(query.until).getTime()) + each - 1, step);
  const since =
    query.since === undefined ? until - usualSteps[step] * each : startOf(timeOf(query.since).getTime(), step);
  const count = (until - since) / each;
  if (count > 0 && count <= maxSteps) return { step, since, until };
  const detail =
    count > 0
      ? `From here there are ${count} steps. At most ${maxSteps} are possible: choose a longer step.`
      : 'This must be earlier than the end.';
  throw new RegistryError('invalid_request', 'The span of time cannot be read.', {
    faults: [{ pointer: 'query/since', rule: 'time_out_of_range', detail }],
  });
}
