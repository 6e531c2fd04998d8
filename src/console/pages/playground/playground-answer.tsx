import type { Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { isAdmin, isSender } from '../../app/session.js';
import { formatNumber, t } from '../../app/text.js';
import { playgroundTexts as texts } from '../../texts/playground.js';
import { Table } from '../../ui/table.js';
import { Time, rateText } from '../../ui/value.js';
import type { EventMembers } from './playground-event.js';

/** What the part of a subscription at a pointer asks of an event. */
interface Condition {
  /** The attribute that it is about; undefined for a part that combines others, and for an expression. */
  attribute: string | undefined;
  kind: 'exact' | 'oneOf' | 'prefix' | 'suffix' | 'sql' | 'combined';
  value: string;
}

/** Undefined if the subscription has no such part: it was changed since. */
function conditionAt(subscription: Schemas['Subscription'], pointer: string): Condition | undefined {
  const steps = pointer.split('/').slice(1);
  let value: unknown = subscription;
  for (const step of steps) {
    value = (value as Record<string, unknown> | null)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (value === undefined || value === null) return undefined;
  }
  const [last = '', before] = [steps.at(-1), steps.at(-2)];
  if (pointer === '/types') return { attribute: 'type', kind: 'oneOf', value: (value as string[]).join(', ') };
  if (typeof value !== 'string') return { attribute: undefined, kind: 'combined', value: JSON.stringify(value) };
  if (last === 'sql') return { attribute: undefined, kind: 'sql', value };
  if (before === 'exact' || before === 'prefix' || before === 'suffix') return { attribute: last, kind: before, value };
  return { attribute: last, kind: 'exact', value };
}

export type Subscriptions = ReadonlyMap<string, Schemas['Subscription']>;

type Matched = Pick<Schemas['MatchedSink'], 'sink' | 'subscriptions' | 'helduntil'> & {
  allowedrate?: Schemas['Rate'] | undefined;
  expiresat?: string | undefined;
};

const SubscriptionLink = ({ id }: { id: string }) => (
  <a href={href('subscriptions', id)}>
    <code>{id.slice(-12)}</code>
  </a>
);

/** Consumers get no sinks, so theirs are made of the explanations and of what they may read of their subscriptions. */
function sinksOf(answer: Schemas['MatchResult'], subscriptions: Subscriptions): readonly Matched[] {
  if (isAdmin.value || isSender.value) return answer.sinks;
  const sinks = new Map<string, Matched>();
  for (const { matched, sink, subscription } of answer.explanations ?? []) {
    if (!matched) continue;
    const { allowedrate, grantexpiresat: expiresat } = subscriptions.get(subscription)?.statusdetails ?? {};
    const before = sinks.get(sink)?.subscriptions ?? [];
    sinks.set(sink, { sink, allowedrate, expiresat, subscriptions: [...before, subscription] });
  }
  return [...sinks.values()];
}

/** Who gets the event, and for each subscription that does not, the condition that decided. */
export function MatchView({
  answer,
  event,
  subscriptions,
}: {
  answer: Schemas['MatchResult'];
  event: EventMembers;
  subscriptions: Subscriptions;
}) {
  const { explanations = [] } = answer;
  const sinks = sinksOf(answer, subscriptions);
  const others = explanations.filter(({ matched }) => !matched);
  return (
    <>
      <h2>{`${t(texts.gets)} (${formatNumber(sinks.length)})`}</h2>
      {sinks.length === 0 ? (
        <p>{t(texts.getsNone)}</p>
      ) : (
        <Table
          caption={t(texts.gets)}
          rows={sinks}
          keyOf={({ sink }) => sink}
          columns={[
            { key: 'sink', title: t(texts.sink), cell: ({ sink }) => <bdi>{sink}</bdi> },
            {
              key: 'subscriptions',
              title: t(texts.subscriptions),
              cell: ({ subscriptions: ids }) =>
                ids.map((id, place) => (
                  <span key={id}>
                    {place > 0 && ', '}
                    <SubscriptionLink id={id} />
                  </span>
                )),
            },
            { key: 'rate', title: t(texts.rate), isNumber: true, cell: ({ allowedrate }) => rateText(allowedrate) },
            {
              key: 'until',
              title: t(texts.until),
              cell: ({ expiresat, helduntil }) => (
                <>
                  <Time at={expiresat} />
                  {helduntil !== undefined && (
                    <>
                      {` · ${t(texts.held)} `}
                      <Time at={helduntil} look="exact" />
                    </>
                  )}
                </>
              ),
            },
          ]}
        />
      )}
      {answer.explanations !== undefined && (
        <>
          <h2>{`${t(texts.getsNot)} (${formatNumber(others.length)})`}</h2>
          {explanations.length >= 1_000 && <p class="soft">{t(texts.onlyOldest)}</p>}
          {others.length === 0 ? (
            <p>{t(texts.getsNotNone)}</p>
          ) : (
            <Table
              caption={t(texts.getsNot)}
              rows={others}
              keyOf={({ subscription }) => subscription}
              columns={[
                {
                  key: 'subscription',
                  title: t(texts.subscription),
                  cell: ({ subscription, sink }) => (
                    <>
                      <SubscriptionLink id={subscription} /> <bdi>{sink}</bdi>
                    </>
                  ),
                },
                {
                  key: 'why',
                  title: t(texts.why),
                  cell: ({ code, pointer, detail }) => (
                    <>
                      {texts.explanations[code] === undefined ? code : t(texts.explanations[code])}{' '}
                      {pointer !== undefined && <code>{pointer}</code>}{' '}
                      {detail !== undefined && <span lang="en">{detail}</span>}
                    </>
                  ),
                },
                {
                  key: 'wants',
                  title: t(texts.wants),
                  cell: ({ subscription, pointer }) => (
                    <Wanted subscription={subscriptions.get(subscription)} pointer={pointer} />
                  ),
                },
                {
                  key: 'has',
                  title: t(texts.has),
                  cell: ({ subscription, pointer }) => (
                    <Had subscription={subscriptions.get(subscription)} pointer={pointer} event={event} />
                  ),
                },
              ]}
            />
          )}
        </>
      )}
    </>
  );
}

interface Place {
  subscription: Schemas['Subscription'] | undefined;
  pointer: string | undefined;
}

const conditionOf = ({ subscription, pointer }: Place) =>
  subscription === undefined || pointer === undefined ? undefined : conditionAt(subscription, pointer);

function Wanted(place: Place) {
  const condition = conditionOf(place);
  if (condition === undefined) return null;
  return (
    <>
      {condition.attribute} {t(texts.kinds[condition.kind])}{' '}
      <code>
        <bdi>{condition.value}</bdi>
      </code>
    </>
  );
}

function Had({ event, ...place }: Place & { event: EventMembers }) {
  const name = conditionOf(place)?.attribute;
  if (name === undefined) return null;
  const value = event[name];
  if (value === undefined || value === null) return <>{t(texts.absent)}</>;
  return (
    <code>
      <bdi>{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>
    </code>
  );
}
