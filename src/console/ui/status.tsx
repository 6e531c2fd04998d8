import { t } from '../app/text.js';
import type { Schemas } from '../app/api.js';
import { commonTexts } from '../texts/common.js';

type Status = Schemas['SubscriptionStatus'] | Schemas['Grant']['state'];

const looks: Partial<Record<Status, string>> = {
  active: 'good',
  live: 'good',
  pending: 'open',
  suspended: 'off',
  ended: 'off',
};

/** The word, with a colour and a mark: nobody has to tell colours apart. */
export function StatusBadge({ status }: { status: Status }) {
  return <span class={`badge ${looks[status] ?? 'bad'}`}>{t(commonTexts.statuses[status])}</span>;
}
