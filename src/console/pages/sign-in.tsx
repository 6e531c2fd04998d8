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
import { Fragment } from 'preact';
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
        {consoleSettings.issuers.map((issuer, place) => (
          <button
            key={issuer.issuer}
            type="button"
            class={place === 0 ? 'first' : undefined}
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
          <Fragment key={name.en}>
            <dt>{t(name)}</dt>
            <dd>
              <Identity of={each} />
              <br />
              <span class="soft">{each.scopes.join(' ')}</span>
            </dd>
          </Fragment>
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

/** Issuers that the operator configured for the console come before a token to paste. */
export function SignIn() {
  const { operator, contact, developmentCommand, issuers } = consoleSettings;
  return (
    <section class="sign-in" aria-labelledby="sign-in">
      <div class="card">
        <h1 id="sign-in">{t(texts.title)}</h1>
        <p class="soft">{t(texts.product)}</p>
        {isExpired.value && <p role="alert">{t(texts.expired)}</p>}
        {linkFault.value !== undefined && session.value === undefined && (
          <p class="faults" role="alert">
            {t(texts.links[linkFault.value])}
          </p>
        )}
        <OtherTabs />
        <Issuers />
        {issuers.length === 0 ? (
          <TokenForm look="first" />
        ) : (
          <details>
            <summary>{t(texts.withToken)}</summary>
            <TokenForm />
          </details>
        )}
        {developmentCommand !== undefined && (
          <>
            <p class="soft">{t(texts.development)}</p>
            <Copyable text={developmentCommand} label={t(texts.development)} />
          </>
        )}
      </div>
      <p class="soft">
        {operator !== undefined && (
          <>
            <bdi>{operator}</bdi> {t(texts.runs)}{' '}
          </>
        )}
        {contact !== undefined && (
          <>
            {t(texts.contact)}: <bdi>{contact}</bdi>
          </>
        )}
      </p>
    </section>
  );
}

function TokenForm({ look }: { look?: string }) {
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
      <button type="submit" class={look}>
        {t(texts.submit)}
      </button>
    </form>
  );
}
