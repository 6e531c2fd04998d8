import { api } from '../../app/api.js';
import { useResource } from '../../app/resource.js';
import { formatNumber, t } from '../../app/text.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { Loaded } from '../../ui/problem.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';

type Outcome = keyof typeof texts.outcomes;

/** What senders reported for the pair of origin and sink. */
export function Deliveries({ id, origin, sink }: { id: string; origin: string; sink: string }) {
  const deliveries = useResource(
    `${id} ${origin} ${sink}`,
    async (signal) => (await api.GET('/subscriptions/{id}/deliveries', { params: { path: { id } }, signal })).data,
    (change) => change.origin === origin && change.sink === sink && change.subscription === undefined,
  );
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{t(texts.deliveries)}</h2>
      <Loaded of={deliveries}>
        {({ counts, failures, deliveredat, lastat, laststatus, helduntil, message, advice }) => {
          const rows = Object.entries(counts);
          if (rows.length === 0) return <p>{t(texts.noDeliveries)}</p>;
          return (
            <>
              <p>{t(texts.deliveriesHint)}</p>
              {message !== undefined && (
                <p>
                  {message} {advice !== undefined && <strong>{advice}</strong>}
                </p>
              )}
              <dl class="facts">
                <dt>{t(texts.lastDelivery)}</dt>
                <dd>
                  <Time at={lastat} /> {laststatus}
                </dd>
                <dt>{t(texts.lastSuccess)}</dt>
                <dd>{deliveredat === undefined ? '–' : <Time at={deliveredat} />}</dd>
                <dt>{t(texts.failures)}</dt>
                <dd>{formatNumber(failures)}</dd>
                {helduntil !== undefined && (
                  <>
                    <dt>{t(texts.heldUntil)}</dt>
                    <dd>
                      <Time at={helduntil} />
                    </dd>
                  </>
                )}
              </dl>
              <Table
                caption={t(texts.deliveries)}
                rows={rows}
                keyOf={([outcome]) => outcome}
                columns={[
                  {
                    key: 'outcome',
                    title: t(texts.outcome),
                    cell: ([outcome]) => (outcome in texts.outcomes ? t(texts.outcomes[outcome as Outcome]) : outcome),
                  },
                  { key: 'count', title: t(texts.count), isNumber: true, cell: ([, count]) => formatNumber(count) },
                ]}
              />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
