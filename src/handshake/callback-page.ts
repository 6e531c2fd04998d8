import { createHash } from 'node:crypto';
import type { CallbackGrant } from './callback.js';

const style =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:38rem;margin:4rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}' +
  'dt{font-weight:600}dd{margin:0 0 .8rem;overflow-wrap:anywhere}';

/** The page's one style sheet, for the Content-Security-Policy of its answer. */
export const pageStyleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** What a person sees who opened the callback URL in a browser. */
export function callbackPage({ origin, sink, allowedRate, expiresAt, isFirst }: CallbackGrant): string {
  const rate = allowedRate === '*' ? 'without a limit' : `at most ${allowedRate} a minute`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Permission given</title>
<style>${style}</style>
<h1>${isFirst ? 'Permission given' : 'The permission stands'}</h1>
<p>Events may be sent to this webhook. You can close this page.</p>
<dl>
<dt>Sender</dt><dd>${escape(origin)}</dd>
<dt>Webhook</dt><dd>${escape(sink.split('?')[0] ?? '')}</dd>
<dt>Rate</dt><dd>${rate}</dd>
<dt>Until</dt><dd><time>${expiresAt.toISOString()}</time></dd>
</dl>
</html>
`;
}

function escape(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  return text.replace(/[&<>"']/g, (character) => names[character] ?? '');
}
