import { RegistryError } from '../../base/errors.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import { lockRegistry, type Sql } from '../storage/database.js';
import { byTenant, unseen, type Asked } from './quota.js';

interface Known {
  /** As counted, up to the limit. */
  count: number;
  /** Admitted by this process since. */
  added: number;
  countedAt: number;
  tookMs: number;
}

/** In that time, other processes ask for fewer than `unseen`. */
const longestMs = 1_000;
/** A full tenant is counted again after this many times the time that counting takes. */
const pauses = 20;
const retryAfterSeconds = 60;

/**
 * Limits how many handshakes of a tenant are due at the same time: what is asked faster than it can be sent must end
 * somewhere. Renewals count, and are never refused.
 */
export class Backlog {
  readonly #limit: number;
  readonly #tenants = new Map<string, Known>();

  constructor(perTenant: number) {
    this.#limit = perTenant;
  }

  /**
   * Call it for the handshakes that clients ask for. Returns, by id, `too_many_handshakes` for those that a tenant may not
   * ask for, and counts the others.
   */
  async refuse(sql: Sql, asked: readonly Asked[]): Promise<Map<string, RegistryError>> {
    const refused = new Map<string, RegistryError>();
    for (const [tenant, ids] of byTenant(asked)) {
      const admitted = await this.#admit(sql, tenant, ids.length);
      const detail = subscriptionTexts.backlog(this.#limit);
      const error = new RegistryError('too_many_handshakes', detail, { retryAfterSeconds });
      for (const id of ids.slice(admitted)) refused.set(id, error);
    }
    return refused;
  }

  /** Returns how many of them it admits. */
  async #admit(sql: Sql, tenant: string, more: number): Promise<number> {
    const known = this.#known(tenant);
    const ageMs = performance.now() - known.countedAt;
    if (known.count >= this.#limit && ageMs < known.tookMs * pauses) return 0;
    const isNear = known.count + known.added + more + unseen > this.#limit;
    // Then no other transaction of the tenant adds any until this one ends.
    if (isNear) await lockRegistry(sql, `due ${tenant}`);
    if (isNear || ageMs > longestMs) await this.#count(sql, tenant, known);
    const admitted = Math.min(more, Math.max(0, this.#limit - known.count - known.added));
    known.added += admitted;
    return admitted;
  }

  #known(tenant: string): Known {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const fresh = { count: 0, added: 0, countedAt: -Infinity, tookMs: 0 };
    this.#tenants.set(tenant, fresh);
    return fresh;
  }

  async #count(sql: Sql, tenant: string, known: Known): Promise<void> {
    const startedAt = performance.now();
    const [row] = await sql.$queryRaw<Array<{ count: number }>>`
      select count(*)::int as count
      from (select from handshake where tenant = ${tenant} and state = 'due' limit ${this.#limit}) due`;
    known.count = row?.count ?? 0;
    known.added = 0;
    known.countedAt = performance.now();
    known.tookMs = known.countedAt - startedAt;
  }
}
