import { escapeHtml } from '../http/html-page.js';
import { landingTexts } from '../../base/texts/landing.js';
import { textIn, type Language, type Text } from '../../base/texts/text.js';
import { frame } from './frame.js';
import type { Guide } from './guides.js';

export interface LandingSettings {
  version: string;
  apiVersion: string;
  tokens: TokenSources;
  /** Prints a link to the console that signs in; undefined in production. */
  consoleCommand?: string | undefined;
  /** Where health and metrics are; undefined if strangers read this page. */
  operationsUrl?: string | undefined;
  contact?: string | undefined;
  hasSecurityText: boolean;
  guides: readonly Guide[];
}

/** Which guides each door leads to, as far as they exist. */
const guidesOf = { consumer: 'consumers/', sender: 'senders/', admin: 'admins/' };

/** The page at `/`. */
export function landingPage(settings: LandingSettings, language: Language): Buffer {
  const text = (value: Text) => textIn(value, language);
  const { title, lead, console: place, token, health, links } = landingTexts;
  const { version, apiVersion, consoleCommand, operationsUrl, contact, hasSecurityText } = settings;
  const listener = operationsUrl === undefined ? '' : escapeHtml(operationsUrl);
  const watched = ['/readyz', '/metrics'].map((path) => link(`${listener}${path}`, `${listener}${path}`)).join(', ');
  const content = `<h1>${text(title)}</h1>
<p class="lead">${text(lead)}</p>
<section class="door" aria-labelledby="console">
<h2 id="console">${link('console', text(place.title))}</h2>
<p>${text(place.does)}</p>
${
  consoleCommand === undefined
    ? ''
    : `<p>${text(place.development)}</p>
<pre><code>${escapeHtml(consoleCommand)}</code></pre>
`
}</section>
<div class="doors">
${(['consumer', 'sender', 'admin'] as const).map((role) => doorMarkup(role, settings, text)).join('')}</div>
<h2>${text(token.title)}</h2>
${tokenMarkup(settings.tokens, ['assent:subscribe', 'assent:deliver', 'assent:admin'], language)}<h2>${text(health.title)}</h2>
<p>${escapeHtml(text(health.running(version, apiVersion)))} ${text(health.isPrivate)}${
    operationsUrl === undefined ? '' : ` ${text(health.here)} ${watched}.`
  }</p>
<h2>${text(links.title)}</h2>
<ul class="links">
<li>${link('docs', text(landingTexts.frame.menu.docs))}</li>
<li>${link('guides/', text(landingTexts.allGuides))}</li>
<li>${link('openapi.json', text(links.contract))}</li>
${hasSecurityText ? `<li>${link('.well-known/security.txt', text(links.security))}</li>\n` : ''}${
    contact === undefined ? '' : `<li>${text(links.contact)}: ${escapeHtml(contact)}</li>\n`
  }</ul>`;
  return frame({ language, title: `Assent: ${text(title)}`, root: '', place: '', content });
}

function doorMarkup(role: keyof typeof guidesOf, { guides }: LandingSettings, text: (value: Text) => string): string {
  const { doors, reference, ownerReference } = landingTexts;
  const { title, role: name, steps } = doors[role];
  const own = guides.filter(({ path }) => path.startsWith(guidesOf[role]));
  const entries = [
    // Written in English.
    ...own.map((guide) => `<a href="guides/${guide.path}" hreflang="en" lang="en">${escapeHtml(guide.title)}</a>`),
    link(`docs#${role}`, text(reference)),
    ...(role === 'consumer' ? [link('docs#webhook-owner', text(ownerReference))] : []),
  ];
  return `<section class="door" aria-labelledby="${role}">
<h2 id="${role}">${text(title)}</h2>
<p class="soft">${text(name)}</p>
<ol>
${steps.map((step) => `<li>${text(step)}</li>\n`).join('')}</ol>
<ul class="links">
${entries.map((entry) => `<li>${entry}</li>\n`).join('')}</ul>
</section>
`;
}

const link = (address: string, name: string) => `<a href="${address}">${name}</a>`;

/** What a program gets at `/`. The addresses are relative: a proxy may have put a path in front. */
export function landingJson({ version, apiVersion, hasSecurityText }: LandingSettings): Buffer {
  const links = {
    console: 'console',
    reference: 'docs',
    guides: 'guides/',
    contract: 'openapi.json',
    ...(hasSecurityText ? { security: '.well-known/security.txt' } : {}),
  };
  return Buffer.from(JSON.stringify({ name: 'Assent', version, apiversion: apiVersion, links }));
}

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
