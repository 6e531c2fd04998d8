import { useEffect, useId } from 'preact/hooks';
import { formatNumber, language, t, type Text } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { useResource } from '../../app/live.js';
import { isAdmin, isConsumer } from '../../app/session.js';
import { todayTexts as texts } from '../../texts/today.js';
import { Loaded, SelectField } from '../../ui/form.js';
import { Time } from '../../ui/value.js';
import { type AttentionGroup, readAttention } from './attention.js';
import { api, type Schemas } from '../../app/api.js';
import { replaceQuery, route } from '../../app/route.js';

interface Series {
  name: string;
  /** One of the classes `series-1` to `series-6` of the stylesheet. */
  look: number;
  values: readonly number[];
}

const [width, height] = [600, 120];

/** Stacked bars over time, drawn small, with the same numbers as a table. `labels` name the bars. */
function BarChart({ title, labels, series }: { title: string; labels: readonly string[]; series: readonly Series[] }) {
  const id = useId();
  const totals = labels.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0));
  const top = Math.max(1, ...totals);
  const step = width / Math.max(1, labels.length);
  return (
    <figure class="chart">
      <figcaption id={id}>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={id} preserveAspectRatio="none">
        {labels.map((label, place) => {
          let from = height;
          return series.map(({ name, look, values }) => {
            const value = values[place] ?? 0;
            const size = (value / top) * (height - 4);
            from -= size;
            return (
              value > 0 && (
                <rect
                  key={name + label}
                  class={`series-${look}`}
                  x={place * step + 1}
                  y={from}
                  width={Math.max(1, step - 2)}
                  height={size}
                >
                  <title>{`${label}: ${name} ${formatNumber(value)}`}</title>
                </rect>
              )
            );
          });
        })}
      </svg>
      <ul class="legend">
        {series.map(({ name, look, values }) => (
          <li key={name}>
            <span class={`key series-${look}`} aria-hidden="true" /> {name}:{' '}
            {formatNumber(values.reduce((a, b) => a + b, 0))}
          </li>
        ))}
      </ul>
      <details>
        <summary>{t(commonTexts.asTable)}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-labelledby={id}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t(commonTexts.time)}</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {labels.map((label, place) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  {series.map(({ name, values }) => (
                    <td key={name} class="number">
                      {formatNumber(values[place] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

/** What no change announces, such as a hold that ends, appears at least this often. */
const attentionEveryMs = 30_000;

/** Reads again from time to time, while the page can be seen. */
function useEvery(ms: number, work: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && work(), ms);
    return () => clearInterval(timer);
  }, []);
}

function Attention() {
  const groups = useResource(`attention ${language.value}`, readAttention, () => true);
  useEvery(attentionEveryMs, groups.reload);
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">{t(texts.lead)}</h2>
      <Loaded of={groups}>
        {({ groups: found, unknown, alerts }) => (
          <>
            {alerts.map(({ code, message }) => (
              <p key={code + message} class="problem">
                <bdi>{message}</bdi>
              </p>
            ))}
            {found.length + unknown.length + alerts.length === 0 && <p class="note">{t(texts.nothing)}</p>}
            <div class="cards">
              {found.map((group) => (
                <GroupCard key={group.name} group={group} />
              ))}
            </div>
            {unknown.length > 0 && (
              <p class="soft">
                {t(texts.unknownGroups)}{' '}
                {unknown.map(({ name, address }, place) => (
                  <>
                    {place > 0 && ', '}
                    <a key={name} href={address}>
                      {t(texts.groups[name].title)}
                    </a>
                  </>
                ))}
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function GroupCard({ group: { name, count, isAtLeast, first, address } }: { group: AttentionGroup }) {
  const { title, hint } = texts.groups[name];
  const number = `${formatNumber(count)}${isAtLeast ? '+' : ''}`;
  return (
    <section class="card" aria-labelledby={`group-${name}`}>
      <h3 id={`group-${name}`}>
        {t(title)}: {number}
      </h3>
      <p class="soft">{t(hint)}</p>
      <ul>
        {first.map(({ id, sink, address: place, message, at }) => (
          <li key={id}>
            <a href={place}>
              <bdi>{sink}</bdi>
            </a>
            {message !== undefined && (
              <>
                {' '}
                <bdi>{message}</bdi>
              </>
            )}
            {at !== undefined && (
              <>
                {' '}
                {t(name === 'held' ? texts.holdEnds : texts.expires)} <Time at={at} />
              </>
            )}
          </li>
        ))}
      </ul>
      {(count > first.length || isAtLeast) && (
        <p>
          <a href={address}>
            {t(texts.showAll)}: {t(title)}, {number}
          </a>
        </p>
      )}
    </section>
  );
}

type Statistics = Schemas['Statistics'];
type Counted = Statistics['series'][number];

const dayMs = 86_400_000;
const ranges = {
  day: { step: 'hour', ms: dayMs, refreshMs: 15_000 },
  month: { step: 'day', ms: 30 * dayMs, refreshMs: 60_000 },
  year: { step: 'day', ms: 365 * dayMs, refreshMs: 60_000 },
} as const;
type Range = keyof typeof ranges;

const isRange = (text: string | undefined): text is Range => text !== undefined && Object.hasOwn(ranges, text);

/** How much happened, from the numbers that the registry keeps for this. */
function Activity({ range: wanted }: { range: string | undefined }) {
  const range = isRange(wanted) ? wanted : 'day';
  const { step, ms } = ranges[range];
  const statistics = useResource(`statistics ${range}`, async (signal) => {
    const stepMs = step === 'hour' ? 3_600_000 : dayMs;
    // The last step is the present one.
    const since = new Date(Date.now() - ms + stepMs).toISOString();
    return (await api.GET('/statistics', { params: { query: { step, since } }, signal })).data;
  });
  useEvery(ranges[range].refreshMs, statistics.reload);
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">{t(texts.activity)}</h2>
      <div class="filters">
        <SelectField
          label={t(texts.range)}
          value={range}
          options={Object.keys(ranges) as Range[]}
          textOf={(each) => t(texts.ranges[each])}
          onChange={(value) => replaceQuery({ range: value === 'day' ? undefined : value })}
        />
      </div>
      <Loaded of={statistics}>{(data) => <Charts data={data} />}</Loaded>
    </section>
  );
}

function Charts({ data }: { data: Statistics }) {
  const labels = labelsOf(data);
  const sum = (isPart: (series: Counted) => boolean) =>
    data.series.filter(isPart).reduce(
      (total, { values }) => total.map((value, place) => value + (values[place] ?? 0)),
      labels.map(() => 0),
    );
  const handshakes = handshakeLooks.map(([outcome, look]) => ({
    name: t(texts.handshakeOutcomes[outcome]),
    look,
    values: sum((series) => series.outcome === outcome),
  }));
  const deliveries = deliveryLooks.map(([part, look]) => ({
    name: t(texts.deliveryOutcomes[part]),
    look,
    values: sum(({ kind, code }) => kind === 'delivery' && (partOf[code] ?? 'failed') === part),
  }));
  const leased = sum(({ kind, code }) => kind === 'lease' && code === 'leased');
  const allowed = sum(({ kind, code }) => kind === 'lease' && code === 'allowed');
  const unused = allowed.map((value, place) => Math.max(0, value - (leased[place] ?? 0)));
  const rates = [
    { name: t(texts.leased), look: 3, values: leased },
    { name: t(texts.unused), look: 4, values: unused },
  ];
  return (
    <div class="cards">
      <Chart title={texts.handshakes} labels={labels} series={handshakes} />
      <Chart title={texts.deliveries} labels={labels} series={deliveries} />
      <Chart title={texts.rates} hint={texts.ratesHint} labels={labels} series={rates} />
    </div>
  );
}

const handshakeLooks = [
  ['granted', 1],
  ['refused', 2],
  ['no_response', 5],
  ['not_asked', 4],
] as const;

const deliveryLooks = [
  ['delivered', 1],
  ['wait', 5],
  ['gone', 6],
  ['failed', 2],
] as const;
const partOf: Partial<Record<string, (typeof deliveryLooks)[number][0]>> = {
  delivered: 'delivered',
  throttled: 'wait',
  unavailable: 'wait',
  gone: 'gone',
};

function Chart(props: { title: Text; hint?: Text; labels: readonly string[]; series: readonly Series[] }) {
  const { title, hint, labels, series } = props;
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));
  return (
    <section class="card">
      {isEmpty ? (
        <>
          <p>{t(title)}</p>
          <p class="soft">{t(texts.none)}</p>
        </>
      ) : (
        <BarChart title={t(title)} labels={labels} series={series} />
      )}
      {hint !== undefined && <p class="soft">{t(hint)}</p>}
    </section>
  );
}

/** Hours as the user's clock shows them; days are in UTC. */
function labelsOf({ step, since, until }: Statistics): string[] {
  const stepMs = step === 'hour' ? 3_600_000 : dayMs;
  const format = new Intl.DateTimeFormat(
    language.value,
    step === 'hour'
      ? { weekday: 'short', hour: '2-digit', minute: '2-digit' }
      : { day: 'numeric', month: 'short', timeZone: 'UTC' },
  );
  const from = Date.parse(since);
  const count = (Date.parse(until) - from) / stepMs;
  return Array.from({ length: count }, (_, place) => format.format(from + place * stepMs));
}

const healthEveryMs = 10_000;
/** As current as polling makes it. */
const usualSeconds = 3;

/** Whether the registry keeps up. */
function Health() {
  const health = useResource('health', async (signal) => (await api.GET('/health', { signal })).data);
  useEvery(healthEveryMs, health.reload);
  const seconds = (value: number) => formatNumber(Math.round(value));
  return (
    <section aria-labelledby="health">
      <h2 id="health">{t(texts.health)}</h2>
      <Loaded of={health}>
        {({ version, secondsbehind, secondslate, writable }) => (
          <dl class="facts">
            <dt>{t(texts.feedLag)}</dt>
            <dd>
              {secondsbehind === undefined
                ? t(texts.loading)
                : secondsbehind < usualSeconds
                  ? t(texts.current)
                  : `${seconds(secondsbehind)} ${t(texts.behind)}`}
            </dd>
            <dt>{t(texts.late)}</dt>
            <dd>
              {secondslate === undefined
                ? t(texts.unknown)
                : secondslate < usualSeconds
                  ? t(texts.onTime)
                  : `${seconds(secondslate)} ${t(texts.secondsLate)}`}
            </dd>
            <dt>{t(texts.changes)}</dt>
            <dd>{t(writable ? texts.possible : texts.readOnly)}</dd>
            <dt>{t(texts.version)}</dt>
            <dd>{version}</dd>
          </dl>
        )}
      </Loaded>
    </section>
  );
}

/** What needs attention, for consumers among their own; and for admins how much happens, and whether the registry keeps up. */
export function Today() {
  const maySee = isAdmin.value || isConsumer.value;
  return (
    <>
      <h1>{t(commonTexts.menu[''])}</h1>
      {maySee ? <Attention /> : <p>{t(texts.elsewhere)}</p>}
      {isAdmin.value && <Activity range={route.value.query['range']} />}
      {isAdmin.value && <Health />}
    </>
  );
}
