import { RegistryError } from '../../base/errors.js';
import { subscriptionTexts } from '../../base/texts/subscriptions.js';
import type { Sql } from '../storage/database.js';

interface Known {
  /** As counted, up to the limit. */
  count: number;
  /** Asked of this process since. */
  added: number;
  countedAt: number;
  tookMs: number;
  counting: Promise<void> | undefined;
}

const longestMs = 60_000;
/** Counting may take a twentieth of the time. */
const pauses = 20;
const retryAfterSeconds = 60;

/**
 * Limits how many handshakes of a tenant are due at the same time: what is asked faster than it can be sent must end
 * somewhere. Renewals count, and are never refused. Processes count what they know, so the limit can be exceeded slightly.
 */
export class Backlog {
  readonly #limit: number;
  readonly #tenants = new Map<string, Known>();

  constructor(perTenant: number) {
    this.#limit = perTenant;
  }

  /** Call it for each handshake that a client asks for. RegistryError `too_many_handshakes` if the tenant may ask for no more. */
  async refuse(sql: Sql, tenant: string): Promise<RegistryError | undefined> {
    const known = this.#known(tenant);
    known.added += 1;
    const age = performance.now() - known.countedAt;
    const isDoubtful = known.count + known.added > this.#limit && age > known.tookMs * pauses;
    if (isDoubtful || age > longestMs) await (known.counting ??= this.#count(sql, tenant, known));
    return known.count < this.#limit
      ? undefined
      : new RegistryError('too_many_handshakes', subscriptionTexts.backlog(this.#limit), { retryAfterSeconds });
  }

  #known(tenant: string): Known {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const fresh = { count: 0, added: 0, countedAt: -Infinity, tookMs: 0, counting: undefined };
    this.#tenants.set(tenant, fresh);
    return fresh;
  }

  async #count(sql: Sql, tenant: string, known: Known): Promise<void> {
    const startedAt = performance.now();
    try {
      const [row] = await sql.$queryRaw<Array<{ count: number }>>`
        select count(*)::int as count
        from (select from handshake where tenant = ${tenant} and state = 'due' limit ${this.#limit}) due`;
      known.count = row?.count ?? 0;
      known.added = 0;
    } finally {
      known.countedAt = performance.now();
      known.tookMs = known.countedAt - startedAt;
      known.counting = undefined;
    }
  }
}
