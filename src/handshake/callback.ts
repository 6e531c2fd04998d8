import { RegistryError, type FaultRule } from '../errors.js';
import { endGrants, putGrant } from '../grants/write-grant.js';
import type { Origin } from '../origins/origin.js';
import { parseRate, storedRate, type Rate } from '../origins/rate.js';
import { findOrigin } from '../origins/store.js';
import type { Database } from '../storage/database.js';
import type { Sql } from '../storage/sql.js';
import { callback as callbackActor, type Transaction } from '../storage/transaction.js';
import {
  callbackUnknown,
  findByKey,
  offeredRate,
  targetOf,
  whyClosed,
  type Called,
  type CallbackKey,
} from './callback-key.js';
import { questionOf, type OwnerQuestion } from './callback-question.js';
import { judgeOrigin, warningsOfRate, type Warning } from './judgement.js';
import { keepRejected, type RejectionReason } from './rejected-callback.js';

export interface CallbackRequest extends CallbackKey {
  /** The values of WebHook-Allowed-Origin and WebHook-Allowed-Rate, if they were sent. */
  allowedOrigin: string | undefined;
  allowedRate: string | undefined;
  requestId: string;
}

/** What was decided; `isFirst`: by this very call. */
export type CallbackOutcome = { origin: string; sink: string; isFirst: boolean } & (
  | { kind: 'granted'; allowedRate: Rate; expiresAt: Date }
  /** By the owner. An earlier permission may go on. */
  | { kind: 'refused'; grantedUntil: Date | undefined }
);

/**
 * What the owner of a webhook can do with a callback URL (webhook specification, section 4.1.3): before, during or after
 * the OPTIONS request, and as often as they like. The first decision counts, and later calls get it as their outcome.
 * RegistryError `callback_unknown` for a key that is wrong, expired or closed, always the same.
 */
export interface Callbacks {
  /** What is to be decided, or what was. Changes nothing. */
  read(key: CallbackKey): Promise<OwnerQuestion | CallbackOutcome>;
  /**
   * RegistryError `callback_rate_malformed` for a rate that is none, `invalid_request` for a permission that names
   * another origin (a receiver that compares by prefix posts the name that it knows). These grant nothing and leave the
   * key as it is; they are kept, as calls with an expired or closed key are.
   */
  grant(request: CallbackRequest): Promise<CallbackOutcome>;
  /** Ends the question and, if it is a renewal, the consent that was to be renewed. */
  refuse(key: CallbackKey, requestId: string): Promise<CallbackOutcome>;
}

export function createCallbacks({ database, random }: { database: Database; random: () => number }): Callbacks {
  async function decide<T>(key: CallbackKey, work: (tx: Transaction, called: Called) => Promise<T>): Promise<T> {
    // Anybody may call, and guesses are not to hold up what needs a transaction.
    await findByKey(database.sql, key);
    return database.write(async (tx) => work(tx, await findByKey(tx.sql, key, true)));
  }

  async function give(tx: Transaction, called: Called, request: CallbackRequest): Promise<CallbackOutcome | Rejection> {
    const { sql } = tx;
    const { id, tenant, sink } = called;
    const actor = callbackActor(tenant, request.requestId);
    const origin = await findOrigin(sql, tenant, called.origin);
    const consent = readConsent(request, called, origin);
    if ('error' in consent) {
      await keepRejected(tx, actor, called, request, consent.reason);
      return (await refusalBefore(sql, called)) ?? consent;
    }
    const granted = await sql.$executeRaw`
      update handshake set state = 'granted', verdict = 'callback_granted', finishedat = now(),
        lease = null, leaseduntil = null, waitinguntil = null
      where id = ${id}::uuid and callbackopen and state not in ('granted', 'cancelled')`;
    if (granted === 0) return grantBefore(sql, called);
    const grant = await putGrant(tx, actor, {
      ...consent,
      tenant,
      origin: origin.name,
      sink,
      basis: 'callback',
      requestedRate: called.requestedrate ?? undefined,
      handshake: id,
      reference: undefined,
      lease: { seconds: origin.leaseSeconds },
      jitter: random(),
    });
    // A revoked grant: the transaction goes back, and the caller learns no more than anybody.
    if (grant === undefined) throw callbackUnknown();
    tx.audit(actor, 'handshake.granted', targetOf(called), { handshake: id, verdict: 'callback_granted' });
    const { allowedRate, expiresAt } = grant;
    return { kind: 'granted', origin: origin.name, sink, isFirst: true, allowedRate, expiresAt };
  }

  return {
    async read(key) {
      const { sql } = database;
      const called = await findByKey(sql, key);
      const refusal = await refusalBefore(sql, called);
      if (refusal !== undefined) return refusal;
      if (whyClosed(called) !== undefined) throw callbackUnknown();
      if (called.state === 'granted') return grantBefore(sql, called);
      const { defaultRate } = await findOrigin(sql, called.tenant, called.origin);
      return questionOf(sql, called, offeredRate(called) ?? defaultRate, (await liveGrant(sql, called))?.expiresAt);
    },

    async grant(request) {
      const outcome = await decide(request, (tx, called) => give(tx, called, request));
      if ('error' in outcome) throw outcome.error;
      return outcome;
    },

    refuse(key, requestId) {
      return decide(key, async (tx, called): Promise<CallbackOutcome> => {
        const { sql } = tx;
        const before = await refusalBefore(sql, called);
        if (before !== undefined) return before;
        if (whyClosed(called) !== undefined) throw callbackUnknown();
        const refused = await sql.$executeRaw`
          update handshake set state = 'refused', verdict = 'refused_by_owner', callbackopen = false, finishedat = now(),
            lease = null, leaseduntil = null, waitinguntil = null
          where id = ${called.id}::uuid and callbackopen and state not in ('granted', 'cancelled')`;
        if (refused === 0) return grantBefore(sql, called);
        const actor = callbackActor(called.tenant, requestId);
        const { id, tenant, origin, sink, createdat: grantedBefore } = called;
        tx.audit(actor, 'handshake.refused', targetOf(called), { handshake: id, verdict: 'refused_by_owner' });
        if (called.reason === 'renewal') {
          await endGrants(tx, actor, [{ tenant, origin, sink, reason: 'renewal_refused', grantedBefore }]);
        }
        const grantedUntil = (await liveGrant(sql, called))?.expiresAt;
        return { kind: 'refused', origin, sink, isFirst: true, grantedUntil };
      });
    },
  };
}

/** Why a call grants nothing, and what its caller gets. */
interface Rejection {
  reason: RejectionReason;
  error: RegistryError;
}

interface CallbackConsent {
  allowedOrigin: string | undefined;
  allowedRate: Rate;
  warnings: Warning[];
}

/** As an answer is judged, except that the origin and the rate may be left out (section 4.2.2). */
function readConsent(request: CallbackRequest, called: Called, origin: Origin): CallbackConsent | Rejection {
  const closed = whyClosed(called);
  if (closed !== undefined) return { reason: closed, error: callbackUnknown() };
  const { allowedOrigin, allowedRate: text } = request;
  const rate = text === undefined ? undefined : parseRate(text);
  if (text !== undefined && rate === undefined) return { reason: 'rate_malformed', error: rateMalformed() };
  const ours =
    allowedOrigin === undefined
      ? { allowedOrigin, warnings: [] }
      : judgeOrigin({ origin: origin.name, judgement: origin.judgement }, [allowedOrigin]);
  if (typeof ours === 'string') return { reason: ours, error: otherOrigin(ours, origin.name) };

  const offered = offeredRate(called);
  const warnings: Warning[] =
    text !== undefined && rate !== undefined
      ? warningsOfRate(text, rate, offered)
      : offered === undefined
        ? ['rate_defaulted']
        : [];
  return {
    allowedOrigin: ours.allowedOrigin,
    allowedRate: rate ?? offered ?? origin.defaultRate,
    warnings: [...ours.warnings, ...warnings],
  };
}

/** What a call after the permission gets. If the grant is over, the key is as unknown as any. */
async function grantBefore(sql: Sql, called: Called): Promise<CallbackOutcome> {
  const grant = called.state === 'granted' ? await liveGrant(sql, called) : undefined;
  if (grant === undefined) throw callbackUnknown();
  return { kind: 'granted', origin: called.origin, sink: called.sink, isFirst: false, ...grant };
}

/** The refusal of the owner, for as long as the key was to be good. */
async function refusalBefore(sql: Sql, called: Called): Promise<CallbackOutcome | undefined> {
  const { origin, sink, verdict, isexpired } = called;
  if (verdict !== 'refused_by_owner' || isexpired) return undefined;
  return { kind: 'refused', origin, sink, isFirst: false, grantedUntil: (await liveGrant(sql, called))?.expiresAt };
}

async function liveGrant(sql: Sql, { tenant, origin, sink }: Called) {
  const [grant] = await sql.$queryRaw<Array<{ allowedrate: string; expiresat: Date }>>`
    select allowedrate, expiresat from "grant"
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and state = 'live' and expiresat > now()`;
  return grant && { allowedRate: storedRate(grant.allowedrate), expiresAt: grant.expiresat };
}

function otherOrigin(rule: FaultRule, origin: string): RegistryError {
  const detail = `Leave it out, or send ${origin} or "*" (webhook specification, section 4.2.1).`;
  return new RegistryError('invalid_request', 'This call changed nothing, because it names another origin.', {
    faults: [{ pointer: 'header/webhook-allowed-origin', rule, detail }],
  });
}

function rateMalformed(): RegistryError {
  const detail = 'It must be a positive integer in digits, or "*" (webhook specification, section 4.2.2).';
  return new RegistryError('callback_rate_malformed', 'This call changed nothing, because the rate is malformed.', {
    faults: [{ pointer: 'header/webhook-allowed-rate', rule: 'rate_malformed', detail }],
  });
}
