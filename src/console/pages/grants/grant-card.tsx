import { useState } from 'preact/hooks';
import { announce, t } from '../../app/text.js';
import { api, type Schemas } from '../../app/api.js';
import { isBlock, useAction, useResource } from '../../app/live.js';
import { commonTexts } from '../../texts/common.js';
import { grantsTexts as texts } from '../../texts/grants.js';
import type { Version } from '../../app/version.js';
import { ConfirmChange } from '../../ui/dialog.js';
import { Loaded, missing, ReferenceField, referenceHeader, TextField } from '../../ui/form.js';
import type { ComponentChildren } from 'preact';
import { isAdmin } from '../../app/session.js';
import { StatusBadge, Time, Who, rateText } from '../../ui/value.js';

type Grant = Schemas['Grant'];

interface ChangeProps {
  grant: Version<Grant>;
  onClose: () => void;
  onChanged: (grant: Version<Grant>) => void;
}

async function readGrant(id: string, signal?: AbortSignal): Promise<Version<Grant>> {
  const { data, etag = '' } = await api.GET('/grants/{id}', { params: { path: { id } }, ...(signal && { signal }) });
  return { value: data, tag: etag };
}

const Pair = ({ grant: { origin, sink } }: { grant: Schemas['Grant'] }) => (
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
      <TextField
        label={t(commonTexts.reason)}
        hint={t(commonTexts.reasonHint)}
        problem={action.problem}
        pointer="/reason"
        value={reason}
        onInput={setReason}
      />
      <ReferenceField problem={action.problem} value={reference} onInput={setReference} />
    </ConfirmChange>
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

/** One grant with everything that is known of it, and what an admin can do with it. `renewal` is of its subscriptions. */
export function GrantCard({ id, renewal }: { id: string; renewal?: Schemas['StatusDetails']['renewal'] }) {
  const grant = useResource(
    `grant/${id}`,
    (signal) => readGrant(id, signal),
    (change) =>
      isBlock(change) || (change.resource !== undefined && 'id' in change.resource && change.resource.id === id),
  );
  return <Loaded of={grant}>{(found) => <Facts found={found} onChanged={grant.put} renewal={renewal} />}</Loaded>;
}

function Facts({
  found,
  onChanged,
  renewal,
}: {
  found: Version<Grant>;
  onChanged: (grant: Version<Grant>) => void;
  renewal: Schemas['StatusDetails']['renewal'];
}) {
  const [open, setOpen] = useState<'revoke' | 'release' | undefined>();
  const close = () => setOpen(undefined);
  const grant = found.value;
  const { helduntil, endcode = '', endreason } = grant;
  const why = texts.endCodes[endcode];
  const isHeld = helduntil !== undefined && Date.parse(helduntil) > Date.now();
  return (
    <>
      <dl class="facts" data-status tabIndex={-1}>
        <Fact name={t(texts.state)}>
          <StatusBadge status={grant.state} />
        </Fact>
        <Fact name={t(texts.origin)}>{grant.origin}</Fact>
        <Fact name={t(texts.sink)}>{grant.sink}</Fact>
        <Fact name={t(texts.basis)}>{t(texts.bases[grant.basis])}</Fact>
        <Fact name={t(texts.agreement)}>{grant.agreement}</Fact>
        <Fact name={t(texts.rate)}>{rateText(grant.allowedrate)}</Fact>
        <Fact name={t(texts.requestedRate)}>{rateText(grant.requestedrate)}</Fact>
        <Fact name={t(texts.allowedOrigin)}>{grant.allowedorigin}</Fact>
        <Fact name={t(texts.granted)}>
          <Time at={grant.grantedat} look="exact" />
        </Fact>
        <Fact name={t(texts.recordedBy)}>
          {grant.recordedby && <Who client={grant.recordedby} person={grant.recordedbyperson} />}
        </Fact>
        <Fact name={t(texts.expires)}>
          <Time at={grant.expiresat} look="exact" /> (<Time at={grant.expiresat} />)
        </Fact>
        {grant.state === 'live' && (
          <Fact name={t(texts.renewal)}>
            {grant.renewat === undefined ? (
              t(texts.renewsNever)
            ) : (
              <>
                {t(texts.renewsAt)} <Time at={grant.renewat} />
              </>
            )}
          </Fact>
        )}
        <Fact name={t(texts.ended)}>
          {grant.endedat && (
            <>
              <Time at={grant.endedat} look="exact" />{' '}
              {grant.endedby && (
                <>
                  {t(texts.by)} <Who client={grant.endedby} person={grant.endedbyperson} />
                </>
              )}
            </>
          )}
        </Fact>
        <Fact name={t(texts.why)}>{why === undefined ? endcode : t(why)}</Fact>
        <Fact name={t(commonTexts.reason)}>{endreason}</Fact>
        <Fact name={t(texts.tolerated)}>{(grant.tolerated ?? []).map(({ message }) => message).join(' ')}</Fact>
      </dl>
      {renewal !== undefined && (
        <div class="note">
          <p>
            <strong>{t(texts.renewalFails)}</strong>
          </p>
          <p>{renewal.message}</p>
          <p>{renewal.advice}</p>
        </div>
      )}
      {isHeld && (
        <p class="note">
          {t(texts.heldUntil)} <Time at={helduntil} look="exact" /> (<Time at={helduntil} />)
        </p>
      )}
      {isAdmin.value && (grant.state === 'live' || grant.state === 'blocked' || isHeld) && (
        <div class="actions">
          {isHeld && (
            <button type="button" onClick={() => setOpen('release')}>
              {t(texts.release)}
            </button>
          )}
          {(grant.state === 'live' || grant.state === 'blocked') && (
            <button type="button" class="danger" onClick={() => setOpen('revoke')}>
              {t(texts.revoke)}
            </button>
          )}
        </div>
      )}
      {open === 'revoke' && <RevokeGrant grant={found} onClose={close} onChanged={onChanged} />}
      {open === 'release' && <ReleaseGrant grant={found} onClose={close} onChanged={onChanged} />}
    </>
  );
}

/** Left out if there is nothing to say. */
function Fact({ name, children }: { name: string; children?: ComponentChildren }) {
  if (children === undefined || children === '') return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{typeof children === 'string' ? <bdi>{children}</bdi> : children}</dd>
    </>
  );
}
