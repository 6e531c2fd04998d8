import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { announcement, chooseLanguage, language, t } from '../app/text.js';
import { connection } from '../app/live.js';
import { href, route } from '../app/route.js';
import { missingScopes } from '../app/places.js';
import { session, signOut, user } from '../app/session.js';
import { commonTexts as texts } from '../texts/common.js';
import { useKeptFocus } from './keep-focus.js';
import { Who } from './value.js';

type Place = keyof typeof texts.menu;

/** What the token may not see is not offered. */
export const placesOf = (): Place[] =>
  (Object.keys(texts.menu) as Place[]).filter((place) => missingScopes(place).length === 0);

/** What stands around every page: name, menu, who is signed in, whether the page is live, and the latest message. */
export function Layout({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const { page, id } = route.value;
  const isFirst = useRef(true);
  useKeptFocus();
  // As after a click on a link of an ordinary page: a screen reader begins to read at the content.
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [page, id]);
  const { client, tenant, person } = { person: undefined, ...(user.value ?? { client: '', tenant: '' }) };
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {t(texts.skip)}
      </a>
      <header class="banner">
        <a class="name" href={href('')}>
          <img src="assets/icon.svg" alt="" width="24" height="24" />
          Assent
        </a>
        {session.value !== undefined && (
          <p class={`connection ${connection.value}`} role="status">
            {t(texts.connections[connection.value])}
          </p>
        )}
        <div class="who">
          {session.value !== undefined && (
            <span class="soft">
              {t(texts.signedInAs)} <Who client={client} person={person} /> · <bdi>{tenant}</bdi>
            </span>
          )}
          <button
            type="button"
            lang={language.value === 'en' ? 'nl' : 'en'}
            onClick={() => chooseLanguage(language.value === 'en' ? 'nl' : 'en')}
          >
            {t(texts.language)}
          </button>
          {session.value !== undefined && (
            <button type="button" onClick={signOut}>
              {t(texts.signOut)}
            </button>
          )}
        </div>
      </header>
      <div class="frame">
        {session.value !== undefined && (
          <nav aria-label={t(texts.menuLabel)}>
            <ul>
              {placesOf().map((place) => (
                <li key={place}>
                  <a href={href(place)} aria-current={page === place ? 'page' : undefined}>
                    {t(texts.menu[place])}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
        <main id="content" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
      <p class="announcement" role="status" aria-live="polite">
        {announcement.value}
      </p>
    </>
  );
}
