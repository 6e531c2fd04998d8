import { RegistryError } from '../errors.js';
import type { Answer, Call, Handlers } from '../http/handler.js';
import { escapeHtml, htmlPage } from '../http/html-page.js';
import type { CallbackGrant, GrantByCallback } from './callback.js';

type CallbackOperation = 'grantByGet' | 'grantByPost';

/** GET and POST do the same (webhook specification, section 4.1.3); HEAD never gets here; a prefetch grants nothing. */
export function createCallbackHandlers({
  grantByCallback,
}: {
  grantByCallback: GrantByCallback;
}): Handlers<CallbackOperation> {
  const grant = async ({
    path,
    query,
    header,
    requestId,
    preferred,
  }: Call<CallbackOperation>): Promise<Answer<CallbackOperation>> => {
    if (/prefetch|preview|prerender/i.test(`${header['sec-purpose'] ?? ''} ${header['purpose'] ?? ''}`)) {
      throw new RegistryError(
        'conflict',
        'A browser fetched this ahead of time; nothing was granted. Open it to grant.',
      );
    }
    const granted = await grantByCallback({
      handshake: path.handshake,
      key: query.key,
      allowedOrigin: header['webhook-allowed-origin'],
      allowedRate: header['webhook-allowed-rate'],
      requestId,
    });
    const { origin, sink, allowedRate, expiresAt } = granted;
    const isBrowser = preferred('application/json', 'text/html') === 'text/html';
    return {
      status: 200,
      headers: { Vary: 'Accept' },
      body: { granted: true, origin, sink, allowedrate: allowedRate, expiresat: expiresAt.toISOString() },
      ...(isBrowser ? { html: callbackPage(granted) } : {}),
    };
  };
  return { grantByGet: grant, grantByPost: grant };
}

/** What a person sees who opened the callback URL in a browser. */
function callbackPage({ origin, sink, allowedRate, expiresAt, isFirst }: CallbackGrant): string {
  const rate = allowedRate === '*' ? 'without a limit' : `at most ${allowedRate} a minute`;
  return htmlPage(
    isFirst ? 'Permission given' : 'The permission stands',
    `<p>Events may be sent to this webhook. You can close this page.</p>
<dl>
<dt>Sender</dt><dd>${escapeHtml(origin)}</dd>
<dt>Webhook</dt><dd>${escapeHtml(sink.split('?')[0] ?? '')}</dd>
<dt>Rate</dt><dd>${rate}</dd>
<dt>Until</dt><dd><time datetime="${expiresAt.toISOString()}">${expiresAt.toUTCString()}</time></dd>
</dl>`,
  );
}
