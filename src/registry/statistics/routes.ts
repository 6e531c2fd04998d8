import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { OperationRequest, Handlers } from '../http/handler.js';
import { timeOf } from '../../base/formats/timestamp.js';
import { readTotals } from './totals.js';
import { outcomeOf, startOfPeriod, stepMs, type Step, type StatisticKind } from './counter.js';
import type { Database } from '../storage/database.js';

/** A year of days, and a day of minutes. */
const maxSteps = 1_500;
const usualSteps: Readonly<Record<Step, number>> = { minute: 60, hour: 24, day: 30 };

export function routes({ database, counter, now }: Context): Handlers<'getStatistics' | 'getStatisticTotals'> {
  return {
    getStatisticTotals: async ({ query, principal }) => {
      const until = startOfPeriod(now(), 'hour') + stepMs.hour;
      const since = until - usualSteps.hour * stepMs.hour;
      await counter.flush();
      const { by } = query;
      const entries = await readTotals(database, principal.tenant, { ...query, since });
      const limit = query.limit ?? 50;
      const body = { per: by, since: new Date(since).toISOString(), until: new Date(until).toISOString() };
      return { status: 200, body: { ...body, entries: entries.slice(0, limit), more: entries.length > limit } };
    },

    getStatistics: async ({ query, principal }) => {
      const span = spanOf(query, now());
      // So that the caller sees what this process has counted. What another one has counted follows within seconds.
      await counter.flush();
      const series = await readSeries(database, principal.tenant, query, span);
      const { step, since, until } = span;
      return {
        status: 200,
        body: { step, since: new Date(since).toISOString(), until: new Date(until).toISOString(), series },
      };
    },
  };
}

interface Span {
  step: Step;
  /** Milliseconds since 1970, at the beginning of a step; `until` is not included. */
  since: number;
  until: number;
}

/** Whole steps. RegistryError `invalid_request` for a span that ends before it begins, or has too many steps. */
function spanOf(query: OperationRequest<'getStatistics'>['query'], now: number): Span {
  const { step = 'hour' } = query;
  const each = stepMs[step];
  const until = startOfPeriod((query.until === undefined ? now : timeOf(query.until).getTime()) + each - 1, step);
  const since =
    query.since === undefined ? until - usualSteps[step] * each : startOfPeriod(timeOf(query.since).getTime(), step);
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

/** How often one thing happened, by step. */
interface Series {
  kind: StatisticKind;
  code: string;
  /** Of a handshake. */
  outcome?: NonNullable<ReturnType<typeof outcomeOf>>;
  total: number;
  values: number[];
}

interface Row {
  kind: StatisticKind;
  code: string;
  startsat: Date;
  count: number;
}

async function readSeries(
  { query }: Pick<Database, 'query'>,
  tenant: string,
  { kind, origin }: OperationRequest<'getStatistics'>['query'],
  { step, since, until }: Span,
): Promise<Series[]> {
  const rows = await query<Row>(
    `select kind, code, startsat, sum(count)::float8 as count from statistic
     where tenant = $1 and step = $2 and startsat >= $3::timestamptz and startsat < $4::timestamptz
       and ($5::text is null or origin = $5) and ($6::text is null or kind = $6)
     group by kind, code, startsat order by kind, code, startsat`,
    [
      tenant,
      step,
      new Date(since).toISOString(),
      new Date(until).toISOString(),
      origin?.toLowerCase() ?? null,
      kind ?? null,
    ],
  );
  const length = (until - since) / stepMs[step];
  const series = new Map<string, Series>();
  for (const row of rows) {
    const key = `${row.kind} ${row.code}`;
    const one = series.get(key) ?? begin(row, length);
    series.set(key, one);
    const place = Math.floor((row.startsat.getTime() - since) / stepMs[step]);
    one.values[place] = (one.values[place] ?? 0) + row.count;
    one.total += row.count;
  }
  return [...series.values()];
}

function begin({ kind, code }: Row, length: number): Series {
  const outcome = kind === 'handshake' ? outcomeOf(code) : undefined;
  return { kind, code, ...(outcome && { outcome }), total: 0, values: Array<number>(length).fill(0) };
}
