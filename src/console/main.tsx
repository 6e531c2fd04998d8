import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { followLive } from './app/live.js';
import { href, route } from './app/route.js';
import { isHandedOver, returnFromIssuer } from './app/issuer.js';
import { endsSoon, isExpired, restore, session, consoleSettings } from './app/session.js';
import { language, t } from './app/text.js';
import { commonTexts, signInTexts } from './texts/common.js';
import { pages, type PageComponent, type PageEntry } from './pages/index.js';
import { EndsSoon, SignIn } from './pages/sign-in.js';
import { Layout } from './ui/layout.js';
import { lostConnectionProblem } from './app/api.js';
import { ProblemView } from './ui/form.js';

function App() {
  const { page, id } = route.value;
  const found = pages[page];
  const title = found === undefined ? commonTexts.notFound.title : found.title;
  useEffect(() => {
    document.title = `${t(title)} - Assent`;
  }, [title, language.value]);
  const isSignedIn = session.value !== undefined;
  if (isHandedOver.value) {
    return (
      <main>
        <h1>{t(signInTexts.title)}</h1>
        <p>{t(signInTexts.handedOver)}</p>
      </main>
    );
  }
  return (
    <Layout>
      {isSignedIn && !isExpired.value && endsSoon.value && consoleSettings.issuers.length > 0 && <EndsSoon />}
      {(!isSignedIn || isExpired.value) && <SignIn />}
      {isSignedIn && found !== undefined && <LoadedPage key={page} place={found} id={id} />}
      {isSignedIn && found === undefined && (
        <>
          <h1>{t(commonTexts.notFound.title)}</h1>
          <p>
            <a href={href('')}>{t(commonTexts.notFound.back)}</a>
          </p>
        </>
      )}
    </Layout>
  );
}

const loaded = new Map<PageEntry, PageComponent>();

/** A page whose part of the script is loaded when it is opened for the first time. */
function LoadedPage({ place, id }: { place: PageEntry; id: string | undefined }) {
  const [, setTurn] = useState(0);
  const [isLost, setIsLost] = useState(false);
  useEffect(() => {
    if (loaded.has(place)) return;
    place.load().then(
      (page) => {
        loaded.set(place, page);
        setTurn((before) => before + 1);
      },
      () => setIsLost(true),
    );
  }, [place, isLost]);
  const Shown = loaded.get(place);
  if (Shown !== undefined) return <Shown key={id ?? ''} id={id} />;
  // A browser does not load a module again that it could not load once.
  if (isLost) return <ProblemView problem={lostConnectionProblem} onRetry={() => location.reload()} />;
  return (
    <p class="soft" role="status">
      {t(commonTexts.loading)}
    </p>
  );
}

if (!returnFromIssuer()) restore();
document.documentElement.lang = language.value;
followLive();
const root = document.getElementById('console');
if (root !== null) render(<App />, root);
