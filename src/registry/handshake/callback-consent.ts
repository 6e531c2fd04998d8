import { RegistryError, type FaultRule } from '../../base/errors.js';
import type { Origin } from '../../consent/origin.js';
import { parseRate, type Rate } from '../../consent/rate.js';
import { handshakeTexts } from '../../base/texts/handshakes.js';
import { judgeOrigin, mistakesOfRate, type Mistake } from '../../consent/judgement.js';
import type { RejectionCode } from '../../consent/handshake.js';

/** Why a call grants nothing, and the error that its caller gets. */
export interface Rejection {
  code: RejectionCode;
  error: RegistryError;
}

interface CallbackConsent {
  allowedOrigin: string | undefined;
  allowedRate: Rate;
  tolerated: Mistake[];
}

/** What a call can still decide. */
interface Offer {
  /** Why the key is no longer valid. */
  closed: 'callback_closed' | 'callback_expired' | undefined;
  /** The requests per minute that were requested with the key. */
  offeredRate: number | undefined;
}

/** Judged like a response, except that the origin and the rate may be left out (section 4.2.2). */
export function readConsent(
  request: { allowedOrigin: string | undefined; allowedRate: string | undefined },
  { closed, offeredRate: offered }: Offer,
  origin: Pick<Origin, 'name' | 'judgement' | 'defaultRate'>,
): CallbackConsent | Rejection {
  if (closed !== undefined) return { code: closed, error: callbackUnknown() };
  const { allowedOrigin, allowedRate: text } = request;
  const rate = text === undefined ? undefined : parseRate(text);
  if (text !== undefined && rate === undefined) return { code: 'rate_malformed', error: rateMalformed() };
  const ours =
    allowedOrigin === undefined
      ? { allowedOrigin, tolerated: [] }
      : judgeOrigin({ origin: origin.name, judgement: origin.judgement }, [allowedOrigin]);
  if (typeof ours === 'string') return { code: ours, error: otherOrigin(ours, origin.name) };

  const tolerated: Mistake[] =
    text !== undefined && rate !== undefined
      ? mistakesOfRate(text, rate, offered)
      : offered === undefined
        ? ['rate_defaulted']
        : [];
  return {
    allowedOrigin: ours.allowedOrigin,
    allowedRate: rate ?? offered ?? origin.defaultRate,
    tolerated: [...ours.tolerated, ...tolerated],
  };
}

/** The same error for a wrong, an expired and a closed key. */
export function callbackUnknown(): RegistryError {
  return new RegistryError('callback_unknown', handshakeTexts.callbackUnknown);
}

function otherOrigin(rule: FaultRule, origin: string): RegistryError {
  return new RegistryError('invalid_request', handshakeTexts.otherOrigin, {
    faults: [{ pointer: 'header/webhook-allowed-origin', rule, detail: handshakeTexts.sendOrigin(origin) }],
  });
}

function rateMalformed(): RegistryError {
  return new RegistryError('callback_rate_malformed', handshakeTexts.rateMalformed, {
    faults: [{ pointer: 'header/webhook-allowed-rate', rule: 'rate_malformed', detail: handshakeTexts.sendRate }],
  });
}
