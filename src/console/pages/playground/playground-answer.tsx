import { ChevronRight, CircleCheck, Pause } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { useResource } from '../../app/live.js';
import { href } from '../../app/route.js';
import { isAdmin, isSender } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { Icon } from '../../ui/icon.js';
import { Table } from '../../ui/table.js';
import { Badge, shortRate, Sink, Time } from '../../ui/value.js';
import type { EventMembers } from './playground-event.js';

type Explanation = Schemas['Explanation'];
type Kind = keyof typeof texts.kinds;
type Matched = Pick<Schemas['MatchedSink'], 'sink' | 'subscriptions' | 'helduntil'> & {
  allowedrate?: Schemas['Rate'] | undefined;
};

/** The registry explains no more. */
const maxExplained = 1_000;
/** Rows at once; the next ones are a button away. */
const fewRows = 8;
const moreRows = 50;
/** Subscriptions of a consumer that are read for their rate. */
const maxRates = 20;

/** What the part of a subscription at a pointer asks of an event. */
interface Condition {
  /** The attribute that it is about; undefined for a part that combines others, and for an expression. */
  attribute: string | undefined;
  kind: Kind;
  /** Undefined if it is too long. */
  value: string | undefined;
}

function conditionOf({ pointer = '', part }: Explanation): Condition {
  const [last = '', before = ''] = pointer.split('/').reverse();
  const value = typeof part === 'string' || part === undefined ? part : JSON.stringify(part);
  if (last === 'types') return { attribute: 'type', kind: 'oneOf', value: (part as string[] | undefined)?.join(', ') };
  if (last === 'sql') return { attribute: undefined, kind: 'sql', value };
  if (last === 'any' || last === 'not') return { attribute: undefined, kind: 'combined', value };
  return { attribute: last, kind: before === 'prefix' || before === 'suffix' ? before : 'exact', value };
}

/** Subscriptions that one condition kept from the event. */
interface Group {
  key: string;
  code: string;
  condition: Condition | undefined;
  rows: Explanation[];
}

/** In the order in which the registry checks them: what comes late in it is near. */
const stages = ['source', 'types', 'subject', 'filters'];
const nearness = ({ code, pointer = '' }: Explanation) =>
  code === 'filter' ? stages.indexOf(pointer.split('/')[1] ?? '') : stages.length;

/** The nearest first: those that match and lack consent, then those that fail at a filter, the subject, and so on. */
function groupsOf(explanations: readonly Explanation[]): Group[] {
  const groups = new Map<string, Group>();
  for (const row of explanations) {
    if (row.matched) continue;
    const condition = row.code === 'filter' ? conditionOf(row) : undefined;
    const key = JSON.stringify([row.code, condition?.attribute, condition?.kind, nearness(row)]);
    const group = groups.get(key) ?? { key, code: row.code, condition, rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  const near = ({ rows: [first] }: Group) => (first === undefined ? 0 : nearness(first));
  return [...groups.values()].sort((one, other) => near(other) - near(one) || other.rows.length - one.rows.length);
}

/** Consumers get no sinks, so theirs are made of the explanations and of what they may read of their subscriptions. */
function useSinks(answer: Schemas['MatchResult']): readonly Matched[] {
  const isDeliverer = isAdmin.value || isSender.value;
  const own = isDeliverer ? [] : (answer.explanations ?? []).filter(({ matched }) => matched);
  const ids = own.slice(0, maxRates).map(({ subscription }) => subscription);
  const rates = useResource(ids.join(), async (signal) => {
    const read = ids.map((id) => api.GET('/subscriptions/{id}', { params: { path: { id } }, signal }));
    return new Map((await Promise.all(read)).map(({ data }) => [data.id, data.statusdetails.allowedrate]));
  });
  if (isDeliverer) return answer.sinks;
  const sinks = new Map<string, Matched>();
  for (const { sink, subscription } of own) {
    const before = sinks.get(sink)?.subscriptions ?? [];
    sinks.set(sink, { sink, allowedrate: rates.data?.get(subscription), subscriptions: [...before, subscription] });
  }
  return [...sinks.values()];
}

/** Who gets the event, and who nearly did, by the condition that decided. */
export function MatchView({ answer, event }: { answer: Schemas['MatchResult']; event: EventMembers }) {
  const { explanations = [] } = answer;
  const sinks = useSinks(answer);
  const subscribers = new Map(explanations.map(({ subscription, subscriber }) => [subscription, subscriber]));
  const groups = groupsOf(explanations);
  const left = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  return (
    <>
      <section aria-labelledby="gets">
        <h2 id="gets">
          {t(texts.gets)} <span class="count">{formatNumber(sinks.length)}</span>
        </h2>
        {sinks.length === 0 ? (
          <p class="note off">{t(texts.getsNone)}</p>
        ) : (
          <Few
            of={sinks}
            caption={t(texts.gets)}
            keyOf={({ sink }) => sink}
            columns={[
              {
                key: 'sink',
                title: t(texts.sink),
                cell: ({ sink, subscriptions: [first = ''] }) => (
                  <span class="good gets">
                    <Icon of={CircleCheck} />
                    <SubscriptionLink id={first}>
                      <Sink sink={sink} />
                    </SubscriptionLink>
                  </span>
                ),
              },
              {
                key: 'subscriber',
                title: t(texts.subscriber),
                width: '30%',
                cell: ({ subscriptions: ids }) =>
                  ids.map((id, place) => (
                    <span key={id}>
                      {place > 0 && ', '}
                      <SubscriptionLink id={id}>
                        <bdi>{subscribers.get(id) ?? id.slice(-12)}</bdi>
                      </SubscriptionLink>
                    </span>
                  )),
              },
              {
                key: 'rate',
                title: t(texts.rate),
                isNumber: true,
                width: '104px',
                cell: ({ allowedrate, helduntil }) =>
                  helduntil === undefined ? (
                    allowedrate !== undefined && shortRate(allowedrate)
                  ) : (
                    <Badge look="open" icon={Pause}>
                      <span class="unseen">{t(texts.held)} </span>
                      <Time at={helduntil} />
                    </Badge>
                  ),
              },
            ]}
          />
        )}
      </section>
      {answer.explanations !== undefined && (
        <section aria-labelledby="nearly">
          <h2 id="nearly">
            {t(texts.getsNot)} <span class="count">{formatNumber(left)}</span>
          </h2>
          {left === 0 && <p class="soft">{t(texts.getsNotNone)}</p>}
          {groups.map((group) => (
            <GroupView key={group.key} group={group} event={event} />
          ))}
          {explanations.length >= maxExplained && <p class="soft foot">{t(texts.onlyOldest)}</p>}
        </section>
      )}
    </>
  );
}

/** Senders may not read subscriptions. */
function SubscriptionLink({ id, children }: { id: string; children: ComponentChildren }) {
  if (isSender.value && !isAdmin.value) return <>{children}</>;
  return (
    <a class="plain" href={href('subscriptions', id)}>
      {children}
    </a>
  );
}

/** A line with the condition, what the event has instead, and how many it kept away; the subscriptions when it is opened. */
function GroupView({ group: { code, condition, rows }, event }: { group: Group; event: EventMembers }) {
  const { attribute, kind, value } = condition ?? {};
  const isOne = rows.every((row) => conditionOf(row).value === value);
  const has = attribute === undefined ? undefined : (event[attribute] ?? null);
  const { explanations } = texts;
  return (
    <details class="group">
      <summary class="line-of">
        <Icon of={ChevronRight} />
        {kind === undefined ? (
          <span>{explanations[code] === undefined ? code : t(explanations[code])}</span>
        ) : (
          <span>
            {attribute !== undefined && <b>{attribute}</b>}{' '}
            {isOne && value !== undefined ? (
              <>
                {t(texts.kinds[kind])} <code>{value}</code>
              </>
            ) : (
              t(texts.various[kind])
            )}
          </span>
        )}
        {has !== undefined && (
          <span class="soft">
            {t(texts.has)} {has === null ? t(texts.absent) : <code>{textOf(has)}</code>}
          </span>
        )}
        <span class="count">{formatNumber(rows.length)}</span>
      </summary>
      <Few
        of={rows}
        caption={t(texts.subscriptions)}
        keyOf={({ subscription }) => subscription}
        columns={[
          {
            key: 'sink',
            title: t(texts.sink),
            cell: ({ subscription, sink }) => (
              <SubscriptionLink id={subscription}>
                <Sink sink={sink} />
              </SubscriptionLink>
            ),
          },
          {
            key: 'subscriber',
            title: t(texts.subscriber),
            width: '26%',
            from: 'tablet',
            cell: ({ subscriber }) => <bdi>{subscriber}</bdi>,
          },
          ...(kind === undefined
            ? []
            : [
                {
                  key: 'wants',
                  title: t(texts.wants),
                  width: '36%',
                  cell: (row: Explanation) => {
                    const wanted = conditionOf(row).value;
                    return (
                      <>
                        {wanted !== undefined && <bdi title={wanted}>{wanted}</bdi>}{' '}
                        {row.detail !== undefined && kind === 'sql' && <span lang="en">{row.detail}</span>}
                      </>
                    );
                  },
                },
              ]),
        ]}
      />
    </details>
  );
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** The first rows of a table, and a button for the next ones. */
function Few<Row>({ of, ...table }: { of: readonly Row[] } & Omit<Parameters<typeof Table<Row>>[0], 'rows'>) {
  const [count, setCount] = useState(fewRows);
  return (
    <>
      <Table {...table} rows={of.slice(0, count)} />
      {of.length > count && (
        <button type="button" class="quiet" onClick={() => setCount(count + moreRows)}>
          {t(texts.more(formatNumber(of.length - count)))}
        </button>
      )}
    </>
  );
}
