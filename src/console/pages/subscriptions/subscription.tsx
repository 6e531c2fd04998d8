import type { ComponentChildren } from 'preact';
import { formatNumber, t } from '../../app/text.js';
import { registerTexts, subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Time } from '../../ui/value.js';
import { type ApiSubscription, follow, type SubscriptionDetails, useSubscription } from './use-subscription.js';
import { useState } from 'preact/hooks';
import { href } from '../../app/route.js';
import { Loaded } from '../../ui/form.js';
import { FilterChecker, useFilterCheck } from './json-editor.js';
import { Actions } from './subscription-actions.js';
import { Deliveries, Timeline } from './subscription-timeline.js';
import { storedDraft } from '../../app/draft.js';
import { editOf, EditSubscription } from './subscription-edit.js';
import { StatusNote } from './subscription-status.js';
import { WebhookLines } from '../webhooks/webhook-lines.js';

const json = (value: unknown) =>
  value === undefined ? undefined : (
    <pre tabIndex={0}>
      <code>{JSON.stringify(value, undefined, 2)}</code>
    </pre>
  );
const rate = (value: number | '*' | undefined) =>
  value === undefined ? undefined : t(texts.perMinute(value === '*' ? value : formatNumber(value)));

/** What is stored. Members that are absent are left out, apart from those that decide what matches. */
function Facts({ subscription }: { subscription: ApiSubscription }) {
  const { source, types, subject, filters, sinkcredential: credential, suspension, statusdetails } = subscription;
  const every = <span class="soft">{t(texts.every)}</span>;
  const facts: Array<[string, ComponentChildren]> = [
    [t(texts.sink), <bdi>{subscription.sink}</bdi>],
    [t(texts.origin), <bdi>{subscription.origin}</bdi>],
    [t(texts.subscriber), <bdi>{subscription.subscriber}</bdi>],
    [t(texts.source), source === undefined ? every : <bdi>{source}</bdi>],
    [t(texts.types), types?.length ? <List of={types} /> : every],
    [t(texts.subject), subject === undefined ? every : <bdi>{subject}</bdi>],
    [t(texts.filters), filters?.length ? json(filters) : every],
    [t(texts.requestedrate), rate(subscription.requestedrate)],
    [t(texts.allowedrate), rate(statusdetails.allowedrate)],
    [t(texts.grantEnds), statusdetails.grantexpiresat && <Time at={statusdetails.grantexpiresat} isExact />],
    [t(texts.ends), subscription.expiresat && <Time at={subscription.expiresat} isExact />],
    [
      t(texts.credential),
      credential && (
        <>
          {credential.credentialtype} · <Time at={credential.setat} isExact /> ·{' '}
          {t(texts.fingerprint(credential.fingerprint))}
          {credential.previous && (
            <>
              {' '}
              · {t(texts.previousUntil)} <Time at={credential.previous.until} isExact />
            </>
          )}
        </>
      ),
    ],
    [t(texts.callback), subscription.callback],
    [t(texts.settings), json(subscription.protocolsettings)],
    [t(texts.config), json(subscription.config)],
    [t(texts.price), subscription.price === undefined ? undefined : t(texts.steps(formatNumber(subscription.price)))],
    [
      t(texts.suspended),
      suspension && (
        <>
          <Time at={suspension.at} isExact /> {t(texts.suspendedBy[suspension.by])}
          {suspension.person && (
            <>
              {' ('}
              <bdi title={suspension.person.id}>{suspension.person.name ?? suspension.person.id}</bdi>)
            </>
          )}
          : <bdi>{suspension.reason}</bdi>
        </>
      ),
    ],
    [
      t(texts.warnings),
      subscription.warnings?.length ? (
        <List of={subscription.warnings.map(({ pointer, detail }) => `${pointer}: ${detail}`)} />
      ) : undefined,
    ],
    [t(texts.created), <Time at={subscription.createdat} isExact />],
    [t(texts.updated), <Time at={subscription.updatedat} isExact />],
    [t(texts.id), <code>{subscription.id}</code>],
  ];
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">{t(texts.facts)}</h2>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => (
            <>
              <dt key={name}>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
    </section>
  );
}

function List({ of }: { of: readonly string[] }) {
  return (
    <ul class="plain">
      {of.map((text) => (
        <li key={text}>
          <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  );
}

/** Whether the lines to paste are what the reader needs now. */
export function needsLines({ status, statusdetails: { fixedby } }: ApiSubscription): boolean {
  return status !== 'active' && fixedby === 'headers';
}

/** What Assent asked for, or would ask. */
export function askedRate({ subscription, handshakes: [latest] }: SubscriptionDetails): number | undefined {
  const header = latest?.attempts.at(-1)?.request.find(({ name }) => name.toLowerCase() === 'webhook-request-rate');
  return header === undefined ? subscription.requestedrate : Number(header.value);
}

/** One subscription: where it stands, what to do, and every conversation with its webhook. */
export function OneSubscription({ id }: { id: string }) {
  const resource = useSubscription(id);
  const [isEditing, setIsEditing] = useState(() => storedDraft(editOf(id)) !== undefined);
  return (
    <>
      <p>
        <a href={href('subscriptions')}>{t(texts.back)}</a>
      </p>
      <h1>{resource.data === undefined ? t(texts.title) : <bdi>{resource.data.subscription.sink}</bdi>}</h1>
      <Loaded of={resource}>
        {(read) => {
          const { subscription } = read;
          const { origin, sink } = subscription;
          return (
            <>
              <StatusNote subscription={subscription} />
              <Actions read={read} resource={resource} onEdit={isEditing ? undefined : () => setIsEditing(true)} />
              {isEditing && (
                <EditSubscription
                  read={read}
                  onChanged={(answer) => follow(resource, answer)}
                  onClose={() => setIsEditing(false)}
                />
              )}
              {needsLines(subscription) && <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen />}
              <Timeline read={read} />
              {!needsLines(subscription) && (
                <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen={false} />
              )}
              <Facts subscription={subscription} />
              {!isEditing && <StoredFilterCheck subscription={subscription} />}
              <Deliveries id={id} origin={origin} sink={sink} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function StoredFilterCheck({ subscription: { id, types, source } }: { subscription: ApiSubscription }) {
  const check = useFilterCheck(
    { subscription: id },
    { ...(types?.[0] && { type: types[0] }), ...(source && { source }) },
  );
  return (
    <details>
      <summary>
        <h2 class="in-line">{t(registerTexts.check)}</h2>
      </summary>
      <FilterChecker check={check} />
    </details>
  );
}
