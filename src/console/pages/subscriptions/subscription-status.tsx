import { CircleCheck, CircleX, Clock, Pause } from 'lucide';
import { language, t } from '../../app/text.js';
import { handshakePageTexts } from '../../texts/handshakes.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { commonTexts } from '../../texts/common.js';
import { isAdmin } from '../../app/session.js';
import { Icon } from '../../ui/icon.js';
import { Copyable, lookOf, Next, Time } from '../../ui/value.js';
import type { Schemas } from '../../app/api.js';
import { agreementHref, type ApiSubscription } from './use-subscription.js';

const icons = { good: CircleCheck, open: Clock, bad: CircleX, stop: CircleX, off: Pause };

/** Where a subscription stands, and what to do next. */
export function StatusNote({ subscription }: { subscription: ApiSubscription }) {
  const { status, origin, statusdetails: details } = subscription;
  const { label, message, advice, fixedby, next, nextat, renewal, rejectedcallback, tolerated = [], help } = details;
  const look = lookOf(status);
  return (
    <section class={`note ${look}`} data-status tabIndex={-1} aria-label={t(texts.status)} aria-live="polite">
      <Icon of={icons[look]} size={20} />
      <div>
        <h2>
          <span class="unseen">{t(commonTexts.statuses[status])}. </span>
          <bdi>{label}</bdi>
        </h2>
        <p>
          <bdi>{message}</bdi> {advice !== undefined && <bdi>{advice}</bdi>}
        </p>
        {status !== 'active' && fixedby === 'headers' && (
          <Copyable text={`WebHook-Allowed-Origin: ${origin}`} label={t(texts.toDo.headers)} />
        )}
        {nextat !== undefined && (
          <p>
            <Next text={next ?? ''} at={nextat} />
          </p>
        )}
        {renewal !== undefined && (
          <p>
            <strong>{t(texts.renewal(inMinutes(renewal.secondsleft)))}</strong> <bdi>{renewal.message}</bdi>{' '}
            <bdi>{renewal.advice}</bdi>
          </p>
        )}
        <RejectedCallbackNote of={rejectedcallback} />
        {tolerated.length > 0 && (
          <ul aria-label={t(handshakePageTexts.tolerated)}>
            {tolerated.map(({ code, message: text }) => (
              <li key={code}>{text}</li>
            ))}
          </ul>
        )}
        {status !== 'active' && (
          <p class="links">
            {help !== undefined && <a href={help}>{t(texts.help)}</a>}
            {isAdmin.value && status !== 'suspended' && status !== 'blocked' && (
              <a href={agreementHref(subscription)}>{t(texts.approve)}</a>
            )}
          </p>
        )}
      </div>
    </section>
  );
}

export function RejectedCallbackNote({ of }: { of: Schemas['RejectedCallback'] | undefined }) {
  if (of === undefined) return null;
  return (
    <p>
      <strong>{t(texts.rejected(String(of.count)))}</strong> <bdi>{of.message}</bdi> <bdi>{of.advice}</bdi>{' '}
      <Time at={of.at} />
    </p>
  );
}

function inMinutes(seconds: number): string {
  const [unit, value] = seconds < 7_200 ? ['minute', seconds / 60] : ['hour', seconds / 3_600];
  const format = new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.floor(value));
}
