import {
  Activity,
  ChevronsUpDown,
  CircleX,
  FlaskConical,
  Handshake,
  type IconNode,
  LayoutDashboard,
  LogOut,
  Menu as MenuIcon,
  RadioTower,
  ScrollText,
  Webhook,
  X,
} from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from '../app/live.js';
import { counts } from '../app/counts.js';
import { missingScopes } from '../app/places.js';
import { href, route } from '../app/route.js';
import { session, signOut, user } from '../app/session.js';
import { announcement, chooseLanguage, formatNumber, language, t } from '../app/text.js';
import { chooseTheme, theme, themes } from '../app/theme.js';
import { commonTexts as texts } from '../texts/common.js';
import { FindAnything } from './find.js';
import { Icon } from './icon.js';
import { useKeptFocus } from './keep-focus.js';
import { Menu, MenuButton } from './menu.js';

type Place = keyof typeof texts.menu;

const icons: Record<Place, IconNode> = {
  '': LayoutDashboard,
  subscriptions: Webhook,
  grants: Handshake,
  playground: FlaskConical,
  origins: RadioTower,
  blocks: CircleX,
  audit: ScrollText,
  feed: Activity,
};

const groups: ReadonlyArray<{ name: keyof typeof texts.menuGroups | ''; places: readonly Place[] }> = [
  { name: '', places: [''] },
  { name: 'receive', places: ['subscriptions'] },
  { name: 'send', places: ['grants', 'playground'] },
  { name: 'administer', places: ['origins', 'blocks', 'audit', 'feed'] },
];

/** What the token may not see is not offered. */
export const placesOf = (): Place[] =>
  groups.flatMap(({ places }) => places).filter((place) => missingScopes(place).length === 0);

/** Pages that belong to another one, by their first segment. */
const parents: Readonly<Record<string, Place>> = {
  register: 'subscriptions',
  'new-grant': 'grants',
  'new-origin': 'origins',
  'new-block': 'blocks',
};

/** What stands around every page: the menu, who is signed in, whether the page is live, and the latest message. */
export function Layout({ children }: { children: ComponentChildren }) {
  const main = useRef<HTMLElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const { page, id } = route.value;
  const isFirst = useRef(true);
  useKeptFocus();
  // As after a click on a link of an ordinary page: a screen reader begins to read at the content.
  useEffect(() => {
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    setIsOpen(false);
    scrollTo(0, 0);
  }, [page, id]);
  const isSignedIn = session.value !== undefined;
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        {t(texts.skip)}
      </a>
      <div class={isSignedIn ? 'frame' : 'frame alone'}>
        <header class={isOpen ? 'side unfolded' : 'side'}>
          <div class="top">
            <a class="name" href={href('')}>
              <img src="assets/icon.svg" alt="" width="22" height="22" />
              Assent
            </a>
            {isSignedIn && (
              <FindAnything
                pages={placesOf().map((place) => ({ place, title: t(texts.menu[place]), icon: icons[place] }))}
              />
            )}
            {isSignedIn && (
              <button
                type="button"
                class="quiet fold"
                aria-label={t(texts.menuLabel)}
                aria-expanded={isOpen}
                onClick={() => setIsOpen(!isOpen)}
              >
                <Icon of={isOpen ? X : MenuIcon} size={20} />
              </button>
            )}
          </div>
          {isSignedIn && <Places page={parents[page] ?? page} />}
          {isSignedIn ? <User /> : <Language />}
        </header>
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

function Places({ page }: { page: string }) {
  const open = placesOf();
  return (
    <nav aria-label={t(texts.menuLabel)}>
      {groups.map(({ name, places }) => {
        const shown = places.filter((place) => open.includes(place));
        if (shown.length === 0) return null;
        return (
          <div key={name}>
            {name !== '' && <h2 id={`menu-${name}`}>{t(texts.menuGroups[name])}</h2>}
            <ul aria-labelledby={name === '' ? undefined : `menu-${name}`}>
              {shown.map((place) => (
                <li key={place}>
                  <a href={href(place)} aria-current={page === place ? 'page' : undefined}>
                    <Icon of={icons[place]} size={17} />
                    {t(texts.menu[place])} <Count of={place} />
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

function Count({ of }: { of: Place }) {
  const found = counts.value[of];
  if (found === undefined || found.count === 0) return null;
  return (
    <span class={of === '' ? 'count bad' : 'count'}>
      {formatNumber(found.count)}
      {found.isAtLeast && '+'}
    </span>
  );
}

const initialsOf = (name: string) =>
  name
    .split(/[\s._-]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('');

function User() {
  const { client, tenant, person } = { person: undefined, ...(user.value ?? { client: '', tenant: '' }) };
  const name = person?.name ?? person?.id ?? client;
  return (
    <div class="user">
      <p class={`connection ${connection.value}`} role="status">
        {t(texts.connections[connection.value])}
      </p>
      <Menu
        look="quiet"
        button={
          <>
            <span class="initials" aria-hidden="true">
              {initialsOf(name)}
            </span>
            <span class="words">
              <span class="unseen">{t(texts.signedInAs)} </span>
              <bdi title={person?.id}>{name}</bdi>
              <span class="soft">
                <bdi>{tenant}</bdi>
                {person !== undefined && (
                  <>
                    {' · '}
                    <bdi>{client}</bdi>
                  </>
                )}
              </span>
            </span>
            <Icon of={ChevronsUpDown} />
          </>
        }
      >
        <Language />
        <hr />
        {themes.map((each) => (
          <MenuButton key={each} aria-pressed={theme.value === each} onClick={() => chooseTheme(each)}>
            {t(texts.themes[each])}
          </MenuButton>
        ))}
        <hr />
        <MenuButton icon={LogOut} onClick={signOut}>
          {t(texts.signOut)}
        </MenuButton>
      </Menu>
    </div>
  );
}

function Language() {
  const other = language.value === 'en' ? 'nl' : 'en';
  return (
    <MenuButton lang={other} onClick={() => chooseLanguage(other)}>
      {t(texts.language)}
    </MenuButton>
  );
}
