import type { ContextAttributes } from '../events/context-attributes.js';
import type { components } from '../http/contract.gen.js';
import type { Principal } from '../http/principal.js';
import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../storage/ids.js';
import { compileCesql } from './cesql/evaluate.js';
import type { CesqlErrorKind } from './cesql/expression.js';
import { parseCesql } from './cesql/parser.js';
import { compileFilter } from './compile-filter.js';
import { dialects } from './dialects.js';
import type { Filter } from './filter.js';
import { compileOther, type Dialects, type LeafCompiler, type MatchableSubscription } from './predicate.js';
import type { Turns } from './turns.js';
import { Work } from './work.js';

type Explanation = components['schemas']['Explanation'];

/**
 * Why each subscription of an origin did or did not get an event: all for admins, their own for subscribers. A list for
 * each event, in order; the events of a batch share what one answer may hold.
 */
export type Explain = (
  principal: Principal,
  origin: string,
  events: readonly ContextAttributes[],
  signal?: AbortSignal,
) => Promise<Explanation[][]>;

export interface ExplainSettings {
  database: Pick<Database, 'client'>;
  turns: Turns;
  /** Steps that the filters may take for one message. */
  budget: number;
}

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

/** In one answer, of the oldest subscriptions; an explanation is for people. */
const mostExplanations = 1_000;
/** Read at once: some subscriptions have 64 KiB. */
const pageSize = 100;
/** Steps for a subscription and an event, without the predicates: long filters are compiled for it. */
const stepsOfRow = 25_000;
const stepsOfExplanation = 500;

export function createExplain({ database: { client }, turns, budget }: ExplainSettings): Explain {
  return async ({ tenant, subscriber, scopes }, origin, events, signal) => {
    const isAdmin = scopes.has('assent:admin');
    const explanations = events.map((): Explanation[] => []);
    let after = beforeAllIds;
    let left = events.length === 0 ? 0 : Math.floor(mostExplanations / events.length);
    const work = new Work(budget, turns.slice);
    while (left > 0) {
      const rows = await client.$queryRaw<Row[]>`
        select s.id, s.sink, s.source, s.types, s.subject, s.filters, s.suspendedat is not null as suspended,
          case when g.state = 'live' and g.expiresat <= now() then 'expired' else g.state end as grantstate
        from subscription s left join "grant" g on g.origin = s.origin and g.sink = s.sink
        where s.tenant = ${tenant} and s.origin = ${origin} and (${isAdmin} or s.subscriber = ${subscriber})
          and s.id > ${after}::uuid
        order by s.id limit ${Math.min(left, pageSize)}`;
      for (const row of rows) {
        if (!turns.isFree(tenant)) await turns.enter(tenant, () => undefined, signal);
        const explain = explainRow(row, work);
        turns.slice.left -= stepsOfRow;
        for (const [place, event] of events.entries()) {
          explanations[place]?.push(await explainInTurns(() => explain(event), row.id));
        }
      }
      left = rows.length < pageSize ? 0 : left - rows.length;
      after = rows.at(-1)?.id ?? after;
    }
    return explanations;

    async function explainInTurns(explain: () => Explanation, id: string): Promise<Explanation> {
      work.steps = 0;
      let explanation = turns.isFree(tenant) ? explain() : undefined;
      if (explanation === undefined || work.isStopped) explanation = await turns.finish(work, tenant, explain, signal);
      work.endEvent();
      turns.slice.left -= stepsOfExplanation;
      if (work.pay(work.steps)) work.note(id, work.steps);
      if (work.isOver) throw work.tooExpensive();
      return explanation;
    }
  };
}

function explainRow(row: Row, work: Work): (event: ContextAttributes) => Explanation {
  const { id, sink, suspended, grantstate } = row;
  const failureOf = compileFailure(
    {
      id,
      source: row.source ?? undefined,
      types: row.types ?? undefined,
      subject: row.subject ?? undefined,
      filters: row.filters ?? undefined,
    },
    work,
  );
  const base = { subscription: id, sink };
  return (event) => {
    const failure = failureOf(event);
    if (failure) return { ...base, matched: false, reason: 'filter', ...failure };
    if (suspended) return { ...base, matched: false, reason: 'suspended' };
    if (grantstate !== 'live') return { ...base, matched: false, reason: grantstate ?? 'no_grant' };
    return { ...base, matched: true, reason: 'matched' };
  };
}

/**
 * What of a subscription does not hold for an event: the JSON pointer of it, and why where the event does not show it.
 */
export interface Failure {
  pointer: string;
  detail?: string;
}

/** Undefined if all of it holds. */
export type FailureOf = (event: ContextAttributes) => Failure | undefined;

/**
 * Finds the first part that does not hold, as deep inside of a filter as one part alone is to blame. What is found means
 * nothing where the work is stopped; ask again in the next slice.
 */
export function compileFailure(subscription: MatchableSubscription, work: Work = new Work()): FailureOf {
  const { source, types, subject, filters = [] } = subscription;
  const tried: Dialects = Object.fromEntries(Object.keys(dialects).map((name) => [name, tryWith(name, work)]));
  return firstOf([
    failsAt(tried, '/source', { source }),
    failsAt(tried, '/types', { types }),
    failsAt(tried, '/subject', { subject }),
    ...filters.map((filter, index) => failureOfFilter(tried, work, filter, `/filters/${index}`)),
  ]);
}

/** The dialect, with its predicates tested within the slice. */
function tryWith(dialect: string, work: Work): LeafCompiler {
  return (text) => {
    const predicate = compileOther(dialects, dialect, text);
    return { anchors: [], steps: 0, test: (event) => work.test(predicate, event) };
  };
}

function failureOfFilter(tried: Dialects, work: Work, filter: Filter, at: string): FailureOf {
  if ('all' in filter)
    return firstOf(filter.all.map((nested, i) => failureOfFilter(tried, work, nested, `${at}/all/${i}`)));
  if ('any' in filter) return failsAt(tried, `${at}/any`, { filters: [filter] });
  if ('not' in filter) return failsAt(tried, `${at}/not`, { filters: [filter] });
  if ('sql' in filter) return failureOfSql(failsAt(tried, `${at}/sql`, { filters: [filter] }), work, filter.sql);
  return firstOf(
    Object.entries(filter).flatMap(([dialect, attributes]) =>
      Object.entries(attributes as Record<string, string>).map(([name, value]) => {
        const part = { [dialect]: { [name]: value } } as Filter;
        const fails = failsAt(tried, `${at}/${dialect}/${name}`, { filters: [part] });
        return (event: ContextAttributes) => {
          const failure = fails(event);
          return failure && !event.has(name) ? { ...failure, detail: 'The event has no such attribute.' } : failure;
        };
      }),
    ),
  );
}

const cesqlErrors: Record<CesqlErrorKind, string> = {
  parse: 'It does not parse.',
  math: 'A number leaves the range of an Integer, or is divided by zero.',
  cast: 'A value cannot be taken for the type that it is needed as.',
  missingAttribute: 'The event lacks an attribute that it needs; EXISTS asks for one.',
  missingFunction: 'There is no such function.',
  functionEvaluation: 'A function cannot take what it is given, or the evaluation takes too long.',
  generic: 'It cannot be evaluated.',
};

function failureOfSql(fails: FailureOf, work: Work, text: string): FailureOf {
  const parsed = parseCesql(text);
  const evaluate = 'expression' in parsed ? compileCesql(parsed.expression) : undefined;
  return (event) => {
    const failure = fails(event);
    if (failure === undefined || work.isStopped) return failure;
    const error = evaluate?.(event).error;
    return error === undefined ? failure : { ...failure, detail: cesqlErrors[error] };
  };
}

/** The index decides by the same code, or by one that is checked against it. */
function failsAt(tried: Dialects, pointer: string, part: Partial<MatchableSubscription>): FailureOf {
  const holds = compileFilter({ id: '', ...part }, tried);
  const failure = { pointer };
  return (event) => (holds(event) ? undefined : failure);
}

function firstOf(parts: readonly FailureOf[]): FailureOf {
  return (event) => {
    for (const failureOf of parts) {
      const failure = failureOf(event);
      if (failure) return failure;
    }
    return undefined;
  };
}
