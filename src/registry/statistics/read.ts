import type { Database } from '../storage/database.js';
import { isVerdict, verdicts, type HandshakeOutcome } from '../../consent/verdicts.js';
import { stepMs, type StatisticKind, type Step } from './statistic.js';

interface StatisticsQuery {
  tenant: string;
  origin: string | undefined;
  kind: StatisticKind | undefined;
  step: Step;
  /** Milliseconds since 1970, at the beginning of a step; `until` is not included. */
  since: number;
  until: number;
}

/** How often one thing happened, by step. */
interface Series {
  kind: StatisticKind;
  code: string;
  /** Of a verdict. */
  outcome?: HandshakeOutcome;
  total: number;
  counts: number[];
}

type ReadStatistics = (query: StatisticsQuery) => Promise<Series[]>;

interface Row {
  kind: StatisticKind;
  code: string;
  startsat: Date;
  count: number;
}

export function createReadStatistics({ query }: Pick<Database, 'query'>): ReadStatistics {
  return async ({ tenant, origin, kind, step, since, until }) => {
    const rows = await query<Row>(
      `select kind, code, startsat, sum(count)::float8 as count from statistic
       where tenant = $1 and step = $2 and startsat >= $3::timestamptz and startsat < $4::timestamptz
         and ($5::text is null or origin = $5) and ($6::text is null or kind = $6)
       group by kind, code, startsat order by kind, code, startsat`,
      [
        tenant,
        step === 'minute' ? 'minute' : 'hour',
        new Date(since).toISOString(),
        new Date(until).toISOString(),
        origin ?? null,
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
      one.counts[place] = (one.counts[place] ?? 0) + row.count;
      one.total += row.count;
    }
    return [...series.values()];
  };
}

function begin({ kind, code }: Row, length: number): Series {
  const outcome = kind === 'handshake' && isVerdict(code) ? verdicts[code].outcome : undefined;
  return { kind, code, ...(outcome && { outcome }), total: 0, counts: Array<number>(length).fill(0) };
}
