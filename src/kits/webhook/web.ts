// The package on edge runtimes, with nothing but web standards: no module of Node, and nothing that such a runtime refuses
// outside of requests (timers, random values, I/O). `index.ts` has the same exports.

import { fetchCaller } from './fetch-caller.js';
import { createWebhookWith, type Webhook, type WebhookSettings } from './webhook.js';

export { Gone, RetryLater } from './delivery.js';
export type { AuthenticateRequest } from './authentication.js';
export type { CallbackStatus, CallbackSettings, Pending, PendingRequest, PendingStore } from './pending.js';
export type { CloudEvent } from './cloud-event.js';
export type { Content, Receive, Received } from './delivery.js';
export type { DeliveryRequest, ReceivedDelivery, WaitUntil, WebhookRequest, WebhookResponse } from './exchange.js';
export type { AllowedOrigins, OriginDecision, RateOfOrigins } from './origin-policy.js';
export type { LargeIntegers } from './parse-data.js';
export type { RequestCounter } from './counter.js';
export type { KeySource, Refused, VerifyFault, VerifySettings } from './verification.js';
export type { ReplayStore } from './replays.js';
export type { Webhook, WebhookSettings } from './webhook.js';

/**
 * Creates the receiver's side of "HTTP 1.1 Web Hooks for Event Delivery": the handshake (section 4), access tokens
 * (section 3), events in every content mode, the allowed rate, and the responses that the text requires (section 2.2).
 * Throws an Error that says which setting is wrong.
 */
export function createWebhook(settings: WebhookSettings): Webhook {
  return createWebhookWith(fetchCaller, settings);
}
