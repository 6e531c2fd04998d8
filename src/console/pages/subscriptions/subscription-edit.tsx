import { useLayoutEffect, useState } from 'preact/hooks';
import { api } from '../../app/api.js';
import { dropDraft, useDraft } from '../../app/draft.js';
import { useAction } from '../../app/live.js';
import { announce, t } from '../../app/text.js';
import { useVersion } from '../../app/version.js';
import { commonTexts } from '../../texts/common.js';
import { signingSecretTexts } from '../../texts/signing-secrets.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Form, FormButtons, ProblemView } from '../../ui/form.js';
import { Time } from '../../ui/value.js';
import { ChangeSigningSecret } from './change-signing-secret.js';
import { SecretFacts } from './secret-facts.js';
import { RotateCredential } from './subscription-actions.js';
import { draftChanges, type DraftMember, draftOf, patchOf, type SubscriptionDraft } from './subscription-draft.js';
import { isShownAtField, SubscriptionFields, useSubscriptionForm } from './subscription-fields.js';
import { Notices } from './subscription-notices.js';
import { TryEvent } from './try-event.js';
import { type follow, readSubscription, type SubscriptionDetails } from './use-subscription.js';

interface KeptEdit {
  mine: Partial<SubscriptionDraft>;
  /** What was stored then. */
  before: Partial<SubscriptionDraft>;
}

const nothingKept: KeptEdit = { mine: {}, before: {} };

/**
 * The form that changes a subscription. It follows what is stored, but for members that the user changed, too: then the
 * registry refuses, and the form shows both values.
 */
export function EditSubscription({
  read,
  onChanged,
}: {
  read: SubscriptionDetails;
  onChanged: (answer: Parameters<typeof follow>[1]) => void;
}) {
  const { id, sinkcredential, signingsecret } = read.subscription;
  const name = `edit ${id}`;
  const [before, setBefore] = useState(() => draftOf(read.subscription));
  const action = useAction();
  const [kept, keep] = useDraft<KeptEdit>(name, nothingKept);
  const [draft, setDraft] = useState({ ...before, ...kept.mine });
  const [isOpen, setIsOpen] = useState<'credential' | 'secret'>();
  const close = () => setIsOpen(undefined);
  // What was changed while the form was away.
  const [storedNow, setStoredNow] = useState<Partial<SubscriptionDraft>>(() => {
    const changed = (Object.keys(kept.before) as DraftMember[]).filter(
      (member) => kept.before[member] !== before[member],
    );
    return Object.fromEntries(changed.map((member) => [member, before[member]]));
  });
  const form = useSubscriptionForm([draft, setDraft], action.problem, false);
  const mine = draftChanges(before, draft);
  // An effect would not run if the user leaves the page before it is painted.
  useLayoutEffect(() => {
    const of = (from: SubscriptionDraft) => Object.fromEntries(mine.map((member) => [member, from[member]]));
    if (mine.length > 0) keep({ mine: of(draft), before: of(before) });
    else dropDraft(name);
  }, [draft, before]);
  const both = (now: SubscriptionDraft) =>
    mine.filter((member) => now[member] !== before[member] && now[member] !== draft[member]);

  const version = useVersion(
    { tag: read.tag, value: read.subscription },
    () => readSubscription(id),
    (_, subscription) => {
      const now = draftOf(subscription);
      setDraft({ ...now, ...Object.fromEntries(mine.map((member) => [member, draft[member]])) });
      setStoredNow(Object.fromEntries(both(now).map((member) => [member, now[member]])));
      setBefore(now);
    },
    (_, subscription) => both(draftOf(subscription)).length === 0,
  );
  const save = () =>
    version.change(async (tag) => {
      const header = { 'If-Match': tag, Prefer: 'respond-async' };
      onChanged(
        await api.PATCH('/subscriptions/{id}', { params: { path: { id }, header }, body: patchOf(before, draft) }),
      );
      announce(t(texts.saved));
    });
  const discard = () => {
    setDraft(before);
    setStoredNow({});
    action.clear();
  };
  const { problem } = action;
  const shownAt = (problem?.faults ?? []).map(({ pointer }) => pointer).filter(isShownAtField);
  return (
    <>
      <Form
        look="wide"
        action={action}
        check={form.check}
        isKept
        onSubmit={async () => (mine.length === 0 ? announce(t(texts.unchanged)) : save())}
      >
        <div>
          <ProblemView problem={problem} shownAt={shownAt} />
          <SubscriptionFields
            form={form}
            storedNow={storedNow}
            credential={
              <>
                <div class="field">
                  <b>{t(texts.credential)}</b>
                  <p class="present">
                    {sinkcredential === undefined ? (
                      <span class="soft">{t(texts.noCredential)}</span>
                    ) : (
                      <span>
                        {sinkcredential.credentialtype} · <Time at={sinkcredential.setat} />
                      </span>
                    )}
                    <button type="button" class="quiet" onClick={() => setIsOpen('credential')}>
                      {t(texts.rotate)}
                    </button>
                  </p>
                </div>
                <div class="field">
                  <b>{t(signingSecretTexts.name)}</b>
                  <p class="present">
                    {signingsecret === undefined ? (
                      <span class="soft">{t(signingSecretTexts.none)}</span>
                    ) : (
                      <SecretFacts of={signingsecret} look="relative" />
                    )}
                    <button type="button" class="quiet" onClick={() => setIsOpen('secret')}>
                      {t(signingSecretTexts.change)}
                    </button>
                  </p>
                </div>
              </>
            }
          />
          <FormButtons
            action={action}
            submit={version.isOvertaken ? t(commonTexts.problems.usePresent(t(commonTexts.save))) : t(commonTexts.save)}
            cancel={discard}
          />
        </div>
        <aside>
          <TryEvent of={form.tried} wanted={form.wanted} conditions={form.conditions} />
        </aside>
      </Form>
      <Notices of={read.subscription} />
      {isOpen === 'credential' && <RotateCredential read={read} onClose={close} onChanged={onChanged} />}
      {isOpen === 'secret' && <ChangeSigningSecret read={read} onClose={close} onChanged={onChanged} />}
    </>
  );
}
