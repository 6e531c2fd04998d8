import { readFileSync } from 'node:fs';
import { ConfigurationError } from '../../base/errors.js';
import type { CallerEntry } from './callers.js';
import { readCallers } from './read-callers.js';

/** Every name, for the test of the docs. */
export const egressSettings = [
  'EGRESS_CALLERS',
  'EGRESS_CALLERS_FILE',
  'EGRESS_ORIGIN_CLAIM',
  'EGRESS_TOKEN_FILE',
  'EGRESS_TOKEN_URL',
  'EGRESS_CLIENT_ID',
  'EGRESS_CLIENT_SECRET',
  'EGRESS_REGISTRY_CA_FILE',
] as const;

export interface OwnSettings {
  callers: CallerEntry[];
  originClaim: string;
  /** PEM. */
  registryCa: string | undefined;
}

interface Surroundings {
  isProduction: boolean;
  /** Tokens of issuers are accepted. */
  hasIssuers: boolean;
}

/** Throws a ConfigurationError with every fault. An unknown name is one: it is a typo. */
export function readEgressSettings(env: NodeJS.ProcessEnv, { isProduction, hasIssuers }: Surroundings): OwnSettings {
  const of = (name: (typeof egressSettings)[number]) => env[name] || undefined;
  // Kubernetes sets the others for a service that is called egress.
  const isKnown = (name: string) =>
    (egressSettings as readonly string[]).includes(name) || /^EGRESS_(?:SERVICE|PORT)(?:_|$)/.test(name);
  const faults = Object.keys(env).flatMap((name) =>
    name.startsWith('EGRESS_') && env[name] && !isKnown(name) ? [`${name} is not a setting`] : [],
  );
  const textOf = (name: (typeof egressSettings)[number]): string | undefined => {
    const path = of(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      faults.push(`${name} cannot be read: ${(error as Error).message}`);
      return undefined;
    }
  };

  const place = of('EGRESS_CALLERS') === undefined ? 'EGRESS_CALLERS_FILE' : 'EGRESS_CALLERS';
  const list = of('EGRESS_CALLERS') ?? textOf('EGRESS_CALLERS_FILE');
  const read = list === undefined ? undefined : readCallers(list);
  if (read?.ok === false) faults.push(...read.faults.map((fault) => `${place} ${fault}`));
  const callers = read?.ok ? read.entries : [];
  if (callers.length === 0 && !hasIssuers && read?.ok !== false && of(place) === undefined) {
    faults.push(
      'EGRESS_CALLERS is required, or EGRESS_CALLERS_FILE or ASSENT_ISSUERS: without them no caller is known',
    );
  }
  if (read?.ok && callers.length === 0 && !hasIssuers) faults.push(`${place} must not be empty`);
  if (of('EGRESS_CALLERS') && of('EGRESS_CALLERS_FILE')) {
    faults.push('EGRESS_CALLERS_FILE contradicts EGRESS_CALLERS; set only one of them');
  }

  const tokenUrl = of('EGRESS_TOKEN_URL');
  textOf('EGRESS_TOKEN_FILE');
  if (of('EGRESS_TOKEN_FILE') && tokenUrl)
    faults.push('EGRESS_TOKEN_URL contradicts EGRESS_TOKEN_FILE; set only one of them');
  if (tokenUrl && !/^https?:$/.test(URL.canParse(tokenUrl) ? new URL(tokenUrl).protocol : '')) {
    faults.push('EGRESS_TOKEN_URL must be an http or https URL');
  }
  if (tokenUrl && !(of('EGRESS_CLIENT_ID') && of('EGRESS_CLIENT_SECRET'))) {
    faults.push('EGRESS_TOKEN_URL needs EGRESS_CLIENT_ID and EGRESS_CLIENT_SECRET');
  }
  if (isProduction && !of('EGRESS_TOKEN_FILE') && !tokenUrl) {
    faults.push('EGRESS_TOKEN_FILE is required in production, or EGRESS_TOKEN_URL');
  }
  const registryCa = textOf('EGRESS_REGISTRY_CA_FILE');
  if (faults.length > 0) throw new ConfigurationError(faults);
  return { callers, originClaim: of('EGRESS_ORIGIN_CLAIM') ?? 'origin', registryCa };
}
