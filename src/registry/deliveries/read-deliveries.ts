import type { components } from '../../base/contract/contract.gen.js';
import type { Database } from '../storage/database.js';
import type { delivery as DeliveryRow } from '../storage/generated/client.js';
import type { Language } from '../../base/texts/text.js';
import { outcomeKinds, outcomes, type OutcomeKind } from '../../consent/outcome.js';

type Presented = components['schemas']['Deliveries'];

export interface DeliveryReader {
  /** All zero if nothing was reported. Only admins see the status codes of webhooks. */
  read(
    pair: { tenant: string; origin: string; sink: string },
    isAdmin: boolean,
    language: Language,
  ): Promise<Presented>;
}

export function createDeliveryReader({ client }: Pick<Database, 'client'>): DeliveryReader {
  return {
    async read({ tenant, origin, sink }, isAdmin, language) {
      const row = await client.delivery.findUnique({ where: { origin_sink: { origin, sink }, tenant } });
      const [held] = await client.$queryRaw<Array<{ helduntil: Date }>>`
        select helduntil from "grant" where origin = ${origin} and sink = ${sink} and tenant = ${tenant}
          and state = 'live' and helduntil > now()`;
      const hold = held === undefined ? {} : { helduntil: held.helduntil.toISOString() };
      if (row === null) return { origin, sink, counts: {}, failures: 0, ...hold };
      const lastOutcome = row.lastoutcome as OutcomeKind;
      const { title, advice } = outcomes[lastOutcome];
      return {
        origin,
        sink,
        counts: countsOf(row),
        failures: Number(row.failures),
        ...(row.failingsince === null ? {} : { failingsince: row.failingsince.toISOString() }),
        ...(row.deliveredat === null ? {} : { deliveredat: row.deliveredat.toISOString() }),
        lastoutcome: lastOutcome,
        lastat: row.lastat.toISOString(),
        ...(isAdmin && row.laststatuscode !== null ? { laststatuscode: row.laststatuscode } : {}),
        ...hold,
        message: title[language],
        advice: advice && advice[language],
      };
    },
  };
}

function countsOf(row: DeliveryRow): Record<string, number> {
  const counts = outcomeKinds.map((kind) => [kind, Number(row[kind])] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
