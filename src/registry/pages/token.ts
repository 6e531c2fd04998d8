import { escapeHtml } from '../http/html-page.js';
import { landingTexts } from '../../base/texts/landing.js';
import { textIn, type Language } from '../../base/texts/text.js';

/** Who issues tokens for this registry. */
export interface TokenSources {
  /** The registry issues tokens itself; `command` is what prints one, without its scope. */
  development?: { command: string } | undefined;
  /** The issuers of the configuration. */
  issuers: readonly string[];
}

/** Where a token comes from. `scopes` are those that the reader may need. */
export function tokenMarkup({ development, issuers }: TokenSources, scopes: readonly string[], language: Language) {
  const { fromDevelopment, fromIssuers, claims } = landingTexts.token;
  const commands = scopes.map((scope) => escapeHtml(`${development?.command ?? ''} --scope ${scope}`)).join('\n');
  const names = issuers.map((issuer) => `<li><code>${escapeHtml(issuer)}</code></li>\n`);
  return [
    ...(development ? [`<p>${textIn(fromDevelopment, language)}</p>\n<pre><code>${commands}</code></pre>\n`] : []),
    ...(issuers.length > 0 ? [`<p>${textIn(fromIssuers, language)}</p>\n<ul>\n${names.join('')}</ul>\n`] : []),
    `<p>${textIn(claims, language)}</p>\n`,
  ].join('');
}
