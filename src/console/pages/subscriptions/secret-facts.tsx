import type { Schemas } from '../../app/api.js';
import { t } from '../../app/text.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Time } from '../../ui/value.js';

/** What is known of a secret that nobody can read: when it was set, its fingerprint, and whether it replaced another one. */
export function SecretFacts({
  of: { setat, fingerprint, previous },
  look = 'exact',
}: {
  of: Schemas['PresentSigningSecret'];
  look?: 'exact' | 'relative';
}) {
  return (
    <span>
      <Time at={setat} look={look} /> · {t(texts.fingerprint(fingerprint))}
      {previous && (
        <>
          {' '}
          · {t(texts.previousUntil)} <Time at={previous.until} look="exact" />
        </>
      )}
    </span>
  );
}
