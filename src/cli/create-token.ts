import { readConfig } from '../config.js';
import { UsageError } from '../errors.js';
import { openDevelopmentIssuer } from '../http/development-issuer.js';
import { scopes as known, type Scope } from '../http/principal.js';

export interface TokenRequest {
  tenant: string;
  subscriber: string;
  scopes: readonly string[];
  minutes: number;
}

/** Throws an Error for people: a UsageError for an unknown scope or a senseless time, or the service is no issuer. */
export async function createToken(request: TokenRequest, env: NodeJS.ProcessEnv): Promise<string> {
  const config = readConfig(env);
  const isScope = (scope: string): scope is Scope => (known as readonly string[]).includes(scope);
  const scopes = request.scopes.filter(isScope);
  if (scopes.length === 0 || scopes.length < request.scopes.length) {
    throw new UsageError(`--scope takes one or more of ${known.join(', ')}.`);
  }
  for (const name of ['tenant', 'subscriber'] as const) {
    if (request[name].trim() === '') throw new UsageError(`--${name} takes a name.`);
  }
  if (!(request.minutes > 0 && request.minutes <= 1_440)) {
    throw new UsageError('--minutes takes a number above 0, at most 1440.');
  }
  if (!config.developmentIssuer) {
    throw new Error(
      'The service issues no tokens here: get one from your issuer, or set ASSENT_DEVELOPMENT_ISSUER=true.',
    );
  }
  const issuer = await openDevelopmentIssuer(config.dataFolder);
  const { tenant, subscriber } = request;
  return issuer.sign({ tenant, subscriber, scopes, lifetimeSeconds: Math.ceil(request.minutes * 60) });
}
