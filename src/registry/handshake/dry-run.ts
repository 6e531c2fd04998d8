import { randomUUID } from 'node:crypto';
import type { Attempt, BegunAttempt, Claim } from '../../consent/handshake.js';
import type { FinalReply } from '../../consent/judgement.js';
import type { Verdict } from '../../consent/verdicts.js';
import type { Tracing } from '../../base/tracing.js';
import { findBlocks } from '../blocks/find-blocks.js';
import { lockPairs } from '../grants/write.js';
import {
  databaseTime,
  lockRegistry,
  type Actor,
  type Database,
  type Sql,
  type Transaction,
} from '../storage/database.js';
import type { OriginSigner, Signers } from '../origins/keys.js';
import { insertRows } from '../storage/rows.js';
import { prepareAttempt } from './attempt.js';
import { chooseNew, type NewQuestion } from './choose-new.js';
import { cooldownOf, recordCooldowns } from './cooldown.js';
import type { Places } from './in-flight.js';
import type { Lane } from './lane.js';
import type { RateWindows } from './rate-window.js';
import { readAttempt } from './read-handshake.js';
import type { SettleIn } from './settle.js';
import type { Sent, Worker } from './worker.js';

interface DryRunSettings {
  database: Database;
  rateWindows: RateWindows;
  signers: Pick<Signers, 'of'>;
  /** Of the queue. */
  places: Places & { unstored: Set<Lane> };
  send: Worker['sendUnstored'];
  settleIn: SettleIn;
  tracing?: Tracing | undefined;
  onAsked: (question: NewQuestion, verdict: Verdict, seconds: number) => void;
}

/** What came of asking. `held`: it was not sent, and a handshake would be sent after that time. */
type Asked =
  | Extract<Sent, { kind: 'held' }>
  | ({ kind: 'answered'; attempt: BegunAttempt; reply: FinalReply; startedAt: number; askedAt: Date } & Pick<
      Claim,
      'clientCertificate'
    >);

interface Admitted extends Pick<Claim, 'blockedNetworks' | 'clientCertificate'> {
  signer: OriginSigner | undefined;
  /** By the database's clock. */
  now: Date;
}

/** The verdict if it was asked, and for how long it wants to be left alone. */
interface Outcome {
  verdict: Verdict | undefined;
  cooldownMs: number;
  /** As a handshake would have kept it. Undefined if it was not asked. */
  attempt: Attempt | undefined;
}

/** The shortest time until a webhook without a free place is asked. */
const noPlaceMs = 1_000;

/**
 * Asks a webhook for a dry run: once, without a callback, through the door of every handshake. What it takes of the budgets
 * stays taken, a webhook that says Retry-After is left alone by handshakes too, and an audit record says who asked whom:
 * otherwise a dry run would be a way around all three. Nothing else is stored.
 */
export class DryRun {
  readonly #settings: DryRunSettings;

  constructor(settings: DryRunSettings) {
    this.#settings = settings;
  }

  /** Undefined if a handshake would not be sent now: a block or a cool-down is in the way. */
  async ask(actor: Actor, subscriber: string, question: NewQuestion): Promise<Asked | undefined> {
    const { places, send, tracing } = this.#settings;
    const startedAt = performance.now();
    const lane = { tenant: question.tenant, sinkhost: question.sinkHost };
    try {
      const admitted = await this.#admit(actor, subscriber, question, lane);
      if (admitted === undefined || 'kind' in admitted) return admitted;
      const number = 1;
      const { headers, isWithheld, span } = prepareAttempt(question, undefined, {
        number,
        tracing,
        signing: { ...admitted, now: admitted.now.getTime() },
      });
      const attempt = { number, callbackOffered: false, headers, isWithheld, span };
      const { id, sink } = question;
      const reply = (await send({ id, sink, ...admitted }, attempt)) ?? held(noPlaceMs);
      const { clientCertificate, now: askedAt } = admitted;
      return reply.kind === 'held'
        ? reply
        : { kind: 'answered', attempt, reply, startedAt, askedAt, clientCertificate };
    } finally {
      places.unstored.delete(lane);
    }
  }

  /** Takes the place and the budgets of a handshake. Returns what it is sent with. */
  #admit(actor: Actor, subscriber: string, question: NewQuestion, lane: Lane) {
    const { database, rateWindows, places, signers } = this.#settings;
    const { origin, sink, tenant } = question;
    return database.write(async (tx): Promise<Asked | Admitted | undefined> => {
      const { sql } = tx;
      // Of an attempt of this transaction that was cancelled.
      places.unstored.delete(lane);
      await lockRegistry(sql, 'claims');
      const [block] = await findBlocks(sql, [{ tenant, origin, sink, subscriber }]);
      if (block !== undefined || (await coolsDown(sql, question))) return undefined;
      const awaited = { ...question, isAwaited: true };
      const { chosen, now, blockedNetworks, certificates } = await chooseNew(sql, places, 1, [awaited]);
      if (chosen.length === 0) return held(noPlaceMs);
      const heldMs = (await rateWindows.admit(sql, [question], now.getTime())).get(question.id);
      if (heldMs !== undefined) return held(heldMs);
      tx.audit(actor, 'webhook.asked', `origin:${origin}`, { origin, sink, subscriber, dryrun: true });
      places.unstored.add(lane);
      const signer = (await signers.of(sql, [question])).get(origin);
      const clientCertificate = certificates.get(origin);
      return { blockedNetworks: blockedNetworks(tenant), clientCertificate, signer, now };
    });
  }

  /**
   * Writes to the handshake of a registration what came of asking, as if it had been sent. For a transaction that is rolled
   * back, and can be repeated.
   */
  async settleIn(tx: Transaction, question: NewQuestion, asked: Asked): Promise<Outcome> {
    const { sql } = tx;
    const { id } = question;
    const now = await databaseTime(sql);
    if (asked.kind === 'held') {
      const dueat = new Date(now.getTime() + asked.retryAfterMs);
      await sql.$executeRaw`
        update handshake set verdict = ${asked.verdict}, dueat = greatest(dueat, ${dueat}::timestamptz) where id = ${id}::uuid`;
      return { verdict: undefined, cooldownMs: 0, attempt: undefined };
    }
    const { clientCertificate } = asked;
    const claim = { ...question, claimId: randomUUID(), createdAt: now, blockedNetworks: [], clientCertificate };
    await sql.$executeRaw`
      update handshake set state = 'asking', attempts = 1, claimid = ${claim.claimId}::uuid, claimeduntil = ${now}::timestamptz
      where id = ${id}::uuid`;
    const { attempt, reply, askedAt: startedat } = asked;
    const requestheaders = Object.entries(attempt.headers);
    const row = { handshake: id, number: attempt.number, requestheaders, startedat };
    await sql.$executeRaw`${insertRows('attempt', [row])}`;
    const [settled] = await this.#settings.settleIn(tx, [{ claim, attempt, reply }]);
    const [cooldown] = await sql.$queryRaw<Array<{ until: Date | null }>>`select ${cooldownOf(question)} as until`;
    return {
      verdict: settled?.verdict,
      cooldownMs: (cooldown?.until?.getTime() ?? 0) - now.getTime(),
      attempt: await readAttempt(sql, id, attempt.number),
    };
  }

  /** Counts it, and keeps what the webhook asked for with Retry-After, for everyone who asks it next. */
  async conclude(question: NewQuestion, asked: Asked, { verdict, cooldownMs: ms }: Outcome): Promise<void> {
    if (asked.kind === 'answered' && verdict !== undefined) {
      this.#settings.onAsked(question, verdict, (performance.now() - asked.startedAt) / 1_000);
    }
    if (ms <= 0) return;
    const { tenant, origin, sink } = question;
    await this.#settings.database.write(async ({ sql }) => {
      await lockPairs(sql, [{ origin, sink }]);
      await recordCooldowns(sql, [{ tenant, origin, sink, ms }], await databaseTime(sql));
    });
  }
}

const held = (retryAfterMs: number) => ({ kind: 'held', verdict: 'held_by_budget', retryAfterMs }) as const;

async function coolsDown(sql: Sql, question: NewQuestion): Promise<boolean> {
  const [row] = await sql.$queryRaw<Array<{ is: boolean | null }>>`
    select ${cooldownOf(question)} > statement_timestamp() as is`;
  return row?.is === true;
}
