import { blockedError, findBlocks, findUnseenNetwork, type BlockTarget } from '../blocks/find-blocks.js';
import { endGrants, putGrant } from '../grants/write.js';
import type { Pair } from '../../consent/grant.js';
import type { RejectedCallback, RejectionCode } from '../../consent/handshake.js';
import { storedRate, type Rate } from '../../consent/rate.js';
import { findOrigin } from '../origins/store.js';
import {
  type Database,
  type Sql,
  callback as callbackActor,
  databaseTime,
  type Actor,
  type Transaction,
} from '../storage/database.js';
import { clip, withoutKey } from './attempt.js';
import { callbackUnknown, readConsent, type Rejection } from './callback-consent.js';
import {
  findByKey,
  offeredRate,
  targetOf,
  whyClosed,
  type OfferedHandshake,
  type CallbackKey,
} from './callback-key.js';
import { supersedeFailures } from './close.js';
import { questionOf, type OwnerQuestion } from './callback-question.js';

interface CallbackRequest extends CallbackKey {
  /** The values of WebHook-Allowed-Origin and WebHook-Allowed-Rate, if they were sent. */
  allowedOrigin: string | undefined;
  allowedRate: string | undefined;
  requestId: string;
}

/** What was decided; `isFirst`: by this call. */
export type CallbackOutcome = { origin: string; sink: string; isFirst: boolean } & (
  | { kind: 'granted'; allowedRate: Rate; expiresAt: Date }
  /** By the owner. An earlier consent may stay valid. */
  | { kind: 'refused'; grantedUntil: Date | undefined }
);

interface CallbackSettings {
  database: Database;
  random: () => number;
  /** For the statistics. */
  onDecided: (decided: Pair & { verdict: 'callback_granted' | 'refused_by_owner' }) => void;
}

/**
 * What a webhook owner can do with a callback URL (webhook specification, section 4.1.3): before, during or after the
 * OPTIONS request, any number of times. The first decision counts; later calls return it as their outcome.
 * RegistryError `callback_unknown`, always the same, for a key that is wrong, expired or closed.
 */
export class Callbacks {
  readonly #settings: CallbackSettings;

  constructor(settings: CallbackSettings) {
    this.#settings = settings;
  }

  /** The open question, or the decision. Changes nothing. */
  async read(key: CallbackKey): Promise<OwnerQuestion | CallbackOutcome> {
    const { sql } = this.#settings.database;
    const called = await findByKey(sql, key);
    const refusal = await refusalBefore(sql, called);
    if (refusal !== undefined) return refusal;
    if (whyClosed(called) !== undefined) throw callbackUnknown();
    if (called.state === 'granted') return grantBefore(sql, called);
    const origin = await findOrigin(sql, called.tenant, called.origin);
    return questionOf(sql, called, origin, (await liveGrant(sql, called))?.expiresAt);
  }

  /**
   * RegistryError `callback_rate_malformed` for a malformed rate, `invalid_request` for a consent that names another
   * origin (a receiver that compares by prefix posts the name that it knows), `blocked` under a block. Such calls grant
   * nothing and leave the key valid. They are recorded, like calls with an expired or closed key.
   */
  async grant(request: CallbackRequest): Promise<CallbackOutcome> {
    const outcome = await this.#decide(request, (tx, called) => this.#give(tx, called, request));
    if ('error' in outcome) throw outcome.error;
    return outcome;
  }

  /** Closes the handshake and, for a renewal, ends the grant that it would renew. */
  refuse(key: CallbackKey, requestId: string): Promise<CallbackOutcome> {
    return this.#decide(key, async (tx, called): Promise<CallbackOutcome> => {
      const { sql } = tx;
      const before = await refusalBefore(sql, called);
      if (before !== undefined) return before;
      if (whyClosed(called) !== undefined) throw callbackUnknown();
      const refused = await sql.$executeRaw`
        update handshake set state = 'refused', verdict = 'refused_by_owner', callbackopen = false, finishedat = now(),
          claimid = null, claimeduntil = null, waitinguntil = null
        where id = ${called.id}::uuid and callbackopen and state not in ('granted', 'cancelled')`;
      if (refused === 0) return grantBefore(sql, called);
      const actor = callbackActor(called.tenant, requestId);
      const { id, tenant, origin, sink, createdat: grantedBefore } = called;
      tx.audit(actor, 'handshake.refused', targetOf(called), {
        origin,
        sink,
        handshake: id,
        verdict: 'refused_by_owner',
      });
      const subscription = called.subscription ?? undefined;
      tx.change({ kind: 'handshake.refused', tenant, origin, sink, subscription, cause: 'refused_by_owner' });
      if (called.trigger === 'renewal') {
        await endGrants(tx, actor, [{ tenant, origin, sink, code: 'renewal_refused', grantedBefore }]);
      }
      const grantedUntil = (await liveGrant(sql, called))?.expiresAt;
      return { kind: 'refused', origin, sink, isFirst: true, grantedUntil };
    });
  }

  async #decide<T extends CallbackOutcome | Rejection>(
    key: CallbackKey,
    work: (tx: Transaction, called: OfferedHandshake) => Promise<T>,
  ): Promise<T> {
    // Anyone may call this, and guesses must not delay requests that need a transaction.
    await findByKey(this.#settings.database.sql, key);
    const { outcome, tenant } = await this.#settings.database.write(async (tx) => {
      const called = await findByKey(tx.sql, key, true);
      return { outcome: await work(tx, called), tenant: called.tenant };
    });
    if ('isFirst' in outcome && outcome.isFirst) {
      const verdict = outcome.kind === 'granted' ? 'callback_granted' : 'refused_by_owner';
      this.#settings.onDecided({ tenant, origin: outcome.origin, sink: outcome.sink, verdict });
    }
    return outcome;
  }

  async #give(
    tx: Transaction,
    called: OfferedHandshake,
    request: CallbackRequest,
  ): Promise<CallbackOutcome | Rejection> {
    const { sql } = tx;
    const { id, tenant, sink } = called;
    const actor = callbackActor(tenant, request.requestId);
    const origin = await findOrigin(sql, tenant, called.origin);
    const consent = readConsent(request, { closed: whyClosed(called), offeredRate: offeredRate(called) }, origin);
    if ('error' in consent) {
      await keepRejected(tx, actor, called, request, consent.code);
      return (await refusalBefore(sql, called)) ?? consent;
    }
    const [known] = await findBlocks(sql, [await blockTargetOf(sql, called)]);
    const block = known ?? (await findUnseenNetwork(sql, called));
    if (block !== undefined && called.state !== 'granted') {
      await keepRejected(tx, actor, called, request, 'blocked');
      return { code: 'blocked', error: blockedError(block) };
    }
    const granted = await sql.$executeRaw`
      update handshake set state = 'granted', verdict = 'callback_granted', finishedat = now(),
        claimid = null, claimeduntil = null, waitinguntil = null
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
      agreement: undefined,
      lifetime: { seconds: origin.grantSeconds },
      jitter: this.#settings.random(),
    });
    // A revoked grant: the transaction rolls back, and the caller learns nothing.
    if (grant === undefined) throw callbackUnknown();
    await supersedeFailures(sql, called.trigger === 'registration' ? [] : [id]);
    const detail = { origin: origin.name, sink, handshake: id, verdict: 'callback_granted' };
    tx.audit(actor, 'handshake.granted', targetOf(called), detail);
    const { allowedRate, expiresAt } = grant;
    return { kind: 'granted', origin: origin.name, sink, isFirst: true, allowedRate, expiresAt };
  }
}

async function blockTargetOf(sql: Sql, { tenant, origin, sink, subscription }: OfferedHandshake): Promise<BlockTarget> {
  if (subscription === null) return { tenant, origin, sink };
  const [row] = await sql.$queryRaw<Array<{ subscriber: string }>>`
    select subscriber from subscription where id = ${subscription}::uuid`;
  return { tenant, origin, sink, ...row };
}

/** The outcome of a call after consent was given. If the grant has ended, the key is unknown. */
async function grantBefore(sql: Sql, called: OfferedHandshake): Promise<CallbackOutcome> {
  const grant = called.state === 'granted' ? await liveGrant(sql, called) : undefined;
  if (grant === undefined) throw callbackUnknown();
  return { kind: 'granted', origin: called.origin, sink: called.sink, isFirst: false, ...grant };
}

/** The owner's refusal, for as long as the key would have been valid. */
async function refusalBefore(sql: Sql, called: OfferedHandshake): Promise<CallbackOutcome | undefined> {
  const { origin, sink, verdict, isexpired } = called;
  if (verdict !== 'refused_by_owner' || isexpired) return undefined;
  return { kind: 'refused', origin, sink, isFirst: false, grantedUntil: (await liveGrant(sql, called))?.expiresAt };
}

async function liveGrant(sql: Sql, { tenant, origin, sink }: OfferedHandshake) {
  const [grant] = await sql.$queryRaw<Array<{ allowedrate: string; expiresat: Date }>>`
    select allowedrate, expiresat from "grant"
    where origin = ${origin} and sink = ${sink} and tenant = ${tenant} and state = 'live' and expiresat > now()`;
  return grant && { allowedRate: storedRate(grant.allowedrate), expiresAt: grant.expiresat };
}

/** The audit record keeps this many for each handshake, so that a client with a key cannot fill it. */
const maxAudited = 10;
/** Characters of a header; a little more than a message shows. */
const maxKept = 250;

/** Records the call on the handshake, whose row must be locked, and in the audit record. */
async function keepRejected(
  { sql, audit }: Transaction,
  actor: Actor,
  called: OfferedHandshake,
  sent: { key: string; allowedOrigin: string | undefined; allowedRate: string | undefined },
  code: RejectionCode,
): Promise<void> {
  const rejected: RejectedCallback = {
    at: (await databaseTime(sql)).toISOString(),
    code,
    ...shown('allowedorigin', sent.allowedOrigin, sent.key),
    ...shown('allowedrate', sent.allowedRate, sent.key),
    count: ((called.rejectedcallback as RejectedCallback | null)?.count ?? 0) + 1,
  };
  await sql.$executeRaw`
    update handshake set rejectedcallback = ${JSON.stringify(rejected)}::jsonb where id = ${called.id}::uuid`;
  if (rejected.count > maxAudited) return;
  const { allowedorigin, allowedrate } = rejected;
  const { origin, sink } = called;
  const detail = { origin, sink, handshake: called.id, code, allowedorigin, allowedrate };
  audit(actor, 'handshake.callback_rejected', targetOf(called), detail);
}

/** A header as it is kept, without the key: the caller may have written it there. */
function shown(name: 'allowedorigin' | 'allowedrate', value: string | undefined, key: string) {
  const [line] = withoutKey(key, value === undefined ? [] : [[name, value]]).map((each) => clip(each, maxKept));
  return line === undefined ? {} : { [name]: line[1] };
}
