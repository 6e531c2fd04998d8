import { until } from '../../../base/until.js';
import type { RejectedCallback } from '../../../consent/handshake.js';
import { hashCallbackKey, isSameHash } from '../../../registry/handshake/attempt.js';
import { callbackUnknown, readConsent } from '../../../registry/handshake/callback-consent.js';
import type { CallbackOutcome, Callbacks } from '../../../registry/handshake/callback.js';
import type { Origin } from '../../../consent/origin.js';

export interface RememberedHandshake {
  id: string;
  sink: string;
  origin: Pick<Origin, 'name' | 'judgement' | 'defaultRate' | 'grantSeconds'>;
  requestedRate: number | undefined;
}

/** The decision on one handshake. The first counts, as in a registry. */
export function rememberCallback({ id, sink, origin, requestedRate }: RememberedHandshake) {
  let keyHash: Uint8Array | undefined;
  let outcome: CallbackOutcome | undefined;
  const rejections = new WeakMap<object, RejectedCallback>();
  let count = 0;
  let wake = () => {};
  const expiresAt = new Date(Date.now() + origin.grantSeconds * 1_000);
  const pair = { origin: origin.name, sink };

  function check({ handshake, key }: { handshake: string; key: string }): void {
    const isMine = handshake === id && keyHash !== undefined && isSameHash(hashCallbackKey(key), keyHash);
    if (!isMine) throw callbackUnknown();
  }
  function decide(decision: CallbackOutcome): CallbackOutcome {
    if (outcome !== undefined) return { ...outcome, isFirst: false };
    outcome = decision;
    wake();
    return decision;
  }
  const callbacks: Pick<Callbacks, 'read' | 'grant' | 'refuse'> = {
    async read(key) {
      check(key);
      if (outcome !== undefined) return { ...outcome, isFirst: false };
      return {
        kind: 'open' as const,
        ...pair,
        description: undefined,
        isVerified: false,
        verifiedKey: undefined,
        tenant: 'assent check',
        rate: requestedRate ?? origin.defaultRate,
        grantedUntil: undefined,
        isRenewal: false,
        until: expiresAt,
        subscriptions: [],
        hasMore: false,
      };
    },
    async grant(request) {
      check(request);
      const consent = readConsent(request, { closed: undefined, offeredRate: requestedRate }, origin);
      if (!('error' in consent))
        return decide({ kind: 'granted', ...pair, isFirst: true, allowedRate: consent.allowedRate, expiresAt });
      const { allowedOrigin, allowedRate } = request;
      rejections.set(consent.error, {
        at: new Date().toISOString(),
        code: consent.code,
        allowedorigin: allowedOrigin,
        allowedrate: allowedRate,
        count: (count += 1),
      });
      throw consent.error;
    },
    async refuse(key) {
      check(key);
      return decide({ kind: 'refused', ...pair, isFirst: true, grantedUntil: undefined });
    },
  };
  return {
    callbacks,
    /** Why the call that got this error gave no consent. */
    rejectionOf: (error: object | undefined) => (error === undefined ? undefined : rejections.get(error)),
    expect: (hash: Uint8Array) => void (keyHash = hash),
    outcome: () => outcome,
    async decided(ms: number) {
      const decision = new Promise<void>((resolve) => (wake = resolve));
      if (outcome === undefined) await until(decision, { ms });
    },
  };
}
