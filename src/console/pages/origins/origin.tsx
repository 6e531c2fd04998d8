import { defaultOf } from './use-origins.js';
import { Check, CircleX, Clock, Ellipsis, Pencil, ScrollText, Trash2, Webhook } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { readAll, useAction, useResource } from '../../app/live.js';
import { go, href, route, useName } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { announce, t } from '../../app/text.js';
import { differences, useVersion, type Version } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { numberTexts, originsTexts as texts, policyTexts } from '../../texts/origins.js';
import { Confirm, ConfirmChange } from '../../ui/dialog.js';
import { Differences, Form, FormButtons, Loaded, ProblemView, ReferenceField, referenceHeader } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { totalText } from '../../ui/search.js';
import { later } from '../../ui/later.js';
import { Skeleton } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { Time, Who } from '../../ui/value.js';
import { LiftButton, useBlocks } from '../blocks/lift-block.js';
import {
  BlockedBadge,
  blockOn,
  DefaultBadge,
  isVerified,
  NumberOf,
  numberNames,
  stopAddress,
  useSubscriptionCounts,
  useTotals,
  VerifiedBadge,
} from './origin-numbers.js';
import {
  changesOf,
  members,
  PolicyFacts,
  PolicyFields,
  type PolicyMember,
  policyPointers,
  readOrigin,
  typedOf,
} from './origin-policy.js';
import { OriginRules } from './origin-rules.js';

type Origin = Schemas['Origin'];

const maxOrigins = 10_000;

async function findDefault(): Promise<string | undefined> {
  const { rows } = await readAll(maxOrigins, api.pages('/origins'));
  return defaultOf(rows);
}

function MakeDefaultDialog({ name, onDone, onClose }: { name: string; onDone: () => void; onClose: () => void }) {
  const [reference, setReference] = useState('');
  const action = useAction();
  const present = useResource('default origin', findDefault, ({ kind }) => kind === 'origin.changed');
  const make = async () => {
    const { tag } = await readOrigin(name);
    const header = { 'If-Match': tag, ...referenceHeader(reference) };
    await api.PATCH('/origins/{name}', { params: { path: { name }, header }, body: { isdefault: true } });
    announce(t(texts.madeDefault));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.makeDefaultTitle(name))}
      confirm={t(texts.makeDefault)}
      action={action}
      onConfirm={make}
      onClose={onClose}
    >
      <p>{t(texts.makeDefaultText)}</p>
      {present.data !== undefined && <p>{t(texts.presentDefault(present.data))}</p>}
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}

function DeleteDialog({ found, onClose }: { found: Version<Origin>; onClose: () => void }) {
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
    <ConfirmChange
      of={found}
      read={() => readOrigin(name)}
      title={t(texts.deleteTitle(name))}
      confirm={t(texts.delete)}
      action={action}
      onConfirm={remove}
      onClose={onClose}
      isDangerous
    >
      <p>{t(texts.deleteText)}</p>
      <p>{t(texts.deleteUse)}</p>
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
      {action.problem?.code === 'origin_in_use' && (
        <p>
          <a href={href('subscriptions', undefined, { origin: name })}>{t(texts.inUse)}</a>
        </p>
      )}
    </ConfirmChange>
  );
}

/** What an admin can do with it, apart from what is beside the menu. */
function ActionMenu({ found, isStopped, reload }: { found: Version<Origin>; isStopped: boolean; reload: () => void }) {
  const [opened, setOpened] = useState<'default' | 'delete'>();
  const { name, isdefault } = found.value;
  const close = () => setOpened(undefined);
  return (
    <>
      <Menu look="quiet" label={t(texts.actions)} button={<Icon of={Ellipsis} size={18} />}>
        {!isdefault && (
          <MenuButton icon={Check} onClick={() => setOpened('default')}>
            {t(texts.makeDefault)}
          </MenuButton>
        )}
        <a class="button quiet" href={href('audit', undefined, { target: `origin:${name}` })}>
          <Icon of={ScrollText} />
          {t(texts.history)}
        </a>
        <hr />
        {!isStopped && (
          <>
            <a class="button quiet danger" href={stopAddress('origin', name)}>
              <Icon of={Clock} />
              {t(texts.stopHour)}
            </a>
            <a class="button quiet danger" href={stopAddress('origin', name, undefined)}>
              <Icon of={CircleX} />
              {t(texts.stop)}
            </a>
          </>
        )}
        <MenuButton icon={Trash2} look="danger" onClick={() => setOpened('delete')}>
          {t(texts.delete)}
        </MenuButton>
      </Menu>
      {opened === 'default' && <MakeDefaultDialog name={name} onDone={reload} onClose={close} />}
      {opened === 'delete' && <DeleteDialog found={found} onClose={close} />}
    </>
  );
}

/** The block that stops it. One that stops only some of its webhooks is on the page Blocks. */
function StoppedNote({ block }: { block: Schemas['Block'] }) {
  return (
    <section class="note bad" aria-label={t(commonTexts.statuses.blocked)}>
      <Icon of={CircleX} size={20} />
      <div>
        <h2>{t(texts.stopped)}</h2>
        <p>
          <a href={href('blocks', block.id)}>
            <bdi>{block.reason}</bdi>
          </a>{' '}
          <Who client={block.createdby} person={block.createdbyperson} />, <Time at={block.createdat} />
        </p>
      </div>
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
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
      <ProblemView problem={action.problem} shownAt={[...policyPointers, 'header/audit-reference']} />
      <Differences of={others} />
      <FormButtons
        action={action}
        submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(commonTexts.save))) : t(commonTexts.save)}
        cancel={onClose}
      />
    </Form>
  );
}

type Part = 'overview' | 'identity' | 'rules' | 'settings';

const OriginIdentity = later(
  async () => (await import('./origin-identity.js')).OriginIdentity,
  () => <Skeleton />,
);

export function OneOrigin({ id: name }: { id: string }) {
  const read = useResource(
    `origin ${name}`,
    (signal) => readOrigin(name, signal),
    ({ kind, origin }) => kind.startsWith('origin.') && origin === name,
  );
  const blocks = useBlocks();
  const block = blockOn(blocks.data?.rows, 'origin', name);
  const isGone = read.problem?.code === 'origin_not_found';
  const found = isGone ? undefined : read.data;
  const tab = route.value.query['tab'];
  useName(name);
  const parts: Record<Part, (of: Version<Origin>) => ComponentChildren> = {
    overview: ({ value }) => (isAdmin.value ? <Overview origin={value} /> : <PolicyFacts origin={value} />),
    identity: (of) => <OriginIdentity found={of} onChanged={read.put} reload={read.reload} />,
    rules: (of) => <OriginRules found={of} onChanged={read.put} />,
    settings: (of) => <EditPolicy found={of} onChanged={read.put} onClose={() => go(href('origins', name))} />,
  };
  return (
    <>
      <nav class="path" aria-label={t(commonTexts.path)}>
        <a href={href('origins')}>{t(texts.title)}</a>
      </nav>
      <div class="title">
        <h1>
          <bdi>{name}</bdi>
        </h1>
        {found !== undefined && isVerified(found.value) && <VerifiedBadge />}
        {found?.value.isdefault && <DefaultBadge />}
        {block !== undefined && <BlockedBadge />}
        <span class="grow" />
        {found !== undefined && isAdmin.value && (
          <ActionMenu found={found} isStopped={block !== undefined} reload={read.reload} />
        )}
        <a class="button" href={href('subscriptions', undefined, { origin: name })}>
          <Icon of={Webhook} />
          {t(texts.subscriptions)}
        </a>
        {found !== undefined && isAdmin.value && tab !== 'settings' && (
          <a
            class={tab === undefined && block === undefined ? 'button first' : 'button'}
            href={href('origins', name, { tab: 'settings' })}
          >
            <Icon of={Pencil} />
            {t(texts.edit)}
          </a>
        )}
        {block !== undefined && <LiftButton block={block} look="first" onLifted={blocks.reload} />}
      </div>
      {isGone ? (
        <p class="note off">{t(texts.gone)}</p>
      ) : (
        <Loaded of={read}>
          {(of) => (
            <>
              {block !== undefined && <StoppedNote block={block} />}
              <Tabs
                label={name}
                of={(Object.keys(parts) as Part[])
                  .filter((part) => isAdmin.value || part === 'overview' || part === 'identity')
                  .map((part) => ({ name: part, title: t(texts.tabs[part]) }))}
              >
                {(part) => parts[part](of)}
              </Tabs>
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

/** What happened in the last 24 hours, beside the policy. */
function Overview({ origin }: { origin: Origin }) {
  const { name } = origin;
  const totals = useTotals('origin', { name });
  const count = useSubscriptionCounts([name])?.get(name);
  const [total] = totals.data?.entries ?? [];
  const query = { origin: name };
  return (
    <div class="split">
      <section aria-labelledby="last-day">
        <h2 id="last-day">{t(texts.lastDay)}</h2>
        <ProblemView problem={totals.problem} onRetry={totals.reload} />
        <ul class="numbers">
          <li>
            <a class="card" href={href('subscriptions', undefined, query)}>
              <span>{t(texts.subscriptions)}</span>
              <b>{count === undefined ? '–' : totalText(count)}</b>
            </a>
          </li>
          {numberNames.map((each) => (
            <li key={each} class="card">
              <span>{t(numberTexts[each])}</span>
              <b>
                <NumberOf name={each} total={total} />
              </b>
            </li>
          ))}
        </ul>
      </section>
      <PolicyFacts origin={origin} />
    </div>
  );
}
