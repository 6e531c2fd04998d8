import { readConfig } from '../../../registry/app/config.js';
import { UsageError } from '../../../base/errors.js';
import { isName, isReserved } from '../../../base/formats/name.js';
import { openDevelopmentIssuer } from '../../../registry/tokens/development-issuer.js';
import { scopes as known, type Scope } from '../../../base/contract/principal.js';

export interface TokenRequest {
  tenant: string;
  subscriber: string;
  /** The id of who signed in to it. */
  person?: string | undefined;
  scopes: readonly string[];
  minutes: number;
  claims?: Readonly<Record<string, unknown>>;
}

/** Throws an Error for people: a UsageError for a wrong argument, or if the development issuer is off. */
export async function createToken(request: TokenRequest, env: NodeJS.ProcessEnv): Promise<string> {
  const config = readConfig(env);
  const isScope = (scope: string): scope is Scope => (known as readonly string[]).includes(scope);
  const scopes = request.scopes.filter(isScope);
  if (scopes.length === 0 || scopes.length < request.scopes.length) {
    throw new UsageError(`--scope must be one or more of ${known.join(', ')}.`);
  }
  for (const name of ['tenant', 'subscriber'] as const) {
    if (request[name].trim() === '') throw new UsageError(`--${name} must not be empty.`);
    if (!isName(request[name]) || isReserved(request[name])) {
      throw new UsageError(`--${name} must be a visible name without * that is not reserved.`);
    }
  }
  if (!(request.minutes > 0 && request.minutes <= 1_440)) {
    throw new UsageError('--minutes must be a number above 0 and at most 1440.');
  }
  if (!config.tokens.developmentIssuer) {
    throw new Error(
      'The development issuer is off here. Get a token from your issuer, or set ASSENT_DEVELOPMENT_ISSUER=true.',
    );
  }
  const issuer = await openDevelopmentIssuer(config.dataFolder);
  const { tenant, subscriber, person, claims } = request;
  return issuer.sign({ tenant, subscriber, person, scopes, lifetimeSeconds: Math.ceil(request.minutes * 60), claims });
}

/** From `name=value`. A repeated name makes an array. Throws UsageError. */
export function claimsOf(pairs: readonly string[]): Record<string, string | string[]> {
  const claims = new Map<string, string | string[]>();
  for (const pair of pairs) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw new UsageError('--claim must be NAME=VALUE.');
    const earlier = claims.get(name);
    claims.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return Object.fromEntries(claims);
}
