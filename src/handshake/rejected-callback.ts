import type { components } from '../http/contract.gen.js';
import { databaseTime, type Actor, type Transaction } from '../storage/transaction.js';
import { clip, withoutKey } from './attempt.js';
import { targetOf, type Called } from './callback-key.js';
import { quoted } from './verdicts.js';

export type RejectionReason =
  'origin_mismatch' | 'origin_repeated' | 'rate_malformed' | 'callback_expired' | 'callback_closed';

/** The latest call of a callback URL of the handshake that granted nothing, as its row keeps it. */
export interface RejectedCallback {
  /** RFC 3339. */
  at: string;
  reason: RejectionReason;
  allowedorigin?: string;
  allowedrate?: string;
  /** How many there were. */
  count: number;
}

/** The audit record keeps this many for each handshake, so that a client with a key cannot fill it. */
const mostAudited = 10;

/** Keeps what came at the handshake, which has to be locked, and in the audit record. */
export async function keepRejected(
  { sql, audit }: Transaction,
  actor: Actor,
  called: Called,
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
  if (rejected.count > mostAudited) return;
  const { message, advice } = presentRejected(called.origin, rejected);
  audit(actor, 'handshake.callback_rejected', targetOf(called), { handshake: called.id, reason, message, advice });
}

/** A header as it is kept. The caller may have written its key there. */
function shown(name: 'allowedorigin' | 'allowedrate', value: string | undefined, key: string) {
  const [line] = withoutKey(key, value === undefined ? [] : [[name, value]]).map((each) => clip(each, mostKept));
  return line === undefined ? {} : { [name]: line[1] };
}

/** Characters. A little more than a sentence shows. */
const mostKept = 250;

/** What came, why it did not count, and what to send. */
export function presentRejected(
  origin: string,
  { at, reason, allowedorigin = '', allowedrate = '', count }: RejectedCallback,
): components['schemas']['RejectedCallback'] {
  const sendOrigin = `Leave WebHook-Allowed-Origin out of the callback, or send ${quoted(origin)} or "*".`;
  const callNew = 'Ask for another handshake, and call the callback URL that it sends before that expires.';
  const sentences: Record<RejectionReason, { message: string; advice: string }> = {
    origin_mismatch: {
      message: `A callback allowed another origin, ${quoted(allowedorigin)}, so it granted nothing.`,
      advice: sendOrigin,
    },
    origin_repeated: {
      message: `A callback sent more than one WebHook-Allowed-Origin, ${quoted(allowedorigin)}, so it granted nothing.`,
      advice: sendOrigin,
    },
    rate_malformed: {
      message: `A callback sent WebHook-Allowed-Rate ${quoted(allowedrate)}, which is no rate, so it granted nothing.`,
      advice:
        'Send requests per minute as a positive integer, in digits alone, or "*"; or leave WebHook-Allowed-Rate out of ' +
        'the callback to allow the requested rate.',
    },
    callback_expired: {
      message: 'A callback came after its URL had expired, so it granted nothing.',
      advice: callNew,
    },
    callback_closed: {
      message: 'A callback came for a question that is closed, so it granted nothing.',
      advice: callNew,
    },
  };
  return { at, reason, ...sentences[reason], count };
}
