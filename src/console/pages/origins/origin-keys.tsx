import { Ban, Check, Clock, Globe, Hourglass, type IconNode, KeyRound, Plus, TriangleAlert } from 'lucide';
import { useState } from 'preact/hooks';
import { api, type Schemas } from '../../app/api.js';
import { useAction, useKey } from '../../app/live.js';
import { isAdmin } from '../../app/session.js';
import { announce, formatNumber, fromLocalTime, t, toLocalTime } from '../../app/text.js';
import { identityTexts as texts } from '../../texts/identity.js';
import { Confirm } from '../../ui/dialog.js';
import { ChoiceField, Field, missing, ReferenceField, referenceHeader, TextField } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { type Overlap, OverlapField } from '../../ui/overlap.js';
import { Table } from '../../ui/table.js';
import { Badge, CopyButton, type Look, Time } from '../../ui/value.js';

export type OriginKey = Schemas['OriginKey'];

/** A state that this version does not know is shown as it is. */
const looks: Record<string, readonly [Look, IconNode]> = {
  signing: ['good', Check],
  published: ['good', Globe],
  waiting: ['open', Clock],
  ended: ['off', Hourglass],
  revoked: ['stop', Ban],
};

function KeyState({ of: { state, readcode } }: { of: OriginKey }) {
  const [look, icon] = looks[state] ?? ['off', Clock];
  if (readcode !== undefined && state === 'published') {
    return (
      <Badge look="bad" icon={TriangleAlert}>
        {t(texts.notRead)}
      </Badge>
    );
  }
  return (
    <Badge look={look} icon={icon}>
      {texts.states[state] === undefined ? state : t(texts.states[state])}
    </Badge>
  );
}

type Opened = 'make' | 'bring' | OriginKey;

/** The keys of an origin, which verifiers find in its directory. */
export function OriginKeys({
  name,
  isOff,
  keys,
  named,
  reload,
}: {
  name: string;
  /** By the policy of the origin. */
  isOff: boolean;
  keys: readonly OriginKey[];
  /** The id of the one that the DNS record names, which proves the name. */
  named: string | undefined;
  reload: () => void;
}) {
  const [opened, setOpened] = useState<Opened>();
  const signer = keys.find(({ state }) => state === 'signing');
  const isNamed = (key: OriginKey) => key.keyid !== undefined && key.keyid === named;
  const props = { name, onDone: reload, onClose: () => setOpened(undefined) };
  return (
    <section aria-labelledby="keys">
      <div class="title">
        <h2 id="keys">{t(texts.keys)}</h2>
        <span class="grow" />
        {isAdmin.value && (
          <>
            <button type="button" onClick={() => setOpened('bring')}>
              <Icon of={KeyRound} />
              {t(texts.bring)}
            </button>
            <button type="button" class="first" onClick={() => setOpened('make')}>
              <Icon of={Plus} />
              {t(texts.make)}
            </button>
          </>
        )}
      </div>
      <p class="soft">{t(isOff ? texts.unsigned : signer === undefined ? texts.noKeys : texts.keysHint)}</p>
      {keys.length > 0 && (
        <Table
          caption={t(texts.keys)}
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { key: 'key', title: t(texts.key), cell: (key) => <KeyCell of={key} /> },
            { key: 'kind', title: t(texts.kind), width: '104px', from: 'tablet', cell: ({ kind }) => kindText(kind) },
            {
              key: 'state',
              title: t(texts.state),
              width: '122px',
              cell: (key) => <KeyState of={key} />,
            },
            {
              key: 'starts',
              title: t(texts.starts),
              width: '116px',
              from: 'desktop',
              cell: ({ startsat }) => <Time at={startsat} />,
            },
            {
              key: 'ends',
              title: t(texts.ends),
              width: '116px',
              from: 'tablet',
              cell: ({ endsat, revokedat }) => (endsat || revokedat ? <Time at={revokedat ?? endsat} /> : '–'),
            },
            ...(isAdmin.value
              ? [
                  {
                    key: 'revoke',
                    title: '',
                    width: '92px',
                    cell: (key: OriginKey) =>
                      !isOver(key) && (
                        <button
                          type="button"
                          class="quiet danger"
                          aria-label={`${t(texts.revoke)}: ${nameOf(key)}`}
                          onClick={() => setOpened(key)}
                        >
                          {t(texts.revoke)}
                        </button>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {opened === 'make' && (
        <MakeDialog
          {...props}
          signs={signer !== undefined}
          endsNamed={keys.some((key) => key.kind === 'made' && !isOver(key) && isNamed(key))}
        />
      )}
      {opened === 'bring' && <BringDialog {...props} />}
      {typeof opened === 'object' && (
        <RevokeDialog {...props} of={opened} isLast={opened.state === 'signing'} isNamed={isNamed(opened)} />
      )}
    </section>
  );
}

const isOver = ({ state }: OriginKey) => state === 'ended' || state === 'revoked';
const nameOf = ({ keyid, jwksuri, id }: OriginKey) => keyid ?? jwksuri ?? id;
const kindText = (kind: string) => (texts.kinds[kind] === undefined ? kind : t(texts.kinds[kind]));

function KeyCell({ of: key }: { of: OriginKey }) {
  const { keyid, jwksuri, keys = [], readat, readcode } = key;
  if (keyid !== undefined) {
    return (
      <span class="key">
        <code title={keyid}>{keyid.slice(0, 12)}…</code>
        <CopyButton text={keyid} label={t(texts.copyKey(keyid))} />
      </span>
    );
  }
  return (
    <span title={[jwksuri, ...keys.map((each) => each.kid)].join('\n')}>
      <bdi>{jwksuri}</bdi>{' '}
      <span class="soft">
        {t(texts.keyCount(formatNumber(keys.length), keys.length === 1))}, {t(texts.read)} <Time at={readat} />
        {readcode !== undefined && `; ${t(texts.notRead)}: ${readcode}`}
      </span>
    </span>
  );
}

interface DialogProps {
  name: string;
  onDone: () => void;
  onClose: () => void;
}

type From = keyof typeof texts.fromChoices;

/** Stands for now: a time that has passed, and the same each time the button is pressed. */
const longAgo = '2000-01-01T00:00:00Z';

/** The first key signs at once; another one when verifiers have it. */
function MakeDialog({
  name,
  onDone,
  onClose,
  signs,
  endsNamed,
}: DialogProps & {
  signs: boolean;
  /** The DNS record names a key that ends after the overlap. */
  endsNamed: boolean;
}) {
  const [from, setFrom] = useState<From>('usual');
  const [startsat, setStartsat] = useState(() => toLocalTime(new Date(Date.now() + 3_600_000).toISOString()));
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const [reference, setReference] = useState('');
  const keyOf = useKey();
  const action = useAction();
  const make = async () => {
    const at = from === 'now' ? longAgo : from === 'later' ? fromLocalTime(startsat) : undefined;
    const body = { ...(at !== undefined && { startsat: at }), ...(signs && { overlapseconds: Number(overlap) }) };
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(reference) };
    await api.POST('/origins/{name}/keys', { params: { path: { name }, header }, body });
    announce(t(texts.made));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.make)}
      sentence={t(texts.makeHint)}
      confirm={t(texts.make)}
      action={action}
      shownAt={['/startsat', '/overlapseconds', 'header/audit-reference']}
      onConfirm={make}
      onClose={onClose}
    >
      {signs && (
        <>
          <ChoiceField
            label={t(texts.from)}
            value={from}
            options={Object.keys(texts.fromChoices) as From[]}
            textOf={(each) => t(texts.fromChoices[each])}
            onChange={setFrom}
          />
          {from === 'now' && <p class="below open">{t(texts.fromHint)}</p>}
          {from === 'later' && (
            <TextField
              label={t(texts.startsAt)}
              problem={action.problem}
              pointer="/startsat"
              type="datetime-local"
              step={1}
              value={startsat}
              onInput={setStartsat}
            />
          )}
          <OverlapField
            label={t(texts.overlap)}
            problem={action.problem}
            pointer="/overlapseconds"
            value={overlap}
            onChange={setOverlap}
          />
          {endsNamed && <p class="note open">{t(texts.makeNamed)}</p>}
        </>
      )}
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}

type Bring = keyof typeof texts.bringChoices;

function BringDialog({ name, onDone, onClose }: DialogProps) {
  const [bring, setBring] = useState<Bring>('jwk');
  const [jwk, setJwk] = useState('');
  const [uri, setUri] = useState('');
  const [reference, setReference] = useState('');
  const keyOf = useKey();
  const action = useAction();
  const check = () => {
    if (bring === 'jwks') return missing({ '/jwksuri': [t(texts.jwksUri), uri] });
    const fault = (detail: string) => [{ pointer: '/publickey', rule: '', detail }];
    if (jwk.trim() === '') return missing({ '/publickey': [t(texts.jwk), jwk] });
    try {
      const typed = JSON.parse(jwk) as unknown;
      return typeof typed === 'object' && typed !== null && 'd' in typed ? fault(t(texts.isPrivate)) : [];
    } catch (error) {
      return fault(t(texts.notJson(error instanceof Error ? error.message : '')));
    }
  };
  const add = async () => {
    const body = bring === 'jwks' ? { jwksuri: uri.trim() } : { publickey: JSON.parse(jwk) as Record<string, string> };
    const header = { 'Idempotency-Key': keyOf(body), ...referenceHeader(reference) };
    await api.POST('/origins/{name}/keys', { params: { path: { name }, header }, body });
    announce(t(texts.brought));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.bring)}
      sentence={t(texts.bringHint)}
      confirm={t(texts.bring)}
      action={action}
      check={check}
      isKept={jwk !== '' || uri !== ''}
      shownAt={['/publickey', '/jwksuri', 'header/audit-reference']}
      onConfirm={add}
      onClose={onClose}
    >
      <ChoiceField
        label={t(texts.bringAs)}
        value={bring}
        options={Object.keys(texts.bringChoices) as Bring[]}
        textOf={(each) => t(texts.bringChoices[each])}
        onChange={setBring}
      />
      {bring === 'jwk' ? (
        <Field label={t(texts.jwk)} hint={t(texts.jwkHint)} problem={action.problem} pointer="/publickey">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={4}
              spellcheck={false}
              value={jwk}
              onInput={({ currentTarget }) => setJwk(currentTarget.value)}
            />
          )}
        </Field>
      ) : (
        <TextField
          label={t(texts.jwksUri)}
          hint={t(texts.jwksUriHint)}
          problem={action.problem}
          pointer="/jwksuri"
          type="url"
          placeholder="https://"
          value={uri}
          onInput={setUri}
        />
      )}
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}

function RevokeDialog({
  name,
  of: key,
  isLast,
  isNamed,
  onDone,
  onClose,
}: DialogProps & { of: OriginKey; isLast: boolean; isNamed: boolean }) {
  const [reference, setReference] = useState('');
  const action = useAction();
  const revoke = async () => {
    const params = { path: { name, id: key.id }, header: referenceHeader(reference) };
    await api.POST('/origins/{name}/keys/{id}/revoke', { params });
    announce(t(texts.revoked));
    onDone();
  };
  return (
    <Confirm
      title={t(texts.revokeTitle)}
      confirm={t(texts.revoke)}
      action={action}
      shownAt={['header/audit-reference']}
      onConfirm={revoke}
      onClose={onClose}
      isDangerous
    >
      <p>
        <code>{nameOf(key)}</code>
      </p>
      <p>{t(texts.revokeLead)}</p>
      {isLast && <p class="note open">{t(texts.revokeLast)}</p>}
      {isNamed && <p class="note open">{t(texts.revokeNamed)}</p>}
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </Confirm>
  );
}
