import { Info, RefreshCw, ShieldCheck, TriangleAlert } from 'lucide';
import { api, type Schemas } from '../../app/api.js';
import { useAction } from '../../app/live.js';
import { isAdmin } from '../../app/session.js';
import { announce, t } from '../../app/text.js';
import type { Version } from '../../app/version.js';
import { identityTexts as texts } from '../../texts/identity.js';
import { ProblemView } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';
import { Copyable, Time } from '../../ui/value.js';

type Origin = Schemas['Origin'];

const looks = {
  verified: ['good', ShieldCheck],
  failing: ['open', TriangleAlert],
  unverified: ['off', Info],
} as const;

/** Whether the name is proven, how, and what to publish for that. */
export function OriginProof({
  found: { value: origin },
  onChanged,
}: {
  found: Version<Origin>;
  onChanged: (origin: Version<Origin>) => void;
}) {
  const action = useAction();
  const { name, signatures, verification, mustverify = false } = origin;
  const { by = '', verifiedat, checkedat, detail } = verification;
  const state = verification.state in looks ? verification.state : 'unverified';
  const [usual, icon] = looks[state];
  const look = state === 'unverified' && mustverify ? 'open' : usual;
  const finding = state === 'verified' ? undefined : detail;
  const check = async () => {
    const { data, etag = '' } = await api.POST('/origins/{name}/verify', { params: { path: { name } } });
    onChanged({ value: data, tag: etag });
    announce(t(data.verification.state === 'verified' ? texts.isVerified : texts.isNotVerified));
  };
  const title = {
    verified: texts.by[by] ?? texts.verified,
    failing: texts.failing,
    unverified: texts.notVerified,
  }[state];
  return (
    <section class={`note ${look}`} aria-label={t(texts.proof)}>
      <Icon of={icon} size={20} />
      <div>
        <h2>{t(title)}</h2>
        {verifiedat !== undefined && (
          <p>
            {t(texts.since)} <Time at={verifiedat} look="exact" />.{' '}
            {finding === undefined && checkedat !== undefined && (
              <>
                {t(texts.lastCheck)}: <Time at={checkedat} />.
              </>
            )}
          </p>
        )}
        {state === 'failing' && <p>{t(texts.failingHint)}</p>}
        {state === 'unverified' && <p>{t(texts.notVerifiedHint)}</p>}
        {state === 'unverified' && mustverify && <p>{t(texts.mustVerify)}</p>}
        {finding !== undefined && (
          <p>
            {t(texts.lastCheck)}, <Time at={checkedat} />: <bdi>{finding}</bdi>
          </p>
        )}
        {isAdmin.value && (
          <>
            {state === 'unverified' && <p>{t(texts.doOne)}</p>}
            <details open={state !== 'verified'}>
              <summary>{t(texts.how)}</summary>
              <HowTo of={verification} name={name} isOff={signatures === 'off'} />
            </details>
            <ProblemView problem={action.problem} isRead />
            <div class="actions">
              <button type="button" disabled={action.isBusy} onClick={() => void action.run(check)}>
                <Icon of={RefreshCw} />
                {t(action.isBusy ? texts.checking : texts.check)}
              </button>
            </div>
          </>
        )}
      </div>
    </section>
  );
}

/** What to publish: one of two. There is no directory document if the policy turns signatures off. */
function HowTo({
  of: { record, directory },
  name,
  isOff,
}: {
  of: Origin['verification'];
  name: string;
  isOff: boolean;
}) {
  const value = record?.match(/"(.*)"/)?.[1];
  return (
    <div class="ways">
      <div>
        <h3>{t(texts.asDns)}</h3>
        {value === undefined ? (
          <p>{t(texts.needsKey)}</p>
        ) : (
          <>
            <Copyable text={`_assent.${name}`} label={t(texts.recordName)} />
            <Copyable text={value} label={t(texts.recordValue)} />
          </>
        )}
      </div>
      <div>
        <h3>{t(texts.asDirectory)}</h3>
        <p>{t(isOff ? texts.proofOff : texts.proofUrl)}</p>
        {!isOff && <Copyable text={directory} label={t(texts.directoryUrl)} />}
      </div>
    </div>
  );
}
