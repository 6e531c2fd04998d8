import type { Context } from '../context.js';
import { RegistryError } from '../../base/errors.js';
import type { OperationResponse, OperationRequest, Handlers } from '../http/handler.js';
import { siteOf, type Site } from '../http/html-page.js';
import { parseRate } from '../../consent/rate.js';
import { undecidedTexts } from '../../base/texts/handshakes.js';
import { callerOf } from './callback-caller.js';
import { callbackUnknown } from './callback-consent.js';
import { callbackPage, questionPage } from './callback-page.js';
import { Callbacks, type CallbackOutcome } from './callback.js';

type CallbackOperation = 'decideCallbackByGet' | 'decideCallback';
export type CallbackRequest = Pick<
  OperationRequest<CallbackOperation>,
  'path' | 'query' | 'header' | 'body' | 'preferred' | 'language' | 'requestId'
>;

export function routes({ config, counter, database }: Context): Handlers<CallbackOperation> {
  return callbackRoutes(
    new Callbacks({
      database,
      random: Math.random,
      onDecided: ({ verdict, ...pair }) => counter.count(pair, { kind: 'handshake', code: verdict }, 1),
    }),
    config.publicUrl,
    siteOf(config),
  );
}

/** GET and POST from programs grant. A person gets a page, and only the form on that page decides. HEAD never gets here. */
export function callbackRoutes(
  callbacks: Pick<Callbacks, 'read' | 'grant' | 'refuse'>,
  publicUrl: string | undefined,
  site: Site,
) {
  async function handle(call: CallbackRequest, isPost: boolean): Promise<OperationResponse<CallbackOperation>> {
    const { header, requestId, body: form } = call;
    const prefersPage = call.preferred('application/json', 'text/html') === 'text/html';
    const caller = callerOf({ isPost, header, prefersPage, hasDecision: form?.decision !== undefined }, publicUrl);
    if (caller !== 'program' && caller !== 'person') {
      throw new RegistryError('callback_undecided', undecidedTexts[caller]);
    }
    const isPerson = caller === 'person';
    const key = { handshake: call.path.handshake, key: call.query.key };
    const headers = { Vary: 'Accept' };
    const language = form?.language ?? call.language;
    const shown = { language, site };
    const page = (html: string, status: 200 | 400 = 200) => ({
      status,
      headers: { ...headers, 'Content-Language': language },
      html,
    });

    const decision = form?.decision;
    if (isPerson && decision === undefined) return page(callbackPage(await callbacks.read(key), shown));
    const formRate = decision === undefined || !form?.rate ? undefined : form.rate;
    if (isPerson && decision === 'allow' && formRate !== undefined && parseRate(formRate) === undefined) {
      const asked = await callbacks.read(key);
      return asked.kind === 'open' ? page(questionPage(asked, shown, formRate), 400) : page(callbackPage(asked, shown));
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
    if (isPerson) return page(callbackPage(outcome, shown));
    // A program that gives consent only checks whether the response is a success.
    if (outcome.kind === 'refused' && decision !== 'refuse') throw callbackUnknown();
    return { status: 200, headers, body: bodyOf(outcome) };
  }
  return {
    decideCallbackByGet: (call: CallbackRequest) => handle(call, false),
    decideCallback: (call: CallbackRequest) => handle(call, true),
  } satisfies Handlers<CallbackOperation>;
}

function bodyOf(outcome: CallbackOutcome) {
  const { origin, sink } = outcome;
  if (outcome.kind === 'refused') return { granted: false, origin, sink };
  const { allowedRate, expiresAt } = outcome;
  return { granted: true, origin, sink, allowedrate: allowedRate, expiresat: expiresAt.toISOString() };
}
