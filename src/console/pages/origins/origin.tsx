import { useState } from 'preact/hooks';
import { announce, t } from '../../app/text.js';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, readAll, useAction, useResource } from '../../app/live.js';
import { go, href } from '../../app/route.js';
import { originsTexts as texts, policyTexts } from '../../texts/origins.js';
import { differences, useVersion, type Version } from '../../app/version.js';
import { Confirm, ConfirmChange } from '../../ui/dialog.js';
import { Differences, Form, FormButtons, Loaded, ProblemView, ReferenceField, referenceHeader } from '../../ui/form.js';
import {
  readOrigin,
  changesOf,
  type PolicyMember,
  members,
  OriginPolicyForm,
  PolicyFields,
  policyPointers,
  typedOf,
} from './origin-policy.js';
import { Time, Who } from '../../ui/value.js';
import { LiftBlock } from '../blocks/block-effect.js';
import { commonTexts } from '../../texts/common.js';
import { isAdmin } from '../../app/session.js';
import { OriginRules } from './origin-rules.js';

type Origin = Schemas['Origin'];

const maxOrigins = 10_000;

async function findDefault(): Promise<string | undefined> {
  const { rows } = await readAll(maxOrigins, api.pages('/origins'));
  return rows.find(({ isdefault }) => isdefault)?.name;
}

async function setDefault(name: string, isdefault: boolean, reference: string): Promise<void> {
  const { tag } = await readOrigin(name);
  const header = { 'If-Match': tag, ...referenceHeader(reference) };
  await api.PATCH('/origins/{name}', {
    params: { path: { name }, header },
    body: { isdefault },
  });
}

/** Two changes, because a tenant has at most one default origin. If the second fails, trying again does only that. */
function MakeDefault({ name, onDone }: { name: string; onDone: () => void }) {
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

function DeleteOrigin({ found }: { found: Version<Origin> }) {
  const [isOpen, setOpen] = useState(false);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { name } = found.value;
  const remove = async (tag: string) => {
    const header = { 'If-Match': tag, ...referenceHeader(reference) };
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
        <ConfirmChange
          of={found}
          read={() => readOrigin(name)}
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
        </ConfirmChange>
      )}
    </>
  );
}

/** Stop and start: the blocks of the kind `origin`. Those that stop its tenant or a webhook are on the page Blocks. */
function OriginBlocks({ name }: { name: string }) {
  const blocks = useResource(
    `blocks of ${name}`,
    async (signal) =>
      (await api.GET('/blocks', { params: { query: { kind: 'origin', value: name, limit: 200 } }, signal })).data,
    isBlock,
  );
  return (
    <section aria-labelledby="stopping">
      <h2 id="stopping">{t(texts.stopping)}</h2>
      <Loaded of={blocks}>
        {(rows) => (
          <>
            {rows.length === 0 && (
              <>
                <p>{t(texts.running)}</p>
                <a class="button" href={href('new-block', undefined, { kind: 'origin', value: name })}>
                  {t(texts.stop)}
                </a>
              </>
            )}
            {rows.length > 0 && <p class="note">{t(texts.stopped)}</p>}
            {rows.map((block) => (
              <div key={block.id} class="actions">
                <span>
                  <a href={href('blocks', block.id)}>
                    <bdi>{block.reason}</bdi>
                  </a>{' '}
                  <Who client={block.createdby} person={block.createdbyperson} />, <Time at={block.createdat} />
                </span>
                <LiftBlock block={block} onLifted={blocks.reload} />
              </div>
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

/**
 * Changes only the members that were edited. It follows what is stored; if another admin changed the same member, the
 * registry refuses, and the form shows what is different.
 */
function EditPolicy({
  found,
  onChanged,
  onClose,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
  onClose: () => void;
}) {
  const [before, setBefore] = useState(() => typedOf(found.value));
  const [typed, setTyped] = useState(before);
  const [others, setOthers] = useState<ReturnType<typeof differences>>([]);
  const [reference, setReference] = useState('');
  const action = useAction();
  const { name } = found.value;
  const version = useVersion(
    found,
    () => readOrigin(name),
    (_, origin) => {
      const now = typedOf(origin);
      const merged = members.map((member) => [member, typed[member] === before[member] ? now[member] : typed[member]]);
      setOthers(
        differences(before, now).map((each) => ({ ...each, name: t(policyTexts[each.name as PolicyMember].label) })),
      );
      setTyped(Object.fromEntries(merged) as typeof typed);
      setBefore(now);
    },
    (_, origin) => {
      const now = typedOf(origin);
      return members.every(
        (member) => [before[member], typed[member]].includes(now[member]) || typed[member] === before[member],
      );
    },
  );

  const save = () =>
    version.change(async (tag) => {
      const body = changesOf(before, typed);
      if (Object.keys(body).length === 0) return announce(t(texts.unchanged));
      const params = { path: { name }, header: { 'If-Match': tag, ...referenceHeader(reference) } };
      const { data, etag = '' } = await api.PATCH('/origins/{name}', { params, body });
      onChanged({ value: data, tag: etag });
      announce(t(texts.saved));
      return onClose();
    });

  return (
    <Form action={action} onSubmit={save}>
      <PolicyFields typed={typed} onChange={setTyped} problem={action.problem} />
      <ReferenceField value={reference} onInput={setReference} />
      <ProblemView problem={action.problem} shownAt={policyPointers} />
      <Differences of={others} />
      <FormButtons
        action={action}
        submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(commonTexts.save))) : t(commonTexts.save)}
        cancel={onClose}
      />
    </Form>
  );
}

export function OneOrigin({ name }: { name: string }) {
  const [isEdited, setEdited] = useState(false);
  const read = useResource(
    `origin ${name}`,
    (signal) => readOrigin(name, signal),
    ({ kind, origin }) => kind.startsWith('origin.') && origin === name,
  );
  const back = (
    <p>
      <a href={href('origins')}>{t(texts.back)}</a>
    </p>
  );
  if (read.problem?.code === 'origin_not_found') {
    return (
      <>
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <p class="note">{t(texts.gone)}</p>
        {back}
      </>
    );
  }
  return (
    <>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <Loaded of={read}>
        {(found) => (
          <>
            <p class="actions">
              <a class="button" href={href('subscriptions', undefined, { origin: name })}>
                {t(texts.subscriptions)}
              </a>
              {isAdmin.value && (
                <a class="button" href={href('audit', undefined, { target: `origin:${name}` })}>
                  {t(texts.history)}
                </a>
              )}
            </p>
            <h2>{t(texts.policy)}</h2>
            {isEdited ? (
              <EditPolicy found={found} onChanged={read.put} onClose={() => setEdited(false)} />
            ) : (
              <>
                <OriginPolicyForm origin={found.value} />
                {isAdmin.value && (
                  <div class="actions">
                    <button type="button" onClick={() => setEdited(true)}>
                      {t(texts.edit)}
                    </button>
                    {!found.value.isdefault && <MakeDefault name={name} onDone={read.reload} />}
                    <DeleteOrigin found={found} />
                  </div>
                )}
              </>
            )}
            {isAdmin.value && <OriginBlocks name={name} />}
            {isAdmin.value && <OriginRules found={found} onChanged={read.put} />}
          </>
        )}
      </Loaded>
      {back}
    </>
  );
}
