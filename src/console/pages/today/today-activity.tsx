import { api, type Schemas } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { replaceQuery } from '../../app/route.js';
import { language, t, type Text } from '../../app/text.js';
import { todayTexts as texts } from '../../texts/today.js';
import { BarChart, type Series } from '../../ui/chart.js';
import { Field } from '../../ui/field.js';
import { Loaded } from '../../ui/problem.js';
import { useEvery } from './today-attention.js';

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
export function Activity({ range: wanted }: { range: string | undefined }) {
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
        <Field label={t(texts.range)}>
          {(attributes) => (
            <select
              {...attributes}
              value={range}
              onChange={({ currentTarget }) =>
                replaceQuery({ range: currentTarget.value === 'day' ? undefined : currentTarget.value })
              }
            >
              {(Object.keys(ranges) as Range[]).map((each) => (
                <option key={each} value={each}>
                  {t(texts.ranges[each])}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Loaded of={statistics}>{(data) => <Charts data={data} />}</Loaded>
    </section>
  );
}

function Charts({ data }: { data: Statistics }) {
  const labels = labelsOf(data);
  const sum = (isPart: (series: Counted) => boolean) =>
    data.series.filter(isPart).reduce(
      (total, { counts }) => total.map((value, place) => value + (counts[place] ?? 0)),
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
  ['no_answer', 5],
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
