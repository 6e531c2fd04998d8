import { useState } from 'preact/hooks';
import { href } from '../../app/route.js';
import { t } from '../../app/text.js';
import { registerTexts } from '../../texts/register.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { Loaded } from '../../ui/problem.js';
import { FilterTester, useFilterCheck } from './filter-test.js';
import { Actions } from './subscription-actions.js';
import { Deliveries } from './subscription-deliveries.js';
import { EditSubscription } from './subscription-edit.js';
import { Facts } from './subscription-facts.js';
import { StatusNote } from './subscription-status.js';
import { Timeline } from './subscription-timeline.js';
import { useSubscription, type SubscriptionDetails, type Subscription } from './use-subscription.js';
import { WebhookLines } from '../webhooks/webhook-lines.js';

/** Whether the lines to paste are what the reader needs now. */
export function needsLines({ status, statusdetails: { fixedby } }: Subscription): boolean {
  return status !== 'active' && fixedby === 'headers';
}

/** What Assent asked for, or would ask. */
export function askedRate({ subscription, handshakes: [latest] }: SubscriptionDetails): string {
  const header = latest?.attempts.at(-1)?.request.find(({ name }) => name.toLowerCase() === 'webhook-request-rate');
  return header?.value ?? String(subscription.requestedrate ?? '*');
}

/** One subscription: where it stands, what to do, and every conversation with its webhook. */
export function OneSubscription({ id }: { id: string }) {
  const resource = useSubscription(id);
  const [isEditing, setIsEditing] = useState(false);
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
          const done = () => {
            setIsEditing(false);
            resource.reload();
          };
          return (
            <>
              <StatusNote subscription={subscription} />
              <Actions read={read} reload={resource.reload} onEdit={isEditing ? undefined : () => setIsEditing(true)} />
              {isEditing && <EditSubscription read={read} onDone={done} />}
              {needsLines(subscription) && <WebhookLines origin={origin} rate={askedRate(read)} sink={sink} isOpen />}
              <Timeline read={read} />
              {!needsLines(subscription) && (
                <WebhookLines origin={origin} rate={askedRate(read)} sink={sink} isOpen={false} />
              )}
              <Facts subscription={subscription} />
              {!isEditing && <StoredFilterTest subscription={subscription} />}
              <Deliveries id={id} origin={origin} sink={sink} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function StoredFilterTest({ subscription: { id, types, source } }: { subscription: Subscription }) {
  const check = useFilterCheck(
    { subscription: id },
    { ...(types?.[0] && { type: types[0] }), ...(source && { source }) },
  );
  return (
    <details>
      <summary>
        <h2 class="in-line">{t(registerTexts.test)}</h2>
      </summary>
      <FilterTester check={check} />
    </details>
  );
}
