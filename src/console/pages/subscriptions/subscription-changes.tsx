import { api } from '../../app/api.js';
import { useResource } from '../../app/live.js';
import { t } from '../../app/text.js';
import { subscriptionPageTexts as texts } from '../../texts/subscriptions.js';
import { Loaded } from '../../ui/form.js';
import { AuditEntries } from '../audit/audit-entries.js';

/** What the audit record has about a subscription or a grant (`subscription:ID`), newest first. */
export function ChangesOf({ target }: { target: string }) {
  const entries = useResource(
    `changes ${target}`,
    async (signal) => (await api.GET('/audit', { params: { query: { target, limit: 100 } }, signal })).data,
    ({ subscription, resource }) =>
      target.endsWith(`:${subscription}`) ||
      (resource !== undefined && 'id' in resource && target.endsWith(`:${resource.id}`)),
  );
  return (
    <section aria-labelledby="changes">
      <h2 id="changes" class="unseen">
        {t(texts.tabs.changes)}
      </h2>
      <Loaded of={entries}>{(found) => <AuditEntries caption={t(texts.tabs.changes)} entries={found} />}</Loaded>
    </section>
  );
}
