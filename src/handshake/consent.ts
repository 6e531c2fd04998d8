import type { Consent } from '../grants/write-grant.js';
import type { Origin } from '../origins/origin.js';
import type { Judgement } from './exchange.js';
import type { Claim } from './handshake.js';

export type Granted = Extract<Judgement, { kind: 'granted' }>;

/** What a target gives by its answer, or the origin's policy in place of one that does not know the handshake. */
export type Given = Pick<Consent, 'basis' | 'allowedOrigin' | 'allowedRate' | 'warnings'>;

export function givenByAnswer({ allowedOrigin, allowedRate, warnings }: Granted): Given {
  return { basis: 'response', allowedOrigin, allowedRate, warnings };
}

/** Undefined where nothing is given. */
export function givenBy(judgement: Judgement, { unsupportedRate }: Origin): Given | undefined {
  if (judgement.kind === 'granted') return givenByAnswer(judgement);
  if (judgement.verdict !== 'unsupported' || unsupportedRate === undefined) return undefined;
  return { basis: 'policy', allowedOrigin: undefined, allowedRate: unsupportedRate, warnings: [] };
}

/** As it is put on the grant of the pair that was asked for. */
export function consentOf(claim: Claim, origin: Origin, given: Given, jitter: number): Consent {
  return {
    tenant: claim.tenant,
    origin: claim.origin,
    sink: claim.sink,
    handshake: claim.id,
    reference: undefined,
    ...given,
    requestedRate: claim.requestedRate,
    lease: { seconds: origin.leaseSeconds },
    jitter,
  };
}
