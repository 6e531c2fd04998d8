import { landingTexts } from '../../base/texts/landing.js';
import { textIn } from '../../base/texts/text.js';
import type { ConsoleIssuer } from './console-issuers.js';

/**
 * The policy of the console: everything comes from this registry, no script can write markup, and no other page may
 * frame it. Only tokens come from elsewhere.
 */
export const consolePolicy = (issuers: readonly ConsoleIssuer[]) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
  `connect-src ${["'self'", ...new Set(issuers.map((each) => new URL(each.token_endpoint).origin))].join(' ')}; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export interface ConsolePageSettings {
  version: string;
  /** Prints a link that signs in; only a development registry has one. */
  developmentCommand?: string | undefined;
  issuers: readonly ConsoleIssuer[];
}

/** The page that loads the console (src/console/). What it must know of the registry is in the page, as JSON. */
export function consolePage(settings: ConsolePageSettings): Buffer {
  const json = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Assent</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/console.css">
<script type="application/json" id="settings">${json}</script>
<script type="module" src="assets/console.js"></script>
<div id="console"><noscript><p>${textIn(landingTexts.frame.needsScript, 'en')}</p></noscript></div>
</html>
`);
}
