import { api } from '../../app/api.js';
import type { Change } from '../../app/live.js';
import { useResource } from '../../app/resource.js';
import { formatNumber, t } from '../../app/text.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Loaded } from '../../ui/problem.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';

/** What senders reported for the pair of a subscription. */
export function WebhookDeliveries({
  subscription: id,
  isOfPair,
}: {
  subscription: string;
  isOfPair: (change: Change) => boolean;
}) {
  const deliveries = useResource(
    `deliveries/${id}`,
    async (signal) => (await api.GET('/subscriptions/{id}/deliveries', { params: { path: { id } }, signal })).data,
    isOfPair,
  );
  return (
    <>
      <h2>{t(texts.deliveries)}</h2>
      <Loaded of={deliveries}>
        {({ counts, failures, deliveredat, lastat, laststatus, message, advice }) => {
          const rows = Object.entries(counts).sort(([, one], [, other]) => other - one);
          if (rows.length === 0) return <p>{t(texts.noDeliveries)}</p>;
          return (
            <>
              <p>{message}</p>
              {advice !== undefined && <p class="note">{advice}</p>}
              <dl class="facts">
                <dt>{t(texts.lastDelivery)}</dt>
                <dd>
                  <Time at={lastat} /> {laststatus}
                </dd>
                {deliveredat !== undefined && (
                  <>
                    <dt>{t(texts.lastSuccess)}</dt>
                    <dd>
                      <Time at={deliveredat} />
                    </dd>
                  </>
                )}
                <dt>{t(texts.failures)}</dt>
                <dd>{formatNumber(failures)}</dd>
              </dl>
              <Table
                caption={t(texts.deliveries)}
                rows={rows}
                keyOf={([kind]) => kind}
                columns={[
                  {
                    key: 'kind',
                    title: t(texts.outcome),
                    cell: ([kind]) => (texts.outcomes[kind] === undefined ? kind : t(texts.outcomes[kind])),
                  },
                  {
                    key: 'count',
                    title: t(texts.count),
                    isNumber: true,
                    cell: ([, count]) => formatNumber(Number(count)),
                  },
                ]}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}
