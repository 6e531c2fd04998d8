import { ChevronRight, CircleCheck, CircleX, Ellipsis, FileSignature, KeyRound, Pause, Play, Trash2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, type LoadedResource, useAction, useResource } from '../../app/live.js';
import { missingScopes } from '../../app/places.js';
import { href } from '../../app/route.js';
import { isAdmin } from '../../app/session.js';
import { announce, capital, formatNumber, t } from '../../app/text.js';
import type { Version } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import { ConfirmChange, Dialog } from '../../ui/dialog.js';
import { Loaded, missing, ReasonField, ReferenceField, referenceHeader } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Menu, MenuButton } from '../../ui/menu.js';
import { Table } from '../../ui/table.js';
import { Tabs } from '../../ui/tabs.js';
import { Copyable, FactsCard, type Look, lookOf, rateText, Sink, StatusBadge, Time, Who } from '../../ui/value.js';
import { isHeld, readGrant } from './read-grant.js';
import { ChangesOf } from '../subscriptions/subscription-changes.js';
import { Attempts, Deliveries } from '../subscriptions/subscription-timeline.js';

type Grant = Schemas['Grant'];

/** A grant with what is known of its origin and sink. Only admins get the handshakes and the subscriptions. */
interface GrantDetails {
  grant: Version<Grant>;
  permission: Schemas['Permission'];
  handshakes: ReadonlyArray<Schemas['Handshake']>;
  subscriptions: ReadonlyArray<Schemas['Subscription']>;
  /** Of the subscriptions. */
  total: number;
}

const maxHandshakes = 3;
const maxSubscriptions = 20;

async function readDetails(id: string, signal: AbortSignal): Promise<GrantDetails> {
  const grant = await readGrant(id, signal);
  const pair = { origin: grant.value.origin, sink: grant.value.sink };
  const query = { ...pair, limit: maxSubscriptions, count: true };
  const [permission, handshakes, subscriptions] = await Promise.all([
    api.GET('/permissions', { params: { query: pair }, signal }),
    isAdmin.value && api.GET('/handshakes', { params: { query: { ...pair, limit: maxHandshakes } }, signal }),
    isAdmin.value && api.GET('/subscriptions', { params: { query }, signal }),
  ]);
  return {
    grant,
    permission: permission.data,
    handshakes: handshakes ? handshakes.data : [],
    subscriptions: subscriptions ? subscriptions.data : [],
    total: subscriptions ? Number(subscriptions.headers.get('X-Total-Count')) : 0,
  };
}

/** One grant: whether the origin may send now, how that came about, who depends on it, and what an admin can do. */
export function OneGrant({ id }: { id: string }) {
  const resource: LoadedResource<GrantDetails> = useResource(
    `grant/${id}`,
    (signal) => readDetails(id, signal),
    (change) => {
      const { origin, sink } = resource.data?.grant.value ?? {};
      return isBlock(change) || (change.origin === origin && (change.sink === undefined || change.sink === sink));
    },
  );
  const { data } = resource;
  const present = data?.grant.value;
  return (
    <>
      <nav class="path" aria-label={t(commonTexts.path)}>
        <a href={href('grants')}>{t(commonTexts.menu.grants)}</a>
        <Icon of={ChevronRight} size={14} />
        <bdi>{present?.origin}</bdi>
      </nav>
      {data === undefined || present === undefined ? (
        <h1>{t(texts.grant)}</h1>
      ) : (
        <div class="title">
          <h1>
            <bdi>{present.origin}</bdi> → <Sink sink={present.sink} />
          </h1>
          <StatusBadge status={present.state} />
          <span class="grow" />
          <Actions grant={data.grant} onChanged={(grant) => resource.put({ ...data, grant })} />
        </div>
      )}
      <Loaded of={resource}>
        {(read) => (
          <>
            <Now read={read} />
            <Tabs label={t(texts.grant)} of={tabs()}>
              {(name) => parts[name](read)}
            </Tabs>
          </>
        )}
      </Loaded>
    </>
  );
}

type Part = 'overview' | 'deliveries' | 'changes';

const parts: Record<Part, (read: GrantDetails) => ComponentChildren> = {
  overview: (read) => <Overview read={read} />,
  deliveries: ({ grant: { value }, subscriptions: [first] }) =>
    first === undefined ? (
      <p>{t(texts.noSubscriptions)}</p>
    ) : (
      <Deliveries id={first.id} origin={value.origin} sink={value.sink} />
    ),
  changes: ({ grant: { value } }) => <ChangesOf target={`grant:${value.id}`} />,
};

function tabs() {
  const open: Part[] = ['overview'];
  if (isAdmin.value) open.push('deliveries');
  if (missingScopes('audit').length === 0) open.push('changes');
  return open.map((name) => ({ name, title: t(texts.tabs[name]) }));
}

const icons = { good: CircleCheck, open: Pause, bad: CircleX, stop: CircleX, off: Pause };

/** Whether the origin may send to the sink now, and what happens next. */
function Now({ read: { grant, permission, subscriptions } }: { read: GrantDetails }) {
  const { state, allowedrate, expiresat, renewat, helduntil } = grant.value;
  const { allowed, denial = '', message } = permission;
  const held = isHeld(helduntil);
  const look: Look = allowed ? 'good' : denial === 'held' ? 'open' : state === 'live' ? 'off' : lookOf(state);
  const renewal = subscriptions.find(({ statusdetails }) => statusdetails.renewal)?.statusdetails.renewal;
  const right = allowedrate === '*' ? t(texts.allowedFreely) : t(texts.allowed(rateText(allowedrate)));
  const denied = texts.denials[denial] === undefined ? message : t(texts.denials[denial]);
  return (
    <section class={`note ${look}`} data-status tabIndex={-1} aria-label={t(texts.state)} aria-live="polite">
      <Icon of={icons[look]} size={20} />
      <div>
        <h2>{allowed ? right : denied}</h2>
        {held && (
          <p>
            {t(texts.heldUntil)} <Time at={helduntil} look="exact" /> (<Time at={helduntil} />)
          </p>
        )}
        {state === 'live' && (
          <p>
            {t(texts.expiresAt)} <Time at={expiresat} />.{' '}
            {renewat === undefined ? (
              t(texts.renewsNever)
            ) : (
              <>
                {t(texts.renewsAt)} <Time at={renewat} />.
              </>
            )}
          </p>
        )}
        {renewal !== undefined && (
          <p>
            <strong>{t(texts.renewalFails)}</strong> <bdi>{renewal.message}</bdi> <bdi>{renewal.advice}</bdi>
          </p>
        )}
      </div>
    </section>
  );
}

function Overview({ read: { grant, handshakes, subscriptions, total } }: { read: GrantDetails }) {
  const { origin, sink } = grant.value;
  return (
    <div class="split">
      <div>
        <section aria-labelledby="happened">
          <h2 id="happened">{t(texts.happened)}</h2>
          <ol class="timeline">{historyOf(grant.value, handshakes)}</ol>
        </section>
        {isAdmin.value && (
          <section aria-labelledby="used">
            <h2 id="used">
              {total === 0 ? t(texts.noSubscriptions) : t(texts.usedBy(formatNumber(total), total === 1))}
            </h2>
            {total > 0 && (
              <Table
                caption={t(texts.subscriptions)}
                rows={subscriptions}
                keyOf={({ id }) => id}
                columns={[
                  {
                    key: 'state',
                    title: t(texts.state),
                    width: '122px',
                    cell: ({ status }) => <StatusBadge status={status} />,
                  },
                  {
                    key: 'subscriber',
                    title: t(texts.subscriber),
                    cell: ({ id, subscriber }) => (
                      <a class="plain" href={href('subscriptions', id)}>
                        <bdi>
                          <b>{subscriber}</b>
                        </bdi>
                      </a>
                    ),
                  },
                  {
                    key: 'types',
                    title: t(texts.types),
                    width: '50%',
                    from: 'tablet',
                    cell: ({ types = [] }) => <bdi title={types.join(', ')}>{types.join(', ')}</bdi>,
                  },
                ]}
              />
            )}
            {total > subscriptions.length && (
              <p class="foot">
                <a href={href('subscriptions', undefined, { origin, sinkcontains: sink })}>
                  {t(texts.allSubscriptions)}
                </a>
              </p>
            )}
          </section>
        )}
      </div>
      <FactsCard title={t(texts.facts)} facts={factsOf(grant.value)} />
    </div>
  );
}

/** The latest first. */
function historyOf(grant: Grant, handshakes: GrantDetails['handshakes']): ComponentChildren {
  const { state, basis, agreement, grantedat, recordedby, recordedbyperson, handshake } = grant;
  const { endedat, endedby, endedbyperson, endcode = '', endreason } = grant;
  const item = (look: Look, word: string, at: string, by: ComponentChildren) => (
    <li key={word} class={look}>
      <div class="line-of">
        <b>{word}</b>
        <span class="soft">{by}</span>
        <Time at={at} />
      </div>
    </li>
  );
  const items = handshakes.map((each, place) => ({
    at: each.createdat,
    shown: <Attempts key={each.id} handshake={each} isOpen={place === 0 && endedat === undefined} />,
  }));
  if (endedat !== undefined) {
    const by = endedby && <Who client={endedby} person={endedbyperson} />;
    const why = texts.endCodes[endcode] === undefined ? endcode : t(texts.endCodes[endcode]);
    const shown = item(
      lookOf(state),
      capital(t(commonTexts.statuses[state])),
      endedat,
      <>
        {why} {by && <>· {by}</>}{' '}
        {endreason && (
          <>
            · <bdi>{endreason}</bdi>
          </>
        )}
      </>,
    );
    items.push({ at: endedat, shown });
  }
  if (handshakes.every(({ id }) => id !== handshake)) {
    const shown = item(
      'good',
      t(texts.granted),
      grantedat,
      <>
        {t(texts.bases[basis])} <bdi>{agreement}</bdi>{' '}
        {recordedby && (
          <>
            · <Who client={recordedby} person={recordedbyperson} />
          </>
        )}
      </>,
    );
    items.push({ at: grantedat, shown });
  }
  return items.sort((one, other) => Date.parse(other.at) - Date.parse(one.at)).map(({ shown }) => shown);
}

function factsOf(grant: Grant): Array<[string, ComponentChildren]> {
  const { tolerated = [], recordedby, helduntil, agreement, allowedorigin } = grant;
  return [
    [t(texts.sink), <bdi>{grant.sink}</bdi>],
    [t(texts.allowedRate), rateText(grant.allowedrate)],
    [t(texts.requestedRate), grant.requestedrate && rateText(grant.requestedrate)],
    [t(texts.basis), t(texts.bases[grant.basis])],
    [t(texts.agreement), agreement && <bdi>{agreement}</bdi>],
    [t(texts.allowedOrigin), allowedorigin && <bdi>{allowedorigin}</bdi>],
    [t(texts.granted), <Time at={grant.grantedat} look="exact" />],
    [t(texts.recordedBy), recordedby && <Who client={recordedby} person={grant.recordedbyperson} />],
    [t(texts.expires), <Time at={grant.expiresat} look="exact" />],
    [t(texts.hold), isHeld(helduntil) ? <Time at={helduntil} look="exact" /> : undefined],
    [t(texts.tolerated), tolerated.length === 0 ? undefined : tolerated.map(({ message }) => message).join(' ')],
    [t(texts.id), <code>{grant.id}</code>],
  ];
}

interface ChangeProps {
  grant: Version<Grant>;
  onClose: () => void;
  onChanged: (grant: Version<Grant>) => void;
}

/** One action that comes next, and what ends the grant in a menu. */
function Actions({ grant, onChanged }: Omit<ChangeProps, 'onClose'>) {
  const [open, setOpen] = useState<'revoke' | 'release' | 'token' | undefined>();
  const { origin, sink, state, helduntil, allowedrate } = grant.value;
  const held = isHeld(helduntil);
  // The registry signs no other one.
  const isStanding = state === 'live' && !held;
  const isRevocable = isAdmin.value && (state === 'live' || state === 'blocked');
  const props = { grant, onChanged, onClose: () => setOpen(undefined) };
  return (
    <>
      {(isStanding || isRevocable) && (
        <Menu look="quiet" label={t(texts.actions)} button={<Icon of={Ellipsis} size={18} />}>
          {isStanding && (
            <MenuButton icon={KeyRound} onClick={() => setOpen('token')}>
              {t(texts.token)}
            </MenuButton>
          )}
          {isRevocable && (
            <MenuButton icon={Trash2} look="danger" onClick={() => setOpen('revoke')}>
              {t(texts.revoke)}
            </MenuButton>
          )}
        </Menu>
      )}
      {isAdmin.value && (
        <a
          class={state === 'live' ? 'button' : 'button first'}
          href={href('new-grant', undefined, { origin, sink, rate: String(allowedrate), grant: grant.value.id })}
        >
          <Icon of={FileSignature} />
          {t(texts.agree)}
        </a>
      )}
      {isAdmin.value && held && (
        <button type="button" class="first" onClick={() => setOpen('release')}>
          <Icon of={Play} />
          {t(texts.release)}
        </button>
      )}
      {open === 'revoke' && <RevokeGrant {...props} />}
      {open === 'release' && <ReleaseGrant {...props} />}
      {open === 'token' && <GrantToken id={grant.value.id} onClose={props.onClose} />}
    </>
  );
}

const Pair = ({ grant: { origin, sink } }: { grant: Grant }) => (
  <p>
    <bdi>{origin}</bdi> → <bdi>{sink}</bdi>
  </p>
);

function RevokeGrant({ grant, onClose, onChanged }: ChangeProps) {
  const { id } = grant.value;
  const [reason, setReason] = useState('');
  const [reference, setReference] = useState('');
  const action = useAction();
  const revoke = async (tag: string) => {
    const params = { path: { id }, header: { 'If-Match': tag, ...referenceHeader(reference) } };
    const { data, etag = '' } = await api.POST('/grants/{id}/revoke', { params, body: { reason } });
    onChanged({ value: data, tag: etag });
    announce(t(texts.revoked));
  };
  return (
    <ConfirmChange
      of={grant}
      read={() => readGrant(id)}
      title={t(texts.revokeTitle)}
      confirm={t(texts.revoke)}
      action={action}
      check={() => missing({ '/reason': [t(commonTexts.reason), reason] })}
      onConfirm={revoke}
      onClose={onClose}
      shownAt={['/reason', 'header/audit-reference']}
      isDangerous
    >
      <Pair grant={grant.value} />
      <p>{t(texts.revokeLead)}</p>
      <ReasonField problem={action.problem} value={reason} onInput={setReason} />
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </ConfirmChange>
  );
}

/** The grant as a token that others can check without the registry. */
function GrantToken({ id, onClose }: { id: string; onClose: () => void }) {
  const token = useResource(`token ${id}`, async (signal) => {
    const accept = { headers: { Accept: 'application/jwt' }, parseAs: 'text' } as const;
    const { data } = await api.GET('/grants/{id}', { params: { path: { id } }, ...accept, signal });
    return data;
  });
  return (
    <Dialog title={t(texts.tokenTitle)} onClose={onClose}>
      <p class="soft">{t(texts.tokenLead)}</p>
      <Loaded of={token}>{(text) => <Copyable text={text} label={t(texts.tokenTitle)} />}</Loaded>
      <div class="actions">
        <button type="button" onClick={onClose}>
          {t(texts.close)}
        </button>
      </div>
    </Dialog>
  );
}

function ReleaseGrant({ grant, onClose, onChanged }: ChangeProps) {
  const { id } = grant.value;
  const action = useAction();
  const release = async (tag: string) => {
    const params = { path: { id }, header: { 'If-Match': tag } };
    const { data, etag = '' } = await api.POST('/grants/{id}/release', { params });
    onChanged({ value: data, tag: etag });
    announce(t(texts.released));
  };
  return (
    <ConfirmChange
      of={grant}
      read={() => readGrant(id)}
      title={t(texts.release)}
      confirm={t(texts.release)}
      action={action}
      onConfirm={release}
      onClose={onClose}
    >
      <Pair grant={grant.value} />
      <p>{t(texts.releaseLead)}</p>
    </ConfirmChange>
  );
}
