import { Download, Pause, RefreshCw } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, newKey, type Schemas } from '../../app/api.js';
import { saveFile } from '../../app/file.js';
import { useAction } from '../../app/live.js';
import { announce, formatNumber, t } from '../../app/text.js';
import { commonTexts } from '../../texts/common.js';
import { subscriptionPageTexts, subscriptionsTexts as texts } from '../../texts/subscriptions.js';
import { Confirm } from '../../ui/dialog.js';
import { missing, ProblemView, ReasonField } from '../../ui/form.js';
import { Icon } from '../../ui/icon.js';

type Row = Schemas['Subscription'];

/** What can be done with several at once. Each is a request of its own; it stops at the first that fails. */
export function BulkActions({ rows, onDone }: { rows: readonly Row[]; onDone: () => void }) {
  const action = useAction();
  const [reason, setReason] = useState<string>();
  const count = formatNumber(rows.length);
  const each = (work: (id: string) => Promise<unknown>) => async () => {
    for (const { id } of rows) await work(id);
    announce(t(texts.doneFor(count)));
    onDone();
  };
  const ask = each((id) =>
    api.POST('/subscriptions/{id}/handshakes', {
      params: { path: { id }, header: { 'Idempotency-Key': newKey(), Prefer: 'respond-async' } },
    }),
  );
  const suspend = each((id) =>
    api.POST('/subscriptions/{id}/suspend', { params: { path: { id } }, body: { reason: reason?.trim() ?? '' } }),
  );
  return (
    <div class="bulk" role="region" aria-label={t(subscriptionPageTexts.actions)}>
      <b>{t(commonTexts.chosen(count))}</b>
      <button type="button" disabled={action.isBusy} onClick={() => void action.run(ask)}>
        <Icon of={RefreshCw} />
        {t(subscriptionPageTexts.ask)}
      </button>
      <button type="button" onClick={() => setReason('')}>
        <Icon of={Pause} />
        {t(subscriptionPageTexts.suspend)}
      </button>
      <button type="button" class="quiet" onClick={onDone}>
        {t(commonTexts.cancel)}
      </button>
      {reason === undefined && <ProblemView problem={action.problem} />}
      {reason !== undefined && (
        <Confirm
          title={t(texts.suspendChosen(count))}
          confirm={t(subscriptionPageTexts.suspend)}
          action={action}
          check={() => missing({ '/reason': [t(commonTexts.reason), reason] })}
          shownAt={['/reason']}
          onConfirm={suspend}
          onClose={() => setReason(undefined)}
        >
          <p>{t(subscriptionPageTexts.suspendHint)}</p>
          <ReasonField problem={action.problem} value={reason} onInput={setReason} />
        </Confirm>
      )}
    </div>
  );
}

/** All that match, as the registry writes them. A link could not send the token. */
export function ExportButton({ query }: { query: Readonly<Record<string, string>> }) {
  const action = useAction();
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const save = async () => {
    const headers = { Accept: 'text/csv' };
    const { signal } = stop.current;
    const { data } = await api.GET('/subscriptions', { params: { query }, headers, parseAs: 'blob', signal });
    saveFile(data, 'subscriptions.csv');
  };
  return (
    <>
      <button
        type="button"
        onClick={() =>
          void action.run(save).catch((error: Error) => stop.current.signal.aborted || Promise.reject(error))
        }
        disabled={action.isBusy}
      >
        <Icon of={Download} />
        {t(action.isBusy ? commonTexts.busy : commonTexts.export)}
      </button>
      <ProblemView problem={action.problem} isRead />
    </>
  );
}
