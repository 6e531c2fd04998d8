import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { follow } from './app/live.js';
import { href, route } from './app/route.js';
import { isExpired, restore, session } from './app/session.js';
import { language, t } from './app/text.js';
import { commonMessages } from './messages/common.js';
import { pages } from './pages/index.js';
import { SignIn } from './pages/sign-in.js';
import { Layout } from './ui/layout.js';

function App() {
  const { page, id } = route.value;
  const found = pages[page];
  const title = found === undefined ? commonMessages.notFound.title : found.title;
  useEffect(() => {
    document.title = `${t(title)} - Assent`;
  }, [title, language.value]);
  const isSignedIn = session.value !== undefined;
  return (
    <Layout>
      {(!isSignedIn || isExpired.value) && <SignIn />}
      {isSignedIn && found !== undefined && <found.Page key={`${page}/${id ?? ''}`} id={id} />}
      {isSignedIn && found === undefined && (
        <>
          <h1>{t(commonMessages.notFound.title)}</h1>
          <p>
            <a href={href('')}>{t(commonMessages.notFound.back)}</a>
          </p>
        </>
      )}
    </Layout>
  );
}

restore();
document.documentElement.lang = language.value;
follow();
const root = document.getElementById('console');
if (root !== null) render(<App />, root);
