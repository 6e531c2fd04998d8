import type { Origin } from '../../consent/origin.js';
import { RegistryError } from '../../base/errors.js';
import { originTexts } from '../../base/texts/origins.js';
import type { FoundTexts } from '../../outbound/look-up-texts.js';
import type { ReadDocument } from '../../outbound/read-document.js';
import { directoryMediaType } from '../../signatures/request-signature.js';
import { databaseTime, service, type Actor, type Database, type Sql, type Transaction } from '../storage/database.js';
import type { origin as OriginRow } from '../storage/generated/client.js';
import { updateRows } from '../storage/rows.js';
import { originOf, proofMembers } from './columns.js';
import {
  afterCheck,
  codeOf,
  directoryOf,
  readDirectory,
  readRecords,
  recordNameOf,
  resultOf,
  tokenOf,
  tokenRecordOf,
  type CheckResult,
  type Proved,
} from './domain-proof.js';

export interface ProofSettings {
  database: Database;
  /** Takes a place in the budgets of handshakes. Returns the milliseconds to wait instead if one is used up. */
  admit: (tenant: string, host: string | undefined) => Promise<number>;
  lookUpTexts: (name: string, signal?: AbortSignal) => Promise<FoundTexts>;
  readDocument: ReadDocument;
  /** Whether names of this kind are never looked up: those of internal networks. */
  isInternal: (url: string) => boolean;
  random: () => number;
}

/** Of a check that another process began, and did not end. */
const claimSeconds = 600;
const maxDue = 20;

/** Checks whether owners of names publish keys of origins (domain-proof.ts). No transaction is open while it asks. */
export class ProofChecks {
  readonly #settings: ProofSettings;

  constructor(settings: ProofSettings) {
    this.#settings = settings;
  }

  /**
   * Whether the owner of a name gives it to this tenant. What to publish for it is in the result. Throws RegistryError
   * `too_many_checks`.
   */
  async lookForClaim(
    tenant: string,
    name: string,
    signal?: AbortSignal,
  ): Promise<Proved | { kind: 'unproved'; record: string }> {
    const token = await this.#tokenOf(tenant, name);
    const unproved = { kind: 'unproved', record: tokenRecordOf(name, token) } as const;
    if (this.#settings.isInternal(directoryOf(name))) return unproved;
    await this.#admit(tenant, undefined);
    const found = await this.#lookAtRecords(name, [], token, signal);
    return 'kind' in found ? found : unproved;
  }

  async #look({ name, tenant }: OriginRow, signal?: AbortSignal): Promise<CheckResult> {
    const code = 'name_not_public';
    if (this.#settings.isInternal(directoryOf(name))) {
      return { kind: 'unproved', findings: { dns: { code }, directory: { code } } };
    }
    const [keyids, token] = [await keyidsOf(this.#settings.database.sql, name), await this.#tokenOf(tenant, name)];
    await this.#admit(tenant, name);
    const [directory, dns] = await Promise.all([
      this.#lookAtDirectory(name, keyids, signal),
      this.#lookAtRecords(name, keyids, token, signal),
    ]);
    return resultOf(directory, dns);
  }

  async #tokenOf(tenant: string, name: string): Promise<string> {
    return tokenOf(await secretOf(this.#settings.database.sql), tenant, name);
  }

  async #admit(tenant: string, name: string | undefined): Promise<void> {
    const waitMs = await this.#settings.admit(tenant, name);
    if (waitMs > 0) {
      throw new RegistryError('too_many_checks', originTexts.tooManyChecks, {
        retryAfterSeconds: Math.ceil(waitMs / 1_000),
      });
    }
  }

  /** Checks an origin and stores the result. Returns the origin after it. */
  async check(actor: Actor, name: string, signal?: AbortSignal): Promise<Origin> {
    const { database } = this.#settings;
    const row = await findRow(database.sql, actor.tenant, name);
    const startedAt = await databaseTime(database.sql);
    const result = await this.#look(row, signal);
    return this.#settle(row, result, { actor, startedAt, isDaily: false });
  }

  /** Checks what is due, a few at a time. Returns how many. Safe in several processes at once. */
  async checkDue(signal?: AbortSignal): Promise<number> {
    const { database } = this.#settings;
    const rows = await database.sql.$queryRaw<OriginRow[]>`
      update origin set checkdueat = now() + make_interval(secs => ${claimSeconds}) where name in (
        select name from origin where checkdueat <= now() order by checkdueat limit ${maxDue} for update skip locked)
      returning *`;
    const checks = rows.map(async (row) => {
      const startedAt = await databaseTime(database.sql);
      const result = await this.#look(row, signal);
      await this.#settle(row, result, { actor: service(row.tenant), startedAt, isDaily: true });
    });
    // A check that is held by a budget, or that fails, is due again when its claim ends.
    const faults = (await Promise.allSettled(checks)).flatMap((each) => {
      const isHeld = each.status === 'rejected' && each.reason instanceof RegistryError;
      return each.status === 'rejected' && !isHeld ? [each.reason as unknown] : [];
    });
    if (faults.length > 0) throw faults[0];
    return rows.length;
  }

  async #lookAtDirectory(name: string, keyids: readonly string[], signal?: AbortSignal) {
    const { readDocument, database } = this.#settings;
    const read = await readDocument(directoryOf(name), directoryMediaType, signal);
    return readDirectory(read, keyids, await markOf(database.sql));
  }

  async #lookAtRecords(name: string, keyids: readonly string[], token: string, signal?: AbortSignal) {
    const looked = await this.#settings.lookUpTexts(recordNameOf(name), signal);
    if (looked.kind === 'found') return readRecords(looked.texts, keyids, token);
    return { code: 'record_unread', found: looked.evidence ?? looked.code } as const;
  }

  /**
   * One conditional transition: of the origin that was looked at and not of a later one with its name, not after a later
   * check, and with a key that was not revoked meanwhile.
   */
  async #settle(
    { name, tenant, directory }: OriginRow,
    result: CheckResult,
    { actor, startedAt, isDaily }: { actor: Actor; startedAt: Date; isDaily: boolean },
  ): Promise<Origin> {
    const { database, random } = this.#settings;
    return database.write(async (tx) => {
      const { sql } = tx;
      const [row] = await sql.$queryRaw<OriginRow[]>`
        select * from origin where name = ${name} and tenant = ${tenant} and directory = ${directory}::uuid for update`;
      if (row === undefined) throw new RegistryError('origin_not_found', originTexts.unknown);
      const before = originOf(row);
      const isLate = before.checkedAt !== undefined && before.checkedAt > startedAt;
      const keyid = result.kind === 'proved' ? result.keyid : undefined;
      const isStale = keyid !== undefined && !(await keyidsOf(sql, name)).includes(keyid);
      if (isLate || isStale) return before;
      return storeProof(tx, actor, before, result, { isDaily, spread: random() });
    });
  }
}

/** For an origin that is locked. */
export async function storeProof(
  tx: Transaction,
  actor: Actor,
  before: Origin,
  result: CheckResult,
  { isDaily = false, spread = 0.5 }: { isDaily?: boolean; spread?: number } = {},
): Promise<Origin> {
  const { sql } = tx;
  const { proof, dueAt } = afterCheck(before, result, { now: await databaseTime(sql), isDaily, spread });
  // A check that somebody asked for and that finds nothing postpones no daily one: these count.
  const isAside = !isDaily && result.kind === 'unproved';
  const due = isAside ? {} : { checkdueat: dueAt ?? null };
  const columns = { name: before.name, ...proofMembers.write(proof), ...due };
  const [row] = await sql.$queryRaw<[OriginRow]>`${updateRows('origin', ['name'], [columns])} returning t.*`;
  const after = originOf(row);
  recordProof(tx, actor, before, after);
  return after;
}

/** An audit record, and a change for senders, if the state changed. */
function recordProof(tx: Transaction, actor: Actor, before: Origin, after: Origin): void {
  const { name, tenant, verifiedBy: by, verifiedKey: keyid, findings } = after;
  if (before.verifiedBy === by && before.verifiedKey === keyid) return;
  if (by === undefined) {
    const reason = findings && codeOf(findings);
    tx.audit(actor, 'origin.unverified', `origin:${name}`, {
      by: before.verifiedBy,
      keyid: before.verifiedKey,
      reason,
    });
  } else tx.audit(actor, 'origin.verified', `origin:${name}`, { by, keyid });
  tx.change({ kind: 'origin.changed', tenant, origin: name, sink: '' });
}

/** The keys that prove an origin if its owner publishes them: those that the registry made for it, the one that signs first. */
export async function keyidsOf(sql: Sql, origin: string): Promise<string[]> {
  return (await keyidsByOrigin(sql, [origin])).get(origin) ?? [];
}

export async function keyidsByOrigin(sql: Sql, origins: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await sql.$queryRaw<Array<{ origin: string; keyids: string[] }>>`
    select origin, array_agg(publickey ->> 'kid' order by startsat <= now() desc, startsat desc) as keyids from origin_key
    where origin = any (${origins}::text[]) and kind = 'made' and revokedat is null and (endsat is null or endsat > now())
    group by origin`;
  return new Map(rows.map(({ origin, keyids }) => [origin, keyids]));
}

async function findRow(sql: Sql, tenant: string, name: string): Promise<OriginRow> {
  const [row] = await sql.$queryRaw<OriginRow[]>`select * from origin where name = ${name} and tenant = ${tenant}`;
  if (row === undefined) throw new RegistryError('origin_not_found', originTexts.unknown);
  return row;
}

async function secretOf(sql: Sql): Promise<Uint8Array> {
  const [row] = await sql.$queryRaw<[{ secret: Uint8Array }]>`select secret from feed_state`;
  return row.secret;
}

/** What tells a directory that this registry serves. */
export async function markOf(sql: Sql): Promise<string> {
  return tokenOf(await secretOf(sql), '', '');
}
