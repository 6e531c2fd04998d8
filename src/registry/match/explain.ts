import type { Denial } from '../../consent/decision.js';
import type { ContextAttributes } from '../../events/context-attributes.js';
import type { components } from '../../base/contract/contract.gen.js';
import type { Principal } from '../../base/contract/principal.js';
import type { Database } from '../storage/database.js';
import { beforeAllIds } from '../../base/files/ids.js';
import { cesqlErrorTexts, filterCheckTexts } from '../../base/texts/filters.js';
import type { Language, Text } from '../../base/texts/text.js';
import { compileCesql } from '../../matching/cesql/evaluate.js';
import { parseCesql } from '../../matching/cesql/parser.js';
import { compileFilter } from '../../matching/filters/compile-filter.js';
import { dialects } from '../../matching/filters/dialects.js';
import type { Filter } from '../../matching/filters/filter.js';
import {
  compileOther,
  type Dialects,
  type LeafCompiler,
  type MatchableSubscription,
} from '../../matching/filters/predicate.js';
import type { Turns } from '../../matching/match/turns.js';
import { Work } from '../../matching/match/work.js';

type Explanation = components['schemas']['Explanation'];

/**
 * Why each subscription of an origin matched an event or not: all of them for admins, their own for subscribers.
 * Returns a list for each event, in order. The events of a batch share the maximum of one response.
 */
export type Explain = (
  principal: Principal,
  origin: string,
  events: readonly ContextAttributes[],
  signal?: AbortSignal,
) => Promise<Explanation[][]>;

interface ExplainSettings {
  database: Pick<Database, 'client'>;
  turns: Turns;
  /** Steps that the filters may take for one message. */
  budget: number;
}

/** A subscription, as the database has it. */
export interface ExplainedRow {
  id: string;
  subscriber: string;
  sink: string;
  source: string | null;
  types: string[] | null;
  subject: string | null;
  filters: Filter[] | null;
  denial: Exclude<Denial, 'held'> | null;
}

/** In one response, for the oldest subscriptions. People read explanations, so more would not help. */
const maxExplanations = 1_000;
const maxPartLength = 1_000;
/** Rows in one query: some subscriptions have 64 KiB. */
const pageSize = 100;
/** Steps for a subscription (whose filters are compiled for this) and for an event, without the predicates. */
const stepsOfRow = 25_000;
const stepsOfExplanation = 500;

export function createExplain({ database: { client }, turns, budget }: ExplainSettings): Explain {
  return async ({ tenant, subscriber, scopes }, origin, events, signal) => {
    const isAdmin = scopes.has('assent:admin');
    const explanations = events.map((): Explanation[] => []);
    let after = beforeAllIds;
    let left = events.length === 0 ? 0 : Math.floor(maxExplanations / events.length);
    const work = new Work(budget, turns.slice);
    while (left > 0) {
      const rows = await client.$queryRaw<ExplainedRow[]>`
        select s.id, s.subscriber, s.sink, s.source, s.types, s.subject, s.filters,
          (select d.denial from subscription_status d where d.id = s.id offset 0) as denial
        from subscription s
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

function explainRow(row: ExplainedRow, work: Work): (event: ContextAttributes) => Explanation {
  const { id, subscriber, sink, denial } = row;
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
  const base = { subscription: id, subscriber, sink };
  return (event) => {
    const failure = failureOf(event);
    if (failure)
      return {
        ...base,
        matched: false,
        code: 'filter',
        ...presentFailure(failure, () => 'en'),
        ...valueAt(row, failure),
      };
    return { ...base, matched: denial === null, code: denial ?? 'matched' };
  };
}

/** What the pointer of a failure names, unless it is too long for people. */
function valueAt(row: ExplainedRow, { pointer }: Failure): { part?: unknown } {
  let part: unknown = row;
  for (const step of pointer.split('/').slice(1)) part = (part as Readonly<Record<string, unknown>>)[step];
  return JSON.stringify(part).length > maxPartLength ? {} : { part };
}

/**
 * The part of a subscription that does not match an event, as a JSON pointer. `detail` says why if the event does not
 * show it.
 */
interface Failure {
  pointer: string;
  detail?: Text;
}

export function presentFailure({ pointer, detail }: Failure, language: () => Language) {
  return { pointer, ...(detail && { detail: detail[language()] }) };
}

/** Undefined if everything matches. */
type FailureOf = (event: ContextAttributes) => Failure | undefined;

/** A part of a subscription. Decisive ones must all match; the others are in a group, or are one. */
interface Part {
  pointer: string;
  isDecisive: boolean;
  failureOf: FailureOf;
}

/**
 * Finds the first part that does not match, as deep inside a filter as one part alone is the reason. The result is
 * invalid if the work was stopped; call again in the next slice.
 */
export function compileFailure(subscription: MatchableSubscription, work: Work = new Work()): FailureOf {
  const parts = compileParts(subscription, work).filter(({ isDecisive }) => isDecisive);
  return (event) => {
    for (const { failureOf } of parts) {
      const failure = failureOf(event);
      if (failure) return failure;
    }
    return undefined;
  };
}

/** Every part, in the order in which they decide. What is said of the result of `compileFailure` holds for theirs. */
export function compileParts(subscription: MatchableSubscription, work: Work): Part[] {
  const { source, types, subject, filters = [] } = subscription;
  const tried: Dialects = Object.fromEntries(Object.keys(dialects).map((name) => [name, tryWith(name, work)]));
  const member = (name: 'source' | 'types' | 'subject', isThere: boolean): Part[] =>
    isThere ? [partAt(tried, `/${name}`, { [name]: subscription[name] })] : [];
  return [
    ...member('source', source !== undefined),
    ...member('types', (types?.length ?? 0) > 0),
    ...member('subject', subject !== undefined),
    ...filters.flatMap((filter, index) => partsOf(tried, work, filter, `/filters/${index}`)),
  ];
}

/** The dialect, with predicates that run within the slice. */
function tryWith(dialect: string, work: Work): LeafCompiler {
  return (text) => {
    const predicate = compileOther(dialects, dialect, text);
    return { anchors: [], steps: 0, test: (event) => work.test(predicate, event) };
  };
}

function partsOf(tried: Dialects, work: Work, filter: Filter, at: string): Part[] {
  const nested = (filters: readonly Filter[], from: (index: number) => string) =>
    filters.flatMap((each, index) => partsOf(tried, work, each, from(index)));
  const indecisive = (parts: readonly Part[]) => parts.map((part) => ({ ...part, isDecisive: false }));
  const whole = (dialect: string) => partAt(tried, `${at}/${dialect}`, { filters: [filter] });
  if ('all' in filter) return nested(filter.all, (index) => `${at}/all/${index}`);
  if ('any' in filter) return [whole('any'), ...indecisive(nested(filter.any, (index) => `${at}/any/${index}`))];
  if ('not' in filter) return [whole('not'), ...indecisive(nested([filter.not], () => `${at}/not`))];
  if ('sql' in filter) {
    const part = whole('sql');
    return [{ ...part, failureOf: failureOfSql(part.failureOf, work, filter.sql) }];
  }
  return Object.entries(filter).flatMap(([dialect, attributes]) =>
    Object.entries(attributes as Record<string, string>).map(([name, value]) => {
      const part = partAt(tried, `${at}/${dialect}/${name}`, { filters: [{ [dialect]: { [name]: value } } as Filter] });
      const failureOf = (event: ContextAttributes) => {
        const failure = part.failureOf(event);
        return failure && !event.has(name) ? { ...failure, detail: filterCheckTexts.noSuchAttribute } : failure;
      };
      return { ...part, failureOf };
    }),
  );
}

function failureOfSql(fails: FailureOf, work: Work, text: string): FailureOf {
  const parsed = parseCesql(text);
  const evaluate = 'expression' in parsed ? compileCesql(parsed.expression) : undefined;
  return (event) => {
    const failure = fails(event);
    if (failure === undefined || work.isStopped) return failure;
    const error = evaluate?.(event).error;
    return error === undefined ? failure : { ...failure, detail: cesqlErrorTexts[error] };
  };
}

/** The index decides with the same code, or with code that is tested against it. */
function partAt(tried: Dialects, pointer: string, of: Partial<MatchableSubscription>): Part {
  let holds: ReturnType<typeof compileFilter> | undefined;
  const failureOf = (event: ContextAttributes) => {
    holds ??= compileFilter({ id: '', ...of }, tried);
    return holds(event) ? undefined : { pointer };
  };
  return { pointer, isDecisive: true, failureOf };
}
