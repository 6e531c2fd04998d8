import type { Origin, OriginPolicy } from '../../consent/origin.js';
import { formatRate, storedRate } from '../../consent/rate.js';
import { storedMembers, trusted } from '../storage/columns.js';
import type { origin as OriginRow } from '../storage/generated/client.js';

export const policyMembers = storedMembers<OriginPolicy, OriginRow>()({
  description: { column: 'description' },
  isDefault: { column: 'isdefault' },
  requestedRate: { column: 'requestedrate' },
  defaultRate: { column: 'defaultrate', read: storedRate, write: formatRate },
  burst: { column: 'burst' },
  judgement: { column: 'judgement', read: trusted },
  callback: { column: 'callback', read: trusted },
  signatures: { column: 'signatures', read: trusted },
  unsupportedRate: { column: 'unsupportedrate' },
  grantSeconds: { column: 'grantseconds' },
  profile: { column: 'profile', read: trusted },
  goneAfter: { column: 'goneafter' },
  notices: { column: 'notices' },
  subscriptionRules: { column: 'subscriptionrules', read: trusted },
});

export function originOf(row: OriginRow): Origin {
  const { name, tenant, directory, version, createdat: createdAt, updatedat: updatedAt } = row;
  const verifiedBy = trusted<Origin['verifiedBy']>(row.verifiedby);
  return { name, tenant, ...policyMembers.read(row), directory, verifiedBy, version, createdAt, updatedAt };
}
