import type { Origin, OriginPolicy, OriginProof } from '../../consent/origin.js';
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

export const proofMembers = storedMembers<OriginProof, OriginRow>()({
  mustVerify: { column: 'mustverify' },
  verifiedBy: { column: 'verifiedby', read: trusted },
  verifiedKey: { column: 'verifiedkey' },
  verifiedAt: { column: 'verifiedat' },
  provedAt: { column: 'provedat' },
  servesKeys: { column: 'serveskeys' },
  checkedAt: { column: 'checkedat' },
  findings: { column: 'checkresult', read: trusted },
  refusals: { column: 'checkrefusals' },
});

export function originOf(row: OriginRow): Origin {
  const { name, tenant, directory, version, createdat: createdAt, updatedat: updatedAt } = row;
  return {
    name,
    tenant,
    ...policyMembers.read(row),
    ...proofMembers.read(row),
    directory,
    version,
    createdAt,
    updatedAt,
  };
}
