import { CircleX, Handshake, type IconNode, RadioTower, ScrollText, Webhook } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, AssentError } from '../app/api.js';
import { useResource, useSettled } from '../app/live.js';
import { missingScopes } from '../app/places.js';
import { go, href } from '../app/route.js';
import { t } from '../app/text.js';
import { commonTexts } from '../texts/common.js';
import { Combobox } from './combobox.js';
import { Dialog } from './dialog.js';
import { ProblemView } from './form.js';
import { Icon } from './icon.js';
import { Sink } from './value.js';

const texts = commonTexts.find;

interface Found {
  address: string;
  icon: IconNode;
  kind: string;
  content: ComponentChildren;
}

const isId = (text: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);
const isHost = (text: string) => /^[\w-]+(\.[\w-]+)+$/.test(text);
const maxOfList = 200;

/** What is not there, or is no possible value, is no failure of a search. */
async function orNone<T>(read: Promise<{ data: T | T[] }>): Promise<T[]> {
  try {
    return [(await read).data].flat() as T[];
  } catch (error) {
    if (error instanceof AssentError && (error.status === 404 || error.status === 400)) return [];
    throw error;
  }
}

/** What the user may see that has this text in its name, or is this id; a few of each kind. */
async function find(text: string, signal: AbortSignal): Promise<Found[]> {
  if (text === '') return [];
  const may = (place: string) => missingScopes(place).length === 0;
  const ofId = { params: { path: { id: text } }, signal };
  const listed = (query: { sinkcontains?: string; host?: string }) => ({
    params: { query: { ...query, limit: 5 } },
    signal,
  });
  const list = { params: { query: { limit: maxOfList } }, signal };
  const has = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const [subscriptions, ofHost, grants, origins, blocks] = await Promise.all([
    !may('subscriptions')
      ? []
      : isId(text)
        ? orNone(api.GET('/subscriptions/{id}', ofId))
        : orNone(api.GET('/subscriptions', listed({ sinkcontains: text }))),
    may('subscriptions') && isHost(text) ? orNone(api.GET('/subscriptions', listed({ host: text }))) : [],
    !may('grants')
      ? []
      : isId(text)
        ? orNone(api.GET('/grants/{id}', ofId))
        : orNone(api.GET('/grants', listed({ sinkcontains: text }))),
    may('origins') ? orNone(api.GET('/origins', list)) : [],
    may('blocks') ? orNone(api.GET('/blocks', list)) : [],
  ]);
  const others = ofHost.filter((one) => subscriptions.every(({ id }) => id !== one.id));
  return [
    ...[...subscriptions, ...others].map(({ id, sink, status }) => ({
      address: href('subscriptions', id),
      icon: Webhook,
      kind: `${t(texts.subscription)} · ${t(commonTexts.statuses[status])}`,
      content: <Sink sink={sink} />,
    })),
    ...origins
      .filter(({ name }) => has(name))
      .map(({ name }) => ({ address: href('origins', name), icon: RadioTower, kind: t(texts.origin), content: name })),
    ...blocks
      .filter(({ id, value }) => has(value) || id === text)
      .map(({ id, value }) => ({ address: href('blocks', id), icon: CircleX, kind: t(texts.block), content: value })),
    ...grants.map(({ id, sink }) => ({
      address: href('grants', id),
      icon: Handshake,
      kind: t(texts.grant),
      content: <Sink sink={sink} />,
    })),
    ...(isId(text) && may('audit')
      ? [
          {
            address: href('audit', undefined, { requestid: text }),
            icon: ScrollText,
            kind: t(commonTexts.menu.audit),
            content: t(texts.request),
          },
        ]
      : []),
  ];
}

export interface Page {
  place: string;
  title: string;
  icon: IconNode;
}

/** One field that finds everything, above the page. What is chosen is opened. */
export function Finder({ pages, onClose }: { pages: readonly Page[]; onClose: () => void }) {
  const [text, setText] = useState('');
  const asked = useSettled(text.trim());
  const found = useResource(`find ${asked}`, (stop) => find(asked, stop));
  const isAsking = found.isLoading || asked !== text.trim();
  const all: Found[] = [
    ...pages
      .filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()))
      .map(({ place, title, icon }) => ({ address: href(place), icon, kind: t(texts.page), content: title })),
    ...(asked === text.trim() ? (found.data ?? []) : []),
  ];
  return (
    <Dialog title={t(texts.anything)} look="finder" onClose={onClose}>
      <Combobox
        label={t(texts.anything)}
        placeholder={t(texts.hint)}
        text={text}
        options={all.map(({ address, icon, kind, content }) => ({
          key: address,
          content: (
            <>
              <Icon of={icon} />
              <bdi>{content}</bdi> <span class="soft">{kind}</span>
            </>
          ),
        }))}
        isEager
        onInput={setText}
        onChoose={(address) => {
          onClose();
          go(address);
        }}
      />
      <ProblemView problem={found.problem} onRetry={found.reload} />
      <p class="soft" role="status">
        {isAsking ? t(commonTexts.loading) : all.length === 0 ? t(commonTexts.nothing) : ''}
      </p>
    </Dialog>
  );
}
