import { leaveToSignIn, signInBeside, signInFault } from '../app/issuer.js';
import { session } from '../app/session.js';
import { settings } from '../app/settings.js';
import { t } from '../app/text.js';
import { signInTexts as texts } from '../texts/sign-in.js';

/** One button for each issuer. With a page behind it, it signs in beside: what was typed stays. */
export function Issuers() {
  if (settings.issuers.length === 0) return null;
  return (
    <>
      {signInFault.value !== '' && (
        <p class="faults" role="alert">
          {signInFault.value === 'window' ? (
            t(texts.windowBlocked)
          ) : (
            <>
              {t(texts.issuerFailed)} <bdi lang="en">{signInFault.value}</bdi>
            </>
          )}
        </p>
      )}
      <p class="actions">
        {settings.issuers.map((issuer) => (
          <button
            key={issuer.issuer}
            type="button"
            class="first"
            onClick={() => void (session.value === undefined ? leaveToSignIn(issuer) : signInBeside(issuer))}
          >
            {t(texts.with)} {new URL(issuer.issuer).host}
          </button>
        ))}
      </p>
    </>
  );
}

/** Shortly before the token expires, if it is not renewed without the user. */
export function EndsSoon() {
  return (
    <section class="note" role="status">
      <p>{t(texts.endsSoon)}</p>
      <Issuers />
    </section>
  );
}
