import { useEffect } from 'preact/hooks';
import type { Schemas } from '../../app/api.js';
import { href } from '../../app/route.js';
import { t } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import { subscriptionPageTexts } from '../../texts/subscriptions.js';
import { Loaded } from '../../ui/form.js';
import { Copyable, rateText, Sink, StatusBadge } from '../../ui/value.js';
import { LostSecret, MadeSecret } from './made-secret.js';
import { AskAgain } from './subscription-actions.js';
import { StatusNote } from './subscription-status.js';
import { Exchange, Handshakes } from './subscription-timeline.js';
import { askedRate, needsLines } from './subscription.js';
import { useSubscription } from './use-subscription.js';
import { WebhookLines } from './webhook-lines.js';

/** To a dry run: what the webhook would say. */
export function Answer({ of: { status, statusdetails, attempt, sink, origin } }: { of: Schemas['Subscription'] }) {
  const { message, advice, allowedrate, fixedby } = statusdetails;
  return (
    <>
      <p>
        {t(texts.nothingStored)}{' '}
        {status === 'active' ? (
          t(texts.wouldBeActive(rateText(allowedrate)))
        ) : (
          <bdi>
            {message} {advice}
          </bdi>
        )}
      </p>
      {status !== 'active' && fixedby === 'headers' && (
        <Copyable text={`WebHook-Allowed-Origin: ${origin}`} label={t(subscriptionPageTexts.toDo.headers)} />
      )}
      {attempt !== undefined && <Exchange asked={{ sink, origin }} attempt={attempt} isTold isShort />}
    </>
  );
}

/** The response of the webhook, as it comes. */
export function Registered({
  id,
  secret,
  isSecretLost,
  onAnother,
}: {
  id: string;
  secret: string | undefined;
  isSecretLost: boolean;
  onAnother: () => void;
}) {
  const resource = useSubscription(id);
  useEffect(() => scrollTo(0, 0), []);
  return (
    <>
      <div class="title">
        <h1>{resource.data === undefined ? t(texts.title) : <Sink sink={resource.data.subscription.sink} />}</h1>
        {resource.data !== undefined && <StatusBadge status={resource.data.subscription.status} />}
        <span class="grow" />
        <button type="button" class="quiet" onClick={onAnother}>
          {t(texts.another)}
        </button>
        <a class="button" href={href('subscriptions', id)}>
          {t(texts.open)}
        </a>
        {resource.data !== undefined && resource.data.subscription.status !== 'active' && (
          <AskAgain read={resource.data} reload={resource.reload} />
        )}
      </div>
      {secret !== undefined && <MadeSecret secret={secret} />}
      {isSecretLost && <LostSecret id={id} />}
      <Loaded of={resource}>
        {(read) => {
          const { subscription } = read;
          const { origin, sink } = subscription;
          return (
            <>
              <StatusNote subscription={subscription} />
              {needsLines(subscription) && <WebhookLines origin={origin} asked={askedRate(read)} sink={sink} isOpen />}
              <h2>{t(texts.answer)}</h2>
              <Handshakes read={read} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}
