import { keyOfPair } from '../../consent/grant.js';
import type { Question, ShownCertificate } from '../../consent/handshake.js';
import type { Sql } from '../storage/database.js';
import { certificateColumns, certificateOf, type CertificateColumns } from './choose.js';
import { busyLanes, InFlight, type Places } from './in-flight.js';
import { keyOfLane } from './lane.js';

/** A question that is not stored yet. */
export interface NewQuestion extends Question {
  sinkHost: string;
  /** A client waits for the response. */
  isAwaited: boolean;
  /** Whether the origin and the subscription want the callback to be offered. */
  offersCallback: boolean;
}

export interface ChosenNew {
  /** Those that may be sent now, in their order. */
  chosen: NewQuestion[];
  /** By the database's clock: the present, and the start of the transaction. */
  now: Date;
  startedAt: Date;
  /** CIDR: no address in them is asked, by tenant. */
  blockedNetworks: (tenant: string) => string[];
  /** By origin. */
  certificates: ReadonlyMap<string, ShownCertificate>;
}

interface Room {
  now: number;
  startedat: number;
  busy: ConstructorParameters<typeof InFlight>[1];
  cooling: string[];
  networks: Array<{ tenant: string; value: string }>;
  certificates: Array<CertificateColumns & { origin: string }>;
}

/**
 * Chooses among questions that are about to be stored, with the same limits as other claims. Call it under the lock on claims
 * and on their pairs, for subscriptions that want events and are not blocked.
 */
export async function chooseNew(
  sql: Sql,
  places: Places,
  limit: number,
  questions: readonly NewQuestion[],
): Promise<ChosenNew> {
  const each = (member: (question: NewQuestion) => string) => [...new Set(questions.map(member))];
  const tenants = each(({ tenant }) => tenant);
  const [room] = await sql.$queryRaw<Room[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      floor(extract(epoch from now()) * 1000)::float8 as startedat,
      (select coalesce(jsonb_agg(b), '[]') from (${busyLanes}) b) as busy,
      array(
        select c.origin || ' ' || c.sink from cooldown c where c.tenant = any (${tenants}::text[])
          and c.origin = any (${each(({ origin }) => origin)}::text[]) and c.sink = any (${each(({ sink }) => sink)}::text[])
          and c.until > statement_timestamp()) as cooling,
      (select coalesce(jsonb_agg(jsonb_build_object('tenant', b.tenant, 'value', b.value)), '[]') from block b
        where b.tenant = any (${[...tenants, '*']}::text[]) and b.kind = 'network') as networks,
      (select coalesce(jsonb_agg(${certificateColumns} || jsonb_build_object('origin', c.origin)), '[]')
        from client_certificate c where c.tenant = any (${tenants}::text[])
          and c.origin = any (${each(({ origin }) => origin)}::text[])) as certificates`;
  if (room === undefined) throw new Error('This query returns one row.');
  const cooling = new Set(room.cooling);
  const inFlight = new InFlight(places, room.busy);
  const turns = new Map<string, number>();
  const inTurn = questions
    .filter((question) => question.isAwaited && !cooling.has(keyOfPair(question)))
    // Tenants take turns at a host.
    .map((question) => {
      const lane = keyOfLane({ tenant: question.tenant, sinkhost: question.sinkHost });
      const turn = (turns.get(lane) ?? 0) + 1;
      turns.set(lane, turn);
      return { question, turn };
    })
    .sort((one, other) => one.turn - other.turn)
    .map(({ question }) => question);
  const chosen: NewQuestion[] = [];
  for (const question of inTurn) {
    const { sinkHost, tenant } = question;
    if (chosen.length === limit) break;
    if (inFlight.take({ tenant, sinkhost: sinkHost })) chosen.push(question);
  }
  return {
    chosen,
    now: new Date(room.now),
    startedAt: new Date(room.startedat),
    blockedNetworks: (tenant) =>
      room.networks.filter((block) => [tenant, '*'].includes(block.tenant)).map(({ value }) => value),
    certificates: new Map(room.certificates.map((each) => [each.origin, certificateOf(each)])),
  };
}
