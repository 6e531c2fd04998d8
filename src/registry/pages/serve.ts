import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Express, Request, RequestHandler, Response } from 'express';
import { version } from '../../base/version.js';
import type { Context } from '../context.js';
import { answerMethods } from '../http/app.js';
import { httpUrlOf } from '../http/server.js';
import { pathOf } from '../../base/formats/uri.js';
import { languageOf } from '../../base/formats/language.js';
import { landingTexts } from '../../base/texts/landing.js';
import { languages, textIn } from '../../base/texts/text.js';
import { developmentCommands } from '../tokens/development-registry.js';
import { policyOf, siteOf } from '../http/html-page.js';
import { frame } from './frame.js';
import { createTrustedRoute } from '../../outbound/trusted-route.js';
import { createConsoleIssuers, type ConsoleIssuer } from './console-issuers.js';
import { guideIndex, guidePage, loadGuides } from './guides.js';
import { landingJson, landingPage, type LandingSettings, tokenMarkup } from './landing.js';
import type { ReferencePage } from './reference.js';

type PageSettings = LandingSettings & { consoleIssuers: () => Promise<ConsoleIssuer[]> };

type PageContext = Pick<Context, 'config' | 'log'>;

/** What the build made of the contract and of docs/, and the files that pages load. */
const built = new URL('../../../dist/pages/', import.meta.url);

/**
 * The pages for people: `/`, the API reference and the guides. Each is made once. Anybody may ask for them, and for
 * many at once without reading any, so every response sends the same bytes.
 */
export function servePages(app: Express, setHeaders: RequestHandler, context: PageContext): void {
  const settings = settingsOf(context);
  const serve = (path: string, answer: (request: Request, response: Response) => unknown) => {
    app.get(path, setHeaders, (request, response) => void answer(request, response));
    answerMethods(app, path, setHeaders, ['GET']);
  };
  const servePage = (path: string, page: Buffer) =>
    serve(path, (_request, response) => response.set('Content-Security-Policy', policyOf()).type('html').send(page));

  const guides = loadGuides(new URL('guides.json', built));
  const { site } = settings;
  const json = landingJson(site);
  const pages = new Map(languages.map((language) => [language, landingPage(settings, language)]));
  serve('/', (request, response) => {
    response.vary('Accept').vary('Accept-Language');
    // Programs that name no type they prefer get JSON.
    if (request.accepts('json', 'html') !== 'html') return response.type('json').send(json);
    const chosen = languages.find((language) => language === request.query['language']);
    const language = chosen ?? languageOf(request.get('Accept-Language'));
    response.set({ 'Content-Security-Policy': policyOf(), 'Content-Language': language });
    return response.type('html').send(pages.get(language));
  });

  const path = pathOf(context.config.publicUrl);
  // Addresses in pages are relative.
  if (path !== '') serve(path, (_request, response) => response.redirect(308, `${path}/`));
  servePage('/docs', referencePage(settings));
  serve('/console', async (_request, response) => {
    const issuers = await settings.consoleIssuers();
    const { operator, contact } = site;
    response
      .set({
        'Content-Security-Policy': policyOf(...issuers.map((each) => new URL(each.token_endpoint).origin)),
        'Referrer-Policy': 'no-referrer',
      })
      .type('html')
      .send(consolePage({ version, operator, contact, developmentCommand: settings.consoleCommand, issuers }));
  });
  serve('/console/', (_request, response) => response.redirect(308, '../console'));
  servePage('/guides/', guideIndex(site, guides));
  for (const guide of guides.guides) servePage(`/guides/${guide.path}`, guidePage(site, guides, guide));
  // Relative, because a proxy may have put a path in front.
  serve('/docs/', (_request, response) => response.redirect(308, '../docs'));
  serve('/guides', (_request, response) => response.redirect(308, 'guides/'));

  const assets = new URL('assets/', built);
  const files = readdirSync(assets, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name: file } of files) {
    const name = relative(fileURLToPath(assets), join(parentPath, file)).replaceAll('\\', '/');
    const bytes = readFileSync(new URL(name, assets));
    serve(`/assets/${name}`, (_request, response) => response.type(extname(name)).send(bytes));
  }
}

function referencePage({ site, tokens }: PageSettings): Buffer {
  const reference = JSON.parse(readFileSync(new URL('reference.json', built), 'utf8')) as ReferencePage;
  const scopes = ['assent:subscribe', 'assent:deliver', 'assent:admin'];
  const content = `<h1>API reference</h1>
${reference.introduction}<p>Programs read <a href="openapi.json">the contract</a> (OpenAPI 3.1).</p>
<section aria-labelledby="token">
<h2 id="token">Token</h2>
${tokenMarkup(tokens, scopes, 'en')}<form id="token-form" hidden>
<p><label for="token-field">Your token, for “Try it”</label><input id="token-field" class="secret" autocomplete="off" spellcheck="false" aria-describedby="token-hint token-claims"></p>
<p class="soft" id="token-hint">It stays in this page until you close or reload it. Requests go to this registry only.</p>
<p class="soft" id="token-claims" role="status"></p>
</form>
</section>
${reference.operations}`;
  return frame({
    site,
    language: 'en',
    title: `${textIn(landingTexts.frame.menu.docs, 'en')} - Assent`,
    root: '',
    place: 'docs',
    content,
    contents: reference.navigation,
    script: 'try-it.js',
  });
}

/** Where operations are reached is shown in development only. */
function settingsOf({ config, log }: PageContext): PageSettings {
  const { api, dataFolder, operations, production, tokens } = config;
  const url = api.port === 0 ? undefined : httpUrlOf(api.host, api.port);
  const commands = tokens.developmentIssuer ? developmentCommands(dataFolder, url) : undefined;
  const isShown = !production && operations.port !== 0;
  return {
    site: siteOf(config),
    tokens: {
      development: commands && { command: commands.token },
      issuers: tokens.issuers.map(({ issuer }) => issuer),
    },
    consoleIssuers: createConsoleIssuers(
      tokens.issuers.flatMap(({ issuer, consoleclient, consolescope }) =>
        consoleclient === undefined ? [] : [{ issuer, clientid: consoleclient, scope: consolescope }],
      ),
      createTrustedRoute(config.outbound),
      (issuer, cause) => log.warn({ issuer, err: cause }, 'cannot read the metadata of the issuer for the console'),
    ),
    consoleCommand: commands?.console,
    operationsUrl: isShown ? httpUrlOf(operations.host, operations.port) : undefined,
  };
}

interface ConsolePageSettings {
  version: string;
  operator: string | undefined;
  contact: string | undefined;
  /** Prints a link that signs in; only a development registry has one. */
  developmentCommand?: string | undefined;
  issuers: readonly ConsoleIssuer[];
}

/**
 * The page that loads the console (src/console/). What it must know of the registry is in the page, as JSON. Until the
 * console is there, the page has its frame.
 */
function consolePage(settings: ConsolePageSettings): Buffer {
  const json = JSON.stringify(settings).replaceAll('<', '\\u003c');
  return Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Assent</title>
<link rel="icon" href="assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="assets/base.css">
<link rel="stylesheet" href="assets/console.css">
<script type="application/json" id="settings">${json}</script>
<script type="module" src="assets/console.js"></script>
<div id="console">
<div class="frame"><header class="side"><div class="top"><a class="name" href="./"><img src="assets/icon.svg" alt="" width="22" height="22">Assent</a></div></header>
<main><h1 class="unseen">Assent</h1><noscript><p>${textIn(landingTexts.frame.needsScript, 'en')}</p></noscript>
<div class="skeleton" aria-hidden="true">${'<span></span>'.repeat(8)}</div></main></div>
</div>
</html>
`);
}
