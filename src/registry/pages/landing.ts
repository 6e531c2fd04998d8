import { apiVersion } from '../../base/contract/contract.gen.js';
import { pageTexts } from '../../base/texts/callback-page.js';
import { landingTexts } from '../../base/texts/landing.js';
import { languages, textIn, type Language, type Text } from '../../base/texts/text.js';
import { version } from '../../base/version.js';
import { escapeHtml, type Site } from '../http/html-page.js';
import { frame } from './frame.js';

export interface LandingSettings {
  site: Site;
  tokens: TokenSources;
  /** Prints a link to the console that signs in; undefined in production. */
  consoleCommand?: string | undefined;
  /** Where health and metrics are; undefined if strangers read this page. */
  operationsUrl?: string | undefined;
}

/** The page at `/`. */
export function landingPage(settings: LandingSettings, language: Language): Buffer {
  const { site, tokens, consoleCommand, operationsUrl } = settings;
  const text = (value: Text) => value[language];
  const { title, lead, open, begin, token, health } = landingTexts;
  const watched = ['/readyz', '/metrics'].map((path) => link(`${escapeHtml(operationsUrl ?? '')}${path}`, path));
  const others = languages.filter((each) => each !== language);
  const content = `<section class="hero">
<div>
<h1>${text(title)}</h1>
<p class="lead">${text(lead)}</p>
<p class="actions"><a class="button first" href="console">${text(open)}</a>
<a class="button" href="guides/quickstart">${text(begin)}</a></p>
</div>
${drawing(text)}</section>
<div class="doors">
${(['consumer', 'sender', 'admin'] as const).map((role) => door(role, text)).join('')}</div>
<section class="prose">
<h2>${text(token.title)}</h2>
${tokenMarkup(tokens, ['assent:subscribe', 'assent:deliver', 'assent:admin'], language)}${
    consoleCommand === undefined ? '' : `<p>${text(token.development)}</p>\n${commandMarkup(consoleCommand)}`
  }${operationsUrl === undefined ? '' : `<p>${text(health)} ${watched.join(', ')}.</p>\n`}</section>`;
  const switches = others.map(
    (each) => `<a href="?language=${each}" hreflang="${each}" lang="${each}">${pageTexts.languages[each]}</a>\n`,
  );
  return frame({
    site,
    language,
    title: `Assent: ${text(title)}`,
    root: '',
    place: '',
    more: switches.join(''),
    content,
  });
}

function door(role: keyof typeof landingTexts.doors, text: (value: Text) => string): string {
  const { title, role: name, steps } = landingTexts.doors[role];
  return `<section class="card" aria-labelledby="${role}">
<p class="soft">${text(name)}</p>
<h2 id="${role}">${text(title)}</h2>
<ol>
${steps.map((step) => `<li>${link(step.guide, text(step.name))}<span class="soft">${text(step.does)}</span></li>\n`).join('')}</ol>
</section>
`;
}

/** Assent asks the webhook, then the sender asks Assent and sends. Its colours are those of the page. */
function drawing(text: (value: Text) => string): string {
  const { title, description, lanes, asks, consents, matches, permits, sends } = landingTexts.drawing;
  const places = [70, 280, 490] as const;
  const boxes = places.map(
    (x, lane) =>
      `<path class="life" d="M${x} 44V296"/><rect class="box" x="${x - 60}" y="8" width="120" height="36" rx="8"/><text class="strong" x="${x}" y="31">${text(lanes[lane] as Text)}</text>`,
  );
  const arrow = (from: number, to: number, y: number, name: Text, look: string) => {
    const end = to > from ? to - 2 : to + 2;
    const back = to > from ? -7 : 7;
    return `<path class="${look}" d="M${from} ${y}H${end}m${back} -4l${-back} 4l${back} 4"/><text x="${(from + to) / 2}" y="${y - 8}">${text(name)}</text>`;
  };
  const [sender, assent, webhook] = places;
  return `<svg class="drawing" viewBox="0 0 560 304" role="img" aria-labelledby="drawing-title" aria-describedby="drawing-text">
<title id="drawing-title">${text(title)}</title><desc id="drawing-text">${text(description)}</desc>
${boxes.join('\n')}
${arrow(assent, webhook, 88, asks, 'edge')}
${arrow(webhook, assent, 132, consents, 'edge reply')}
${arrow(sender, assent, 188, matches, 'edge')}
${arrow(assent, sender, 232, permits, 'edge reply')}
${arrow(sender, webhook, 280, sends, 'edge sent')}
</svg>
`;
}

const link = (address: string, name: string) => `<a href="${address}">${name}</a>`;

/** What a program gets at `/`. The addresses are relative: a proxy may have put a path in front. */
export function landingJson({ hasSecurityText }: Site): Buffer {
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
  const commands = scopes.map((scope) => `${development?.command ?? ''} --scope ${scope}`).join('\n');
  const names = issuers.map((issuer) => `<li><code>${escapeHtml(issuer)}</code></li>\n`);
  return [
    ...(development ? [`<p>${textIn(fromDevelopment, language)}</p>\n${commandMarkup(commands)}`] : []),
    ...(issuers.length > 0 ? [`<p>${textIn(fromIssuers, language)}</p>\n<ul>\n${names.join('')}</ul>\n`] : []),
    `<p>${textIn(claims, language)}</p>\n`,
  ].join('');
}

const commandMarkup = (commands: string) => `<pre><code>${escapeHtml(commands)}</code></pre>\n`;
