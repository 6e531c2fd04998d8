import { Calendar, type IconNode, Pause, Timer } from 'lucide';
import type { ComponentChildren } from 'preact';
import { api, type Schemas } from '../../app/api.js';
import { counts, overview, readOverview } from '../../app/counts.js';
import { useOutageEnd, useResource, useEvery } from '../../app/live.js';
import { href, replaceQuery, route } from '../../app/route.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { capital, formatNumber, locale, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { todayTexts as texts } from '../../texts/today.js';
import { Chart } from '../../ui/chart.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { totalText } from '../../ui/search.js';
import { Empty, Skeleton, Table, type TableColumn } from '../../ui/table.js';
import { Badge, iconOf, type Look, Sink, StatusBadge, Time } from '../../ui/value.js';

type Group = Schemas['AttentionGroup'];
type GroupName = keyof typeof texts.groups;

/** Of the groups of grants; the others are named after a status. */
const ofGrants: Partial<Record<GroupName, readonly [Look, IconNode, string]>> = {
  ending: ['open', Timer, href('grants', undefined, { state: 'live', renews: 'false', within: '30' })],
  held: ['off', Pause, href('grants', undefined, { state: 'live', held: 'true' })],
};
const [usual, others] = [
  ['refused', 'pending', 'ending', 'blocked'],
  ['unreachable', 'retired', 'expired', 'held'],
] as const;

const listOf = (name: GroupName) =>
  ofGrants[name]?.[2] ??
  href('subscriptions', undefined, { status: name, code: name === 'expired' ? 'expired' : undefined });

function Numbers({ groups }: { groups: readonly Group[] | undefined }) {
  const found = (name: GroupName) => groups?.find(({ group }) => group === name);
  const shown = [
    ...usual.filter((name) => isAdmin.value || name !== 'ending'),
    ...others.filter((name) => found(name) !== undefined),
  ];
  return (
    <ul class="numbers" aria-busy={groups === undefined}>
      {shown.map((name) => (
        <li key={name}>
          <NumberCard name={name} of={groups && (found(name) ?? { group: name, count: 0, more: false })} />
        </li>
      ))}
    </ul>
  );
}

function NumberCard({ name, of }: { name: GroupName; of: Group | undefined }) {
  const { count = 0, more = false, recent = 0 } = of ?? {};
  const blocks = counts.value['blocks'];
  const [, icon] = ofGrants[name] ?? ['', iconOf(name as Schemas['SubscriptionStatus'])];
  return (
    <a class="card" href={listOf(name)}>
      <span>
        <Icon of={icon} /> {t(texts.groups[name])}
      </span>
      <b class={count === 0 ? 'soft' : ''}>{of === undefined ? '–' : totalText({ count, isAtLeast: more })}</b>
      <span>
        {name === 'blocked' && blocks !== undefined ? (
          t(texts.blocks(totalText(blocks), blocks.count === 1))
        ) : recent > 0 ? (
          <>
            <span class="new">+{formatNumber(recent)}</span> {t(texts.recent)}
          </>
        ) : name in texts.hints ? (
          t(texts.hints[name as keyof typeof texts.hints])
        ) : (
          t(more && count === 0 ? texts.unknown : texts.noneRecent)
        )}
      </span>
    </a>
  );
}

/** Something that waits for a person, and what to do about it. */
interface Problem {
  key: string;
  badge: ComponentChildren;
  sink: string;
  address: string;
  reason: ComponentChildren;
  at: string | undefined;
  action: keyof typeof texts.actions;
}

const actions: Partial<Record<GroupName, Problem['action']>> = {
  pending: 'decide',
  blocked: 'review',
};

function problemsIn(groups: readonly Group[]): Problem[] {
  const ofSubscriptions = groups.flatMap(({ group, firstsubscriptions = [] }) =>
    firstsubscriptions.map(({ id, sink, status, statusdetails: { label, message, since } }) => ({
      key: id,
      badge: <StatusBadge status={status} />,
      sink,
      address: href('subscriptions', id),
      reason: <bdi title={message}>{label}</bdi>,
      at: since,
      action: actions[group] ?? 'fix',
    })),
  );
  const grants = groups.flatMap(({ group, firstgrants = [] }) => {
    const [look, icon] = ofGrants[group] ?? (['off', Pause] as const);
    return firstgrants.map(({ id, origin, sink, expiresat, helduntil }) => ({
      key: `${group} ${id}`,
      badge: (
        <Badge look={look} icon={icon}>
          {t(group === 'held' ? texts.held : texts.ends)}
        </Badge>
      ),
      sink,
      address: href('grants', id),
      reason: origin,
      at: group === 'held' ? helduntil : expiresat,
      action: 'review' as const,
    }));
  });
  const newest = ofSubscriptions.sort((one, two) => (two.at ?? '').localeCompare(one.at ?? ''));
  return [...newest, ...grants];
}

function columns(): Array<TableColumn<Problem>> {
  return [
    { key: 'status', title: t(texts.status), width: '150px', cell: ({ badge }) => badge },
    {
      key: 'sink',
      title: t(texts.sink),
      cell: ({ sink, address }) => (
        <a class="plain" href={address}>
          <Sink sink={sink} />
        </a>
      ),
    },
    { key: 'reason', title: t(texts.reason), width: '32%', from: 'tablet', cell: ({ reason }) => reason },
    {
      key: 'at',
      title: t(texts.since),
      width: '124px',
      from: 'tablet',
      cell: ({ at }) => <Time at={at} />,
    },
    {
      key: 'action',
      title: t(texts.next),
      width: '124px',
      isNumber: true,
      from: 'tablet',
      cell: ({ action, address, sink }) => (
        <a class="act" href={address} aria-label={`${t(texts.actions[action])}: ${sink}`}>
          {t(texts.actions[action])}
        </a>
      ),
    },
  ];
}

function NeedsPerson({ groups }: { groups: readonly Group[] | undefined }) {
  const rows = problemsIn(groups ?? []);
  return (
    <section class="card needs" aria-labelledby="needs">
      <h2 id="needs">{t(texts.needs)}</h2>
      {groups === undefined ? (
        <Skeleton rows={5} />
      ) : rows.length === 0 ? (
        <Empty title={t(texts.nothing)} text={t(texts.nothingHint)} />
      ) : (
        <Table caption={t(texts.needs)} rows={rows} keyOf={({ key }) => key} columns={columns()} />
      )}
    </section>
  );
}

type Statistics = Schemas['Statistics'];
type Counted = Statistics['series'][number];

const [hourMs, dayMs] = [3_600_000, 86_400_000];
const ranges = {
  day: { step: 'hour', ms: dayMs, refreshMs: 15_000 },
  month: { step: 'day', ms: 30 * dayMs, refreshMs: 60_000 },
  year: { step: 'day', ms: 365 * dayMs, refreshMs: 60_000 },
} as const;
type Range = keyof typeof ranges;

function range(): Range {
  const wanted = route.value.query['range'] ?? '';
  return Object.hasOwn(ranges, wanted) ? (wanted as Range) : 'day';
}

/** How much happened, from the numbers that the registry keeps for this. */
function useStatistics(of: Range) {
  const { step, ms, refreshMs } = ranges[of];
  const statistics = useResource(`statistics ${of}`, async (signal) => {
    // The last step is the present one.
    const since = new Date(Date.now() - ms + (step === 'hour' ? hourMs : dayMs)).toISOString();
    return (await api.GET('/statistics', { params: { query: { step, since } }, signal })).data;
  });
  useEvery(refreshMs, statistics.reload);
  return statistics;
}

const handshakeLooks = [
  ['granted', 'good'],
  ['refused', 'bad'],
  ['waiting', 'open'],
  ['no_response', 'stop'],
  ['not_asked', 'off'],
] as const;
const deliveryLooks = [
  ['delivered', 'good'],
  ['failed', 'bad'],
  ['wait', 'open'],
  ['gone', 'stop'],
] as const;
const deliveryOf: Partial<Record<string, (typeof deliveryLooks)[number][0]>> = {
  delivered: 'delivered',
  throttled: 'wait',
  unavailable: 'wait',
  gone: 'gone',
};

function chartsOf(data: Statistics) {
  const labels = labelsOf(data);
  const sum = (isPart: (series: Counted) => boolean) =>
    data.series.filter(isPart).reduce(
      (total, { values }) => total.map((value, place) => value + (values[place] ?? 0)),
      labels.map(() => 0),
    );
  const leased = sum(({ kind, code }) => kind === 'lease' && code === 'leased');
  const allowed = sum(({ kind, code }) => kind === 'lease' && code === 'allowed');
  const used = leased.map((value, place) => (value === 0 ? 0 : (100 * value) / (allowed[place] || value)));
  const step = data.step === 'hour' ? 'hour' : 'day';
  return {
    handshakes: (
      <Chart
        title={t(texts.handshakes[step])}
        labels={labels}
        series={handshakeLooks.map(([outcome, look]) => ({
          name: t(texts.handshakeOutcomes[outcome]),
          look,
          values: sum((series) => series.outcome === outcome),
        }))}
      />
    ),
    rates: (
      <Chart
        title={t(texts.rates)}
        hint={t(texts.ratesHint)}
        labels={labels}
        unit="%"
        limit={{ value: 100, name: t(texts.allowed) }}
        series={[{ name: t(texts.used), look: 'good', values: used }]}
        columns={[
          { name: t(texts.leased), values: leased },
          { name: t(texts.allowed), values: allowed },
          { name: '%', values: used },
        ]}
      />
    ),
    deliveries: (
      <Chart
        title={t(texts.deliveries[step])}
        labels={labels}
        series={deliveryLooks.map(([part, look]) => ({
          name: t(texts.deliveryOutcomes[part]),
          look,
          values: sum(({ kind, code }) => kind === 'delivery' && (deliveryOf[code] ?? 'failed') === part),
        }))}
      />
    ),
  };
}

/** Hours as the user's clock shows them; days are in UTC. */
function labelsOf({ step, since, until }: Statistics): string[] {
  const format = new Intl.DateTimeFormat(
    locale.value,
    step === 'hour' ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short', timeZone: 'UTC' },
  );
  const stepMs = step === 'hour' ? hourMs : dayMs;
  const from = Date.parse(since);
  const length = (Date.parse(until) - from) / stepMs;
  return Array.from({ length }, (_, place) => format.format(from + place * stepMs));
}

const healthEveryMs = 10_000;
/** As current as polling makes it. */
const usualSeconds = 3;

function useHealth() {
  const health = useResource('health', async (signal) => (await api.GET('/health', { signal })).data);
  useEvery(healthEveryMs, health.reload);
  return health;
}

/** Whether the registry keeps up: what, in words, and whether that is well. */
function healthFacts({ secondsbehind, secondslate, writable }: Schemas['Health']): Array<[string, string, Look]> {
  const lag = (seconds: number | undefined, none: string, usual: string, late: (seconds: string) => string) =>
    seconds === undefined
      ? ([none, 'open'] as const)
      : seconds < usualSeconds
        ? ([usual, 'good'] as const)
        : ([late(formatNumber(Math.round(seconds))), 'bad'] as const);
  return [
    [t(texts.feed), ...lag(secondsbehind, t(texts.loading), t(texts.current), (n) => t(texts.behind(n)))],
    [t(texts.late), ...lag(secondslate, t(texts.noDatabase), t(texts.onTime), (n) => t(texts.secondsLate(n)))],
    [t(texts.changes), t(writable ? texts.possible : texts.readOnly), writable ? 'good' : 'bad'],
  ];
}

function Health({ of }: { of: Schemas['Health'] }) {
  return (
    <section class="card" aria-labelledby="health">
      <h2 id="health">{t(texts.health)}</h2>
      <dl class="facts health">
        {healthFacts(of).map(([name, text, look]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd class={`dot ${look}`}>{text}</dd>
          </>
        ))}
        <dt>{t(texts.version)}</dt>
        <dd>{of.version}</dd>
      </dl>
    </section>
  );
}

/** For admins: how much happens, and whether the registry keeps up. */
function Registry({ children }: { children: ComponentChildren }) {
  const statistics = useStatistics(range());
  const health = useHealth();
  const charts = statistics.data && chartsOf(statistics.data);
  const waiting = <div class="card chart" aria-busy="true" />;
  const isIll = health.data !== undefined && healthFacts(health.data).some(([, , look]) => look === 'bad');
  const state = health.data === undefined ? waiting : <Health of={health.data} />;
  return (
    <>
      {isIll && state}
      <ProblemView problem={statistics.problem} onRetry={statistics.reload} />
      <div class="charts">
        {charts?.handshakes ?? waiting}
        {charts?.rates ?? waiting}
      </div>
      {children}
      <ProblemView problem={health.problem} onRetry={health.reload} />
      <div class="charts">
        {charts?.deliveries ?? waiting}
        {!isIll && state}
      </div>
    </>
  );
}

/** What needs a person, for consumers among their own. */
export function Today() {
  const { data, problem, isLoading, at } = overview.value;
  useOutageEnd({ problem, isLoading }, () => void readOverview());
  if (!isAdmin.value && !isConsumer.value) {
    return (
      <>
        <h1>{t(commonTexts.menu[''])}</h1>
        <p>{t(texts.elsewhere)}</p>
      </>
    );
  }
  const needs = <NeedsPerson groups={data?.groups} />;
  return (
    <>
      <div class="title">
        <h1>{t(commonTexts.menu[''])}</h1>
        {at !== undefined && (
          <span class="soft">
            {t(texts.updated)} <Time at={at} />
          </span>
        )}
        {isAdmin.value && (
          <Menu
            button={
              <>
                <Icon of={Calendar} />
                {t(texts.ranges[range()])}
              </>
            }
          >
            {(Object.keys(ranges) as Range[]).map((each) => (
              <MenuButton
                key={each}
                aria-pressed={each === range()}
                onClick={() => replaceQuery({ range: each === 'day' ? undefined : each })}
              >
                {capital(t(texts.ranges[each]))}
              </MenuButton>
            ))}
          </Menu>
        )}
      </div>
      <ProblemView problem={problem} onRetry={() => void readOverview()} />
      {data?.alerts.map(({ code, message }) => (
        <p key={code + message} class="problem">
          <bdi>{message}</bdi>
        </p>
      ))}
      <Numbers groups={data?.groups} />
      {isAdmin.value ? <Registry>{needs}</Registry> : needs}
    </>
  );
}
