import { parseOriginName } from '../../consent/origin.js';
import { formatRate, parseRate } from '../../consent/rate.js';
import { allow, originRepeated, type WebhookRequest, type WebhookResponse } from './exchange.js';
import type { OriginCheck } from './origin-policy.js';
import type { PendingRequests } from './pending.js';
import type { Verification } from './verification.js';

/** OPTIONS is supported, so this is no 405; and without WebHook headers it is no consent (section 4.2). */
const noConsent: WebhookResponse = { status: 200, headers: allow, body: undefined };

/**
 * Answers OPTIONS (webhook specification, sections 4.1 and 4.2). Rejects if a function or the store of the application
 * fails, which is no consent either.
 */
export async function answerHandshake(
  {
    policy,
    pending,
    verification,
  }: { policy: OriginCheck; pending: PendingRequests; verification: Verification | undefined },
  request: WebhookRequest,
  headers: Readonly<Record<string, string>>,
): Promise<WebhookResponse> {
  const asked = headers['webhook-request-origin']?.trim();
  if (asked === undefined) {
    return 'access-control-request-method' in headers ? { ...noConsent, passOn: true } : noConsent;
  }
  if (asked.includes(',')) return originRepeated;
  const origin = parseOriginName(asked);
  if (!origin.ok) return noConsent;
  const verdict = await policy(origin.name);
  if (verdict.kind === 'denied') return noConsent;
  const refusal = await verification?.refuseHandshake(origin.name, verdict, request);
  if (refusal !== undefined) return refusal;
  if (verdict.kind === 'allowed') {
    const consent = {
      'WebHook-Allowed-Origin': verdict.isAny ? '*' : asked,
      'WebHook-Allowed-Rate': formatRate(verdict.rate),
    };
    return { status: 200, headers: { ...allow, ...consent }, body: undefined };
  }
  const callback = headers['webhook-request-callback']?.trim();
  if (callback !== undefined) {
    const rate = parseRate(headers['webhook-request-rate'] ?? '');
    const requestedRate = rate === '*' ? undefined : rate;
    await pending.keep({ origin: origin.name, callback, requestedRate }, request.waitUntil);
  }
  return noConsent;
}
