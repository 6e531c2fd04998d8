import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { OperationResponse, OperationRequest, Handlers } from '../http/handler.js';
import { parseRate } from '../../consent/rate.js';
import { handshakeTexts } from '../../base/texts/handshakes.js';
import { callbackUnknown } from './callback-consent.js';
import { callbackPage, questionPage } from './callback-page.js';
import { Callbacks, type CallbackOutcome } from './callback.js';

type CallbackOperation = 'grantByGet' | 'grantByPost';
export type CallbackRequest = Pick<
  OperationRequest<CallbackOperation>,
  'path' | 'query' | 'header' | 'body' | 'preferred' | 'language' | 'requestId'
>;

export function routes({ counter, database }: Context): Handlers<CallbackOperation> {
  return callbackRoutes(
    new Callbacks({
      database,
      random: Math.random,
      onDecided: ({ tenant, origin, verdict }) =>
        counter.count(tenant, origin, { kind: 'handshake', code: verdict }, 1),
    }),
  );
}

/**
 * GET and POST from programs grant (webhook specification, section 4.1.3). A client that prefers HTML is a person or a
 * mail scanner: it gets a page, and only the form on that page decides. HEAD never gets here.
 */
export function callbackRoutes(callbacks: Pick<Callbacks, 'read' | 'grant' | 'refuse'>) {
  async function handle(call: CallbackRequest): Promise<OperationResponse<CallbackOperation>> {
    const { header, requestId, body: form } = call;
    if (/prefetch|preview|prerender/i.test(`${header['sec-purpose'] ?? ''} ${header['purpose'] ?? ''}`)) {
      throw new RegistryError('conflict', handshakeTexts.fetchedAhead);
    }
    const key = { handshake: call.path.handshake, key: call.query.key };
    const isBrowser = call.preferred('application/json', 'text/html') === 'text/html';
    const { language } = call;
    const headers = { Vary: 'Accept' };
    const page = (html: string, status: 200 | 400 = 200) => ({ status, headers, html });

    const decision = form?.decision;
    if (isBrowser && decision === undefined) return page(callbackPage(await callbacks.read(key), language));
    const formRate = decision === undefined || !form?.rate ? undefined : form.rate;
    if (isBrowser && decision === 'allow' && formRate !== undefined && parseRate(formRate) === undefined) {
      const asked = await callbacks.read(key);
      return asked.kind === 'open'
        ? page(questionPage(asked, language, formRate), 400)
        : page(callbackPage(asked, language));
    }
    const outcome =
      decision === 'refuse'
        ? await callbacks.refuse(key, requestId)
        : await callbacks.grant({
            ...key,
            requestId,
            allowedOrigin: header['webhook-allowed-origin'],
            allowedRate: formRate ?? header['webhook-allowed-rate'],
          });
    if (isBrowser) return page(callbackPage(outcome, language));
    // A program that gives consent only checks whether the response is a success.
    if (outcome.kind === 'refused' && decision !== 'refuse') throw callbackUnknown();
    return { status: 200, headers, body: bodyOf(outcome) };
  }
  return { grantByGet: handle, grantByPost: handle } satisfies Handlers<CallbackOperation>;
}

function bodyOf(outcome: CallbackOutcome) {
  const { origin, sink } = outcome;
  if (outcome.kind === 'refused') return { granted: false, origin, sink };
  const { allowedRate, expiresAt } = outcome;
  return { granted: true, origin, sink, allowedrate: allowedRate, expiresat: expiresAt.toISOString() };
}
