import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { followLive } from './app/live.js';
import { followOverview } from './app/counts.js';
import { arrival, href, route, shownName } from './app/route.js';
import { handOver, restoreRenewal, returnFromIssuer } from './app/issuer.js';
import {
  askTabs,
  caller,
  endsSoon,
  isAskingTabs,
  isExpired,
  linkFault,
  linkOffer,
  openLink,
  restore,
  session,
  consoleSettings,
  user,
} from './app/session.js';
import { missingScopes } from './app/places.js';
import { announce, language, t, type Text } from './app/text.js';
import { commonTexts, signInTexts } from './texts/common.js';
import { pages } from './pages/index.js';
import { Layout, placesOf } from './ui/layout.js';
import { api } from './app/api.js';
import { later } from './ui/later.js';

function App() {
  const { page, id } = route.value;
  const found = pages.get(page);
  const title = found === undefined ? commonTexts.notFound.title : found.title;
  useEffect(() => {
    document.title = [shownName.value, t(title), 'Assent'].filter(Boolean).join(' - ');
  }, [title, language.value, shownName.value]);
  const isSignedIn = session.value !== undefined;
  // The start page says itself what it cannot show.
  const missing = page === '' ? [] : missingScopes(page);
  // What another user had open is not for the next one.
  const identity = session.value?.identity;
  if (handOver.value !== 'none') {
    return (
      <main>
        <h1>{t(signInTexts.title)}</h1>
        {handOver.value === 'asking' ? <Loading /> : <p>{t(signInTexts.handedOver)}</p>}
      </main>
    );
  }
  return (
    <Layout>
      {isSignedIn && !isExpired.value && endsSoon.value && consoleSettings.issuers.length > 0 && <EndsSoon />}
      {(!isSignedIn || isExpired.value) && (isAskingTabs.value ? <Loading /> : <SignIn />)}
      {isSignedIn && found !== undefined && missing.length > 0 && <NotOpen title={title} scopes={missing} />}
      {isSignedIn && found !== undefined && missing.length === 0 && (
        <found.Content key={`${identity} ${page} ${id}`} id={id} />
      )}
      {isSignedIn && found === undefined && (
        <>
          <h1>{t(commonTexts.notFound.title)}</h1>
          <p>
            <a href={href('')}>{t(commonTexts.notFound.back)}</a>
          </p>
        </>
      )}
      {linkOffer.value !== undefined && <LinkQuestion />}
    </Layout>
  );
}

/** A page that the token may not see, with a way to one that it may. */
function NotOpen({ title, scopes }: { title: Text; scopes: readonly string[] }) {
  const [place] = placesOf();
  return (
    <>
      <h1>{t(title)}</h1>
      <p class="note">{t(commonTexts.notOpen(scopes.join(', '), user.value?.scopes.join(', ') ?? ''))}</p>
      {place !== undefined && (
        <p>
          <a href={href(place)}>{t(commonTexts.menu[place])}</a>
        </p>
      )}
    </>
  );
}

const EndsSoon = later(async () => (await import('./pages/sign-in.js')).EndsSoon);
const SignIn = later(async () => (await import('./pages/sign-in.js')).SignIn);
const LinkQuestion = later(async () => (await import('./pages/sign-in.js')).LinkQuestion);

const Loading = () => (
  <p class="soft" role="status">
    {t(commonTexts.loading)}
  </p>
);

async function openConsole(): Promise<void> {
  const arrived = arrival.value;
  restore();
  restoreRenewal();
  const isDone = arrived !== undefined && (await returnFromIssuer(arrived));
  if (!isDone && session.value === undefined && arrived?.fragment.has('token') !== true) askTabs();
  // Also in a tab that shows the console already.
  effect(() => {
    const token = arrival.value?.fragment.get('token');
    if (token != null) untracked(() => openLink(token));
  });
  effect(() => {
    if (linkFault.value !== undefined && session.peek() !== undefined) announce(t(signInTexts.links[linkFault.value]));
  });
}

/** Also after a renewal. Without an answer, what the token says is good enough. */
effect(() => {
  const token = session.value?.token;
  if (token === undefined || token === caller.peek()?.token) return;
  api.GET('/whoami').then(
    ({ data }) => (caller.value = { ...data, token }),
    () => undefined,
  );
});

void openConsole();
document.documentElement.lang = language.value;
followLive();
followOverview();
const root = document.getElementById('console');
if (root !== null) render(<App />, root);
