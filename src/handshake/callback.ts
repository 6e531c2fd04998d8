import { RegistryError, type FaultRule } from '../errors.js';
import { putGrant } from '../grants/write-grant.js';
import { parseRate, storedRate, type Rate } from '../origins/rate.js';
import { findOrigin } from '../origins/store.js';
import type { Database } from '../storage/database.js';
import type { grant as GrantRow, handshake as HandshakeRow } from '../storage/generated/client.js';
import { beforeAllIds, isUuid } from '../storage/ids.js';
import type { Sql } from '../storage/sql.js';
import { callback as callbackActor } from '../storage/transaction.js';
import { hashCallbackKey, isSameHash } from './attempt.js';
import type { HeaderLine } from './handshake.js';
import { judgeOrigin } from './judgement.js';

export interface CallbackGrant {
  origin: string;
  sink: string;
  allowedRate: Rate;
  expiresAt: Date;
  /** False if the permission stood already. */
  isFirst: boolean;
}

export interface CallbackRequest {
  handshake: string;
  key: string;
  /** The values of WebHook-Allowed-Origin and WebHook-Allowed-Rate, if they were sent. */
  allowedOrigin: string | undefined;
  allowedRate: string | undefined;
  requestId: string;
}

/**
 * Consent by the callback (webhook specification, section 4.1.3): before, during or after the OPTIONS request, and as
 * often as somebody likes; the first call counts. RegistryError `callback_unknown` for a key that is wrong, expired or
 * closed, always the same; `callback_rate_malformed` for a rate that is none, `invalid_request` for a permission that
 * names another origin (a receiver that compares by prefix posts the name that it knows); these consume nothing.
 */
export type GrantByCallback = (request: CallbackRequest) => Promise<CallbackGrant>;

type Attempted = HandshakeRow & { callbackkeyhash: Uint8Array; requestheaders: HeaderLine[] };

export function createGrantByCallback({
  database,
  random,
}: {
  database: Database;
  random: () => number;
}): GrantByCallback {
  return async (request) => {
    // Anybody may call, and guesses are not to hold up what needs a transaction.
    await findByKey(database.sql, request);
    return database.write(async (tx) => {
      const { sql } = tx;
      const handshake = await findByKey(sql, request);
      const { tenant, sink } = handshake;
      const origin = await findOrigin(sql, tenant, handshake.origin);
      const rate = request.allowedRate === undefined ? undefined : parseRate(request.allowedRate);
      if (request.allowedRate !== undefined && rate === undefined) throw malformed();
      const consent =
        request.allowedOrigin === undefined
          ? { allowedOrigin: undefined, warnings: [] }
          : judgeOrigin({ origin: origin.name, judgement: origin.judgement }, [request.allowedOrigin]);
      if (typeof consent === 'string') throw otherOrigin(consent, origin.name);

      const granted = await sql.$executeRaw`
        update handshake set state = 'granted', verdict = 'callback_granted', finishedat = now(),
          lease = null, leaseduntil = null, waitinguntil = null
        where id = ${handshake.id}::uuid and callbackopen and state not in ('granted', 'cancelled')`;
      if (granted === 0) return standingGrant(sql, handshake.id);

      const actor = callbackActor(tenant, request.requestId);
      const grant = await putGrant(tx, actor, {
        tenant,
        origin: origin.name,
        sink,
        basis: 'callback',
        allowedOrigin: consent.allowedOrigin,
        allowedRate: rate ?? offeredRate(handshake) ?? origin.defaultRate,
        requestedRate: handshake.requestedrate ?? undefined,
        warnings: consent.warnings,
        handshake: handshake.id,
        reference: undefined,
        lease: { seconds: origin.leaseSeconds },
        jitter: random(),
      });
      // A revoked grant: the transaction goes back, and the caller learns no more than anybody.
      if (grant === undefined) throw unknown();
      const target = handshake.subscription ? `subscription:${handshake.subscription}` : `handshake:${handshake.id}`;
      tx.audit(actor, 'handshake.granted', target, { handshake: handshake.id, verdict: 'callback_granted' });
      return { origin: origin.name, sink, allowedRate: grant.allowedRate, expiresAt: grant.expiresAt, isFirst: true };
    });
  };
}

/** Every unexpired key of the handshake is compared, so that the time tells nothing. */
async function findByKey(sql: Sql, { handshake, key }: CallbackRequest): Promise<Attempted> {
  const rows = await sql.$queryRaw<Attempted[]>`
    select h.*, a.callbackkeyhash, a.requestheaders from handshake h join attempt a on a.handshake = h.id
    where h.id = ${isUuid(handshake) ? handshake : beforeAllIds}::uuid
      and h.callbackopen and a.callbackexpiresat > now()`;
  const hash = hashCallbackKey(key);
  const found = rows.filter((row) => isSameHash(row.callbackkeyhash, hash))[0];
  if (found === undefined) throw unknown();
  return found;
}

/** The rate that was asked for with this key; a renewal that is asked again may ask for another one. */
function offeredRate({ requestheaders }: Attempted): Rate | undefined {
  const header = requestheaders.find(([name]) => name === 'WebHook-Request-Rate');
  return header && parseRate(header[1]);
}

/** What a later call is told. If it was closed at this moment, or the grant is over, that is as unknown as ever. */
async function standingGrant(sql: Sql, handshake: string): Promise<CallbackGrant> {
  const [grant] = await sql.$queryRaw<GrantRow[]>`
    select g.* from handshake h join "grant" g on g.origin = h.origin and g.sink = h.sink
    where h.id = ${handshake}::uuid and h.state = 'granted' and h.callbackopen
      and g.state = 'live' and g.expiresat > now()`;
  if (grant === undefined) throw unknown();
  return {
    origin: grant.origin,
    sink: grant.sink,
    allowedRate: storedRate(grant.allowedrate),
    expiresAt: grant.expiresat,
    isFirst: false,
  };
}

function unknown(): RegistryError {
  return new RegistryError(
    'callback_unknown',
    'The callback may have expired, or its question was closed. Whoever subscribed can have it asked again.',
  );
}

function otherOrigin(rule: FaultRule, origin: string): RegistryError {
  const detail = `Leave it out, or send ${origin} or "*" (webhook specification, section 4.2.1).`;
  return new RegistryError('invalid_request', 'This call changed nothing, because it names another origin.', {
    faults: [{ pointer: 'header/webhook-allowed-origin', rule, detail }],
  });
}

function malformed(): RegistryError {
  const detail = 'It must be a positive integer in digits, or "*" (webhook specification, section 4.2.2).';
  return new RegistryError('callback_rate_malformed', 'This call changed nothing, because the rate is malformed.', {
    faults: [{ pointer: 'header/webhook-allowed-rate', rule: 'rate_malformed', detail }],
  });
}
