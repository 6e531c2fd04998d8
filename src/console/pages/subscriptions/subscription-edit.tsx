import { useState } from 'preact/hooks';
import { announce } from '../../app/announce.js';
import { api } from '../../app/api.js';
import { useAction } from '../../app/resource.js';
import { t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { subscriptionTexts as texts } from '../../texts/subscription.js';
import { ProblemView } from '../../ui/problem.js';
import { changedMembers, draftOf, patchOf, type Draft } from './subscription-draft.js';
import { isShownAtField, SubscriptionFields } from './subscription-fields.js';
import { useSubscriptionForm } from './subscription-form.js';
import type { SubscriptionDetails } from './use-subscription.js';

/**
 * The form that changes a subscription. It keeps the version that it was opened with. If another user changed it
 * meanwhile, the registry refuses; then the form can read what is stored and put the user's changes on top.
 */
export function EditSubscription({ read, onDone }: { read: SubscriptionDetails; onDone: () => void }) {
  const { id } = read.subscription;
  const [base, setBase] = useState(() => ({ draft: draftOf(read.subscription), etag: read.etag }));
  const [storedNow, setStoredNow] = useState<Partial<Draft>>();
  const action = useAction();
  const form = useSubscriptionForm(base.draft, action.problem);
  const { draft, isReady } = form;
  const isChanged = changedMembers(base.draft, draft).length > 0;

  const save = async () => {
    const init = {
      params: { path: { id }, header: { 'If-Match': base.etag, Prefer: 'respond-async' } },
      body: patchOf(base.draft, draft),
    };
    await api.PATCH('/subscriptions/{id}', init);
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!(await action.run(save))) return;
    announce(t(texts.saved));
    onDone();
  };
  const merge = async () => {
    const { data, etag = '' } = await api.GET('/subscriptions/{id}', { params: { path: { id } } });
    const stored = draftOf(data);
    const mine = changedMembers(base.draft, draft);
    const both = mine.filter((member) => stored[member] !== base.draft[member] && stored[member] !== draft[member]);
    form.setDraft({ ...stored, ...Object.fromEntries(mine.map((member) => [member, draft[member]])) });
    setStoredNow(Object.fromEntries(both.map((member) => [member, stored[member]])));
    setBase({ draft: stored, etag });
  };
  const { problem } = action;
  const shownAt = (problem?.faults ?? []).map(({ pointer }) => pointer).filter(isShownAtField);
  return (
    <section aria-labelledby="edit">
      <h2 id="edit">{t(texts.edit)}</h2>
      <form onSubmit={(event) => void submit(event)} noValidate>
        {storedNow !== undefined && <p role="alert">{t(texts.reloaded)}</p>}
        <SubscriptionFields {...form} storedNow={storedNow ?? {}} />
        <ProblemView problem={problem} shownAt={shownAt} />
        {problem?.code === 'precondition_failed' && (
          <button type="button" onClick={() => void action.run(merge)}>
            {t(texts.reload)}
          </button>
        )}
        {!isChanged && <p class="soft">{t(texts.unchanged)}</p>}
        <div class="actions">
          <button type="submit" class="first" disabled={!isReady || !isChanged || action.isBusy}>
            {t(action.isBusy ? commonTexts.busy : commonTexts.save)}
          </button>
          <button type="button" onClick={onDone}>
            {t(commonTexts.cancel)}
          </button>
        </div>
      </form>
    </section>
  );
}
