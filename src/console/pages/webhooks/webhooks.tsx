import { api } from '../../app/api.js';
import { type Change, isBlock, readAll, useResource } from '../../app/live.js';
import { formatNumber, t } from '../../app/text.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { Loaded } from '../../ui/form.js';
import { Table } from '../../ui/table.js';
import { Time, StatusBadge } from '../../ui/value.js';
import { href, route } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { GrantCard } from '../grants/grant-card.js';
import { commonTexts } from '../../texts/common.js';
import { GrantList, webhookHref } from '../grants/grant-list.js';

/** What senders reported for the pair of a subscription. */
function WebhookDeliveries({
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
        {({ counts, failures, deliveredat, lastat, laststatuscode, message, advice }) => {
          const rows = Object.entries(counts).sort(([, one], [, other]) => other - one);
          if (rows.length === 0) return <p>{t(texts.noDeliveries)}</p>;
          return (
            <>
              <p>{message}</p>
              {advice !== undefined && <p class="note">{advice}</p>}
              <dl class="facts">
                <dt>{t(texts.lastDelivery)}</dt>
                <dd>
                  <Time at={lastat} /> {laststatuscode}
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

const maxSubscriptions = 200;

/** An origin and a sink: whether it may send now, its grant, its deliveries and its subscriptions. */
function WebhookPair({ origin, sink }: { origin: string; sink: string }) {
  const pair = { origin, sink };
  const isOfPair = (change: Change) =>
    isBlock(change) || (change.origin === origin && (change.sink === undefined || change.sink === sink));
  const grant = useResource(
    'grant',
    async (signal) => (await api.GET('/grants', { params: { query: pair }, signal })).data[0]?.id ?? '',
    isOfPair,
  );
  const permission = useResource(
    'permission',
    async (signal) => (await api.GET('/permissions', { params: { query: pair }, signal })).data,
    isOfPair,
  );
  const subscriptions = useResource(
    'subscriptions',
    async (signal) => {
      if (!isAdmin.value) return { rows: [], isCut: false };
      return readAll(maxSubscriptions, api.pages('/subscriptions', { params: { query: pair }, signal }));
    },
    isOfPair,
  );
  const renewal = subscriptions.data?.rows.find(({ statusdetails }) => statusdetails.renewal)?.statusdetails.renewal;
  const first = subscriptions.data?.rows[0];
  return (
    <>
      <p>
        <a href={href('webhooks')}>{t(texts.backToWebhooks)}</a>
      </p>
      <h1>
        <bdi>{sink}</bdi>
      </h1>
      <Loaded of={permission}>
        {({ allowed, denial = '', message }) => (
          <p class="lead">
            {allowed ? t(texts.allowed) : texts.denials[denial] === undefined ? message : t(texts.denials[denial])}
          </p>
        )}
      </Loaded>
      <h2>{t(texts.grant)}</h2>
      <Loaded of={grant}>
        {(id) => (id === '' ? <p>{t(texts.noGrant)}</p> : <GrantCard key={id} id={id} renewal={renewal} />)}
      </Loaded>
      {isAdmin.value && (
        <p>
          <a class="button" href={href('grants', undefined, { agree: 'new', ...pair })}>
            {t(texts.agree)}
          </a>
        </p>
      )}
      {first !== undefined && <WebhookDeliveries subscription={first.id} isOfPair={isOfPair} />}
      {isAdmin.value && (
        <>
          <h2>{t(texts.subscriptions)}</h2>
          <Loaded of={subscriptions}>
            {({ rows, isCut }) => (
              <>
                {isCut && (
                  <p class="note">
                    {t(texts.cut(formatNumber(rows.length)))}{' '}
                    <a href={href('subscriptions', undefined, { origin, sinkcontains: sink })}>
                      {t(texts.allSubscriptions)}
                    </a>
                  </p>
                )}
                {rows.length === 0 && <p>{t(texts.noSubscriptions)}</p>}
                {rows.length > 0 && (
                  <Table
                    caption={t(texts.subscriptions)}
                    rows={rows}
                    keyOf={({ id }) => id}
                    columns={[
                      {
                        key: 'subscriber',
                        title: t(texts.subscriber),
                        cell: ({ id, subscriber }) => (
                          <a href={href('subscriptions', id)}>
                            <bdi>{subscriber}</bdi>
                          </a>
                        ),
                      },
                      { key: 'state', title: t(texts.state), cell: ({ status }) => <StatusBadge status={status} /> },
                      {
                        key: 'types',
                        title: 'types',
                        cell: ({ types = [] }) => <bdi>{types.join(', ')}</bdi>,
                      },
                    ]}
                  />
                )}
              </>
            )}
          </Loaded>
        </>
      )}
    </>
  );
}

/** `#/webhooks`, and one pair: `#/webhooks?origin=…&sink=…`. */
export function Webhooks() {
  const { origin, sink } = route.value.query;
  if (origin !== undefined && sink !== undefined) {
    return <WebhookPair key={JSON.stringify([origin, sink])} origin={origin} sink={sink} />;
  }
  return (
    <>
      <h1>{t(commonTexts.menu.grants)}</h1>
      <p>{t(texts.webhooksLead)}</p>
      <GrantList caption={t(commonTexts.menu.grants)} linkTo={webhookHref} />
    </>
  );
}
