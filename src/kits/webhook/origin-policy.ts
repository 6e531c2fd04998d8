import { parseOriginName } from '../../consent/origin.js';
import { maxRate, type Rate } from '../../consent/rate.js';

/** Who may send: a rate, `true` for `rate` of the settings, `false`, or `'later'` to decide with the callback URL. */
export type OriginDecision = Rate | boolean | 'later';

/**
 * The origins that may send: names with their rates, names that share `rate`, `'*'` for every origin at `rate`, or a
 * function that is asked at each handshake and at each delivery.
 */
export type AllowedOrigins =
  | '*'
  | readonly string[]
  | Readonly<Record<string, Rate>>
  | ((origin: string) => OriginDecision | Promise<OriginDecision>);

/** Requests per minute, for each origin. */
export type RateOfOrigins = Rate | ((origin: string) => Rate | Promise<Rate>);

/** `isAny`: by the asterisk and not by its name. */
export type OriginVerdict = { kind: 'allowed'; rate: Rate; isAny: boolean } | { kind: 'denied' } | { kind: 'later' };

/** `origin` is a name that `parseOriginName` returned. Rejects if a function of the application fails or is wrong. */
export type OriginCheck = (origin: string) => Promise<OriginVerdict>;

/** Throws an Error that names the wrong setting. */
export function createOriginPolicy(origins: AllowedOrigins, rate: RateOfOrigins | undefined): OriginCheck {
  if (rate !== undefined && typeof rate !== 'function') checkRate(rate, '`rate`');
  const rateOf = async (origin: string): Promise<Rate> => {
    if (rate === undefined) throw new Error(`\`origins\` returned true for ${origin}, so the webhook needs \`rate\`.`);
    return typeof rate === 'function' ? checkRate(await rate(origin), `\`rate\` of ${origin}`) : rate;
  };
  if (typeof origins === 'function') {
    return async (origin) => {
      const decision = await origins(origin);
      if (decision === false) return { kind: 'denied' };
      if (decision === 'later') return { kind: 'later' };
      const allowed = decision === true ? await rateOf(origin) : checkRate(decision, `\`origins\` of ${origin}`);
      return { kind: 'allowed', rate: allowed, isAny: false };
    };
  }
  const rates = listed(origins, rate);
  return async (origin) => {
    const isAny = !rates.has(origin);
    const allowed = rates.get(isAny ? '*' : origin);
    if (allowed === undefined) return { kind: 'denied' };
    return { kind: 'allowed', rate: allowed === 'shared' ? await rateOf(origin) : allowed, isAny };
  };
}

/** By name in lower case, or `*`. */
function listed(
  origins: Exclude<AllowedOrigins, (origin: string) => unknown>,
  rate: RateOfOrigins | undefined,
): Map<string, Rate | 'shared'> {
  const isRecord = typeof origins === 'object' && origins !== null && !Array.isArray(origins);
  if (!isRecord && origins !== '*' && !Array.isArray(origins)) {
    throw new Error('`origins` is an object with rates by name, a list of names, "*", or a function.');
  }
  const entries: Array<[string, Rate | 'shared']> = isRecord
    ? Object.entries(origins as Readonly<Record<string, Rate>>)
    : [origins as string | readonly string[]].flat().map((name) => [name, 'shared']);
  if (entries.length === 0) throw new Error('`origins` is empty, so no system could ever send. Name those that may.');
  if (isRecord && rate !== undefined) throw new Error('`origins` has a rate for each name, so leave out `rate`.');
  if (!isRecord && rate === undefined) {
    throw new Error('`origins` has no rates, so the webhook needs `rate`: requests per minute, or "*" for no limit.');
  }
  return new Map(
    entries.map(([name, allowed]) => {
      const written = JSON.stringify(name);
      const parsed = name === '*' ? { ok: true as const, name } : parseOriginName(String(name));
      if (!parsed.ok) throw new Error(`\`origins\` has ${written}. ${parsed.detail.en}`);
      return [parsed.name, allowed === 'shared' ? allowed : checkRate(allowed, `\`origins\` of ${written}`)];
    }),
  );
}

/** Returns the rate, or throws an Error that says where it is wrong. */
export function checkRate(rate: unknown, place: string): Rate {
  if (rate === '*' || (Number.isInteger(rate) && (rate as number) > 0 && (rate as number) <= maxRate)) {
    return rate as Rate;
  }
  const written = typeof rate === 'number' ? String(rate) : JSON.stringify(rate);
  throw new Error(
    `${place}: a rate is a positive integer of requests per minute, or "*" for no limit, not ${written}.`,
  );
}
