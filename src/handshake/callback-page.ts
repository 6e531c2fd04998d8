import { escapeHtml, htmlPage } from '../http/html-page.js';
import type { CallbackGrant } from './callback.js';

/** What a person sees who opened the callback URL in a browser. */
export function callbackPage({ origin, sink, allowedRate, expiresAt, isFirst }: CallbackGrant): string {
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
