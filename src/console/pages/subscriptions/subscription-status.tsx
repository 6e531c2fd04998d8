import { language, t } from '../../app/text.js';
import { handshakePageTexts, subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { StatusBadge, Time } from '../../ui/value.js';
import type { Schemas } from '../../app/api.js';
import type { ApiSubscription } from './use-subscription.js';

/** Where a subscription stands, and what to do next. */
export function StatusNote({ subscription: { status, statusdetails: details } }: { subscription: ApiSubscription }) {
  const { message, advice, fixedby, next, nextat, renewal, rejectedcallback, tolerated = [] } = details;
  return (
    <section class="note" data-status tabIndex={-1} aria-label={t(texts.status)} aria-live="polite">
      <p class="lead">
        <StatusBadge status={status} /> <bdi>{message}</bdi>
      </p>
      {advice !== undefined && (
        <p>
          <strong>{t(texts.toDo[fixedby])}</strong> <bdi>{advice}</bdi>
        </p>
      )}
      {next !== undefined && (
        <p>
          <strong>{t(texts.next)}</strong> {next} <Time at={nextat} />
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
