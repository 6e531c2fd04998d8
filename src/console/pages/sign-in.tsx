import { leaveToSignIn, signInBeside, signInFault } from '../app/issuer.js';
import {
  consoleSettings,
  continueSession,
  isExpired,
  linkFault,
  linkOffer,
  newSharing,
  otherSessions,
  readToken,
  type Session,
  session,
  signIn,
} from '../app/session.js';
import { t } from '../app/text.js';
import { signInTexts as texts } from '../texts/common.js';
import { useState } from 'preact/hooks';
import { Copyable } from '../ui/value.js';
import { Dialog } from '../ui/dialog.js';
import { TextField } from '../ui/form.js';

/** One button for each issuer. With a page behind it, it signs in beside: what was typed stays. */
function Issuers() {
  if (consoleSettings.issuers.length === 0) return null;
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
        {consoleSettings.issuers.map((issuer) => (
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

const Identity = ({ of: { client, tenant } }: { of: Session }) => (
  <>
    <bdi>{client}</bdi> · <bdi>{tenant}</bdi>
  </>
);

/** A link does not replace a session without a question: any page can lead here with a token of its own. */
export function LinkQuestion() {
  const [offered, present] = [linkOffer.value, session.value];
  if (offered === undefined || present === undefined) return null;
  const stay = () => void (linkOffer.value = undefined);
  const change = () => {
    stay();
    signIn(offered, newSharing());
  };
  return (
    <Dialog title={t(texts.linkTitle)} onClose={stay}>
      <p>{t(texts.linkText)}</p>
      <dl class="facts">
        {(
          [
            [texts.present, present],
            [texts.offered, offered],
          ] as const
        ).map(([name, each]) => (
          <>
            <dt key={name.en}>{t(name)}</dt>
            <dd>
              <Identity of={each} />
              <br />
              <span class="soft">{each.scopes.join(' ')}</span>
            </dd>
          </>
        ))}
      </dl>
      <div class="actions">
        <button type="button" class="first" onClick={stay}>
          {t(texts.stay)} <bdi>{present.client}</bdi>
        </button>
        <button type="button" class="danger" onClick={change}>
          {t(texts.as)} <bdi>{offered.client}</bdi>
        </button>
      </div>
    </Dialog>
  );
}

/** Sessions of other tabs, if there are several or they answered late. */
function OtherTabs() {
  const sessions = otherSessions.value.filter(({ expiresAt }) => expiresAt > Date.now());
  if (session.value !== undefined || sessions.length === 0) return null;
  return (
    <>
      <p>{t(texts.elsewhere)}</p>
      <p class="actions">
        {sessions.map((each) => (
          <button key={each.token} type="button" class="first" onClick={() => continueSession(each)}>
            {t(texts.continueAs)} <Identity of={each} />
          </button>
        ))}
      </p>
    </>
  );
}

/** A pasted token. Issuers that the operator configured for the console come before it. */
export function SignIn() {
  const [text, setText] = useState('');
  const [isKept, setIsKept] = useState(true);
  const [fault, setFault] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const found = readToken(text);
    if (found === undefined) return setFault(t(texts.malformed));
    if (found.expiresAt <= Date.now()) return setFault(t(texts.past));
    return signIn(found, isKept ? newSharing() : undefined);
  };
  return (
    <section class="sign-in" aria-labelledby="sign-in">
      <h1 id="sign-in">{t(texts.title)}</h1>
      {isExpired.value && <p role="alert">{t(texts.expired)}</p>}
      {linkFault.value !== undefined && session.value === undefined && (
        <p class="faults" role="alert">
          {t(texts.links[linkFault.value])}
        </p>
      )}
      <OtherTabs />
      <Issuers />
      {consoleSettings.issuers.length > 0 && <h2>{t(texts.orToken)}</h2>}
      <form onSubmit={submit}>
        <TextField
          label={t(texts.token)}
          hint={t(texts.tokenHint)}
          class="secret"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={setText}
        />
        {fault !== '' && (
          <p class="faults" role="alert">
            {fault}
          </p>
        )}
        <p>
          <label class="choice">
            <input type="checkbox" checked={isKept} onChange={(event) => setIsKept(event.currentTarget.checked)} />{' '}
            {t(texts.keep)}
          </label>
        </p>
        <button type="submit" class="first">
          {t(texts.submit)}
        </button>
      </form>
      {consoleSettings.developmentCommand !== undefined && (
        <>
          <p>{t(texts.development)}</p>
          <Copyable text={consoleSettings.developmentCommand} label={t(texts.development)} />
        </>
      )}
    </section>
  );
}
