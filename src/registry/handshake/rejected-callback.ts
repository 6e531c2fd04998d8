import { databaseTime, type Actor, type Transaction } from '../storage/transaction.js';
import { clip, withoutKey } from './attempt.js';
import { targetOf, type OfferedHandshake } from './callback-key.js';

export type RejectionReason =
  'origin_mismatch' | 'origin_repeated' | 'rate_malformed' | 'callback_expired' | 'callback_closed' | 'blocked';

/** The latest call of a callback URL that granted nothing, as the row of the handshake keeps it. */
export interface RejectedCallback {
  /** RFC 3339. */
  at: string;
  reason: RejectionReason;
  allowedorigin?: string;
  allowedrate?: string;
  /** The number of such calls. */
  count: number;
}

/** The audit log keeps this many for each handshake, so that a client with a key cannot fill it. */
const maxAudited = 10;

/** Records the call on the handshake, whose row must be locked, and in the audit log. */
export async function keepRejected(
  { sql, audit }: Transaction,
  actor: Actor,
  called: OfferedHandshake,
  sent: { key: string; allowedOrigin: string | undefined; allowedRate: string | undefined },
  reason: RejectionReason,
): Promise<void> {
  const rejected: RejectedCallback = {
    at: (await databaseTime(sql)).toISOString(),
    reason,
    ...shown('allowedorigin', sent.allowedOrigin, sent.key),
    ...shown('allowedrate', sent.allowedRate, sent.key),
    count: ((called.rejectedcallback as RejectedCallback | null)?.count ?? 0) + 1,
  };
  await sql.$executeRaw`
    update handshake set rejectedcallback = ${JSON.stringify(rejected)}::jsonb where id = ${called.id}::uuid`;
  if (rejected.count > maxAudited) return;
  const { allowedorigin, allowedrate } = rejected;
  const detail = { handshake: called.id, reason, allowedorigin, allowedrate };
  audit(actor, 'handshake.callback_rejected', targetOf(called), detail);
}

/** A header as it is kept, without the key: the caller may have written it there. */
function shown(name: 'allowedorigin' | 'allowedrate', value: string | undefined, key: string) {
  const [line] = withoutKey(key, value === undefined ? [] : [[name, value]]).map((each) => clip(each, maxKept));
  return line === undefined ? {} : { [name]: line[1] };
}

/** Characters; a little more than a message shows. */
const maxKept = 250;
