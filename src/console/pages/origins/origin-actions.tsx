import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api } from '../../app/api.js';
import { readAll } from '../../app/read-all.js';
import { useAction, useResource } from '../../app/resource.js';
import { go, href } from '../../app/route.js';
import { t } from '../../app/text.js';
import { originsTexts as texts } from '../../texts/origins.js';
import { Confirm } from '../../ui/dialog.js';
import { ReferenceField, referenceHeader } from '../../ui/reference.js';
import { readOrigin, type Versioned } from './read-origin.js';

const maxOrigins = 10_000;

async function findDefault(): Promise<string | undefined> {
  const { rows } = await readAll(maxOrigins, api.pages('/origins'));
  return rows.find(({ isdefault }) => isdefault)?.name;
}

async function setDefault(name: string, isdefault: boolean, reference: string): Promise<void> {
  const { etag } = await readOrigin(name);
  const header = { 'If-Match': etag, ...referenceHeader(reference) };
  await api.PATCH('/origins/{name}', {
    params: { path: { name }, header },
    body: { isdefault },
  });
}

/** Two changes, because a tenant has at most one default origin. If the second fails, trying again does only that. */
export function MakeDefault({ name, onDone }: { name: string; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t(texts.makeDefault)}
      </button>
      {isOpen && <MakeDefaultDialog name={name} onDone={onDone} onClose={() => setOpen(false)} />}
    </>
  );
}

function MakeDefaultDialog({ name, onDone, onClose }: { name: string; onDone: () => void; onClose: () => void }) {
  const [reference, setReference] = useState('');
  const action = useAction();
  const present = useResource('default origin', findDefault, ({ kind }) => kind === 'origin.changed');
  const make = async () => {
    const before = await findDefault();
    if (before !== undefined && before !== name) await setDefault(before, false, reference);
    await setDefault(name, true, reference);
    announce(t(texts.madeDefault));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.makeDefaultTitle).replace('{name}', name)}
      confirm={t(texts.makeDefault)}
      action={action}
      onConfirm={make}
      onClose={onClose}
    >
      <p>{t(texts.makeDefaultText)}</p>
      {present.data !== undefined && <p>{t(texts.presentDefault).replace('{name}', present.data)}</p>}
      <ReferenceField value={reference} onInput={setReference} />
    </Confirm>
  );
}

export function DeleteOrigin({ found: { origin, etag } }: { found: Versioned }) {
  const [isOpen, setOpen] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { name } = origin;
  const remove = async () => {
    const header = { 'If-Match': etag, ...referenceHeader(reference) };
    await api.DELETE('/origins/{name}', { params: { path: { name }, header } });
    announce(t(texts.deleted));
    go(href('origins'));
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => setOpen(true)}>
        {t(texts.delete)}
      </button>
      {isOpen && (
        <Confirm
          title={t(texts.deleteTitle).replace('{name}', name)}
          confirm={t(texts.delete)}
          action={action}
          onConfirm={remove}
          onClose={() => {
            action.clear();
            setOpen(false);
          }}
          isDangerous
        >
          <p>{t(texts.deleteText)}</p>
          <p>{t(texts.deleteUse)}</p>
          <ReferenceField value={reference} onInput={setReference} />
          {action.problem?.code === 'origin_in_use' && (
            <p>
              <a href={href('subscriptions', undefined, { origin: name })}>{t(texts.inUse)}</a>
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}
