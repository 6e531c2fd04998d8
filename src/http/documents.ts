import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Express, RequestHandler, Response } from 'express';
import type { JSONWebKeySet } from 'jose';
// Not the package itself: it runs the page's own script, which takes 40 MB and looks for a browser's storage.
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js';
import { answerMethods } from './app.js';
import type { OpenApiDocument } from './contract.js';

/** The contract has no links, so their column goes. A telephone's window is for the text, not for what is around it. */
const narrow = `
.swagger-ui .response-col_links { display: none }
@media (max-width: 40em) {
  .swagger-ui .wrapper { padding: 0 8px }
  .swagger-ui .opblock-tag { flex-wrap: wrap }
  .swagger-ui .opblock-tag small { flex: 100%; order: 1; padding: 0 }
  .swagger-ui .responses-table td.response-col_status { min-width: 60px }
}
`;

/** Swagger UI's own colours leave text and fields without the contrast that people need (WCAG 2.2, 1.4.3, 1.4.11). */
const style = `
.swagger-ui .opblock .opblock-summary-method, .swagger-ui .info .title small pre,
.swagger-ui .json-schema-2020-12__constraint--string { color: #000; text-shadow: none }
.swagger-ui .info a { color: #1d5fa8 }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize svg { color: #0f6b43; border-color: #0f6b43 }
.swagger-ui .btn.cancel { color: #b00000; border-color: #b00000 }
.swagger-ui .btn.execute { background-color: #1d5fa8; border-color: #1d5fa8 }
.swagger-ui .download-contents { background: #555 }
.swagger-ui .parameter__extension, .swagger-ui .parameter__in, .swagger-ui .response-undocumented,
.swagger-ui .json-schema-2020-12-json-viewer-extension-keyword .json-schema-2020-12-json-viewer__name,
.swagger-ui .json-schema-2020-12-json-viewer-extension-keyword .json-schema-2020-12-json-viewer__value,
.swagger-ui .json-schema-2020-12-keyword__name--extension, .swagger-ui .json-schema-2020-12__attribute--muted,
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #555 }
.swagger-ui input[type=text], .swagger-ui textarea { border: 1px solid #767676 }
.swagger-ui textarea:focus { border-color: #1d5fa8 }
.swagger-ui .authorization__btn .unlocked { opacity: 1; color: #666 }
.swagger-ui .parameter__name.required span, .swagger-ui .parameter__name.required:after { color: #b00000 }
.swagger-ui .markdown code, .swagger-ui .renderedMarkdown code { color: #6f0ec4 }
${narrow}`;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Assent</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<style>${style}</style>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
`;

/**
 * The page can ask no issuer for a token, so one is pasted there; and since the form for that knows no scopes, each
 * operation says itself which it needs, and whether it is an addition, which is shown of operations and members only.
 * Swagger UI shows an answer when it has ended, so a stream of events ends here after five seconds; and it takes JSON
 * lines for a file, so they are read for it.
 */
const start = `
function shown(contract) {
  const schemes = contract.components.securitySchemes;
  const { description, flows } = schemes.oauth;
  const scopes = Object.entries(flows.clientCredentials.scopes).map(([name, does]) => '- **' + name + '** ' + does);
  schemes.oauth = { type: 'http', scheme: 'bearer', description: [description, ...scopes].join('\\n') };
  for (const item of Object.values(contract.paths)) {
    for (const operation of Object.values(item)) {
      const needed = (operation.security ?? []).flatMap(({ oauth = [] }) => oauth);
      if (operation.responses === undefined) continue;
      if (item['x-addition']) operation['x-addition'] = true;
      if (needed.length === 0) continue;
      operation.description = (operation.description ?? '') + '\\n\\nScope: **' + needed.join('** or **') + '**.';
    }
  }
  return contract;
}

async function briefly(url, request) {
  const answer = await fetch(url, request);
  if (!answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return answer;
  const { readable, writable } = new TransformStream();
  const ending = { signal: AbortSignal.timeout(5000), preventAbort: true };
  answer.body.pipeTo(writable, ending).catch(() => writable.close());
  return new Response(readable, answer);
}

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
  showExtensions: true,
  syntaxHighlight: { theme: 'obsidian' },
  requestInterceptor: (request) => Object.assign(request, { userFetch: briefly }),
  responseInterceptor(answer) {
    if (answer.url.endsWith('/openapi.json')) answer.text = JSON.stringify(shown(JSON.parse(answer.text)));
    return answer.data?.text?.().then((text) => Object.assign(answer, { text, data: text })) ?? answer;
  },
});
`;

/**
 * The contract for machines and for people, and the keys of the development issuer. Nothing comes from elsewhere.
 * Anybody may ask for them, and for many at once without reading any: what is large is there once, whoever waits.
 */
export function serveDocuments(
  app: Express,
  setHeaders: RequestHandler,
  document: OpenApiDocument,
  { jwks, contact, security }: DocumentSettings,
): void {
  const serve = (path: string, answer: (response: Response) => unknown) => {
    app.get(path, setHeaders, (_request, response) => void answer(response));
    answerMethods(app, path, setHeaders, ['GET']);
  };
  const info = { ...document.info, contact: contactOf(document.info.contact, contact) };
  const contract = Buffer.from(JSON.stringify({ ...document, info }));
  // Pages of other hosts may read it, too.
  for (const path of ['/openapi.json', `${document.servers[0]?.url}/openapi.json`]) {
    serve(path, (response) => response.set('Access-Control-Allow-Origin', '*').type('json').send(contract));
  }
  serve('/docs', (response) => allowPage(response).type('html').send(page));
  // Relative, because a proxy may have put a path in front.
  serve('/docs/', (response) => response.redirect(308, '../docs'));
  serve('/docs/start.js', (response) => response.type('js').send(start));
  // Not the whole folder: the package's own pages point to other hosts.
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    const bytes = readFileSync(join(getAbsoluteFSPath(), file));
    serve(`/docs/${file}`, (response) => response.type(extname(file)).send(bytes));
  }
  if (jwks) serve('/.well-known/jwks.json', (response) => response.json(jwks));
  if (security) {
    serve('/.well-known/security.txt', (response) => response.type('text/plain').send(securityText(security)));
  }
}

export interface DocumentSettings {
  /** The public keys of the development issuer. */
  jwks?: JSONWebKeySet | undefined;
  /** What ASSENT_CONTACT says. */
  contact?: string | undefined;
  security?: SecurityContact | undefined;
}

/** Where a weakness is reported. */
export interface SecurityContact {
  /** URIs, the preferred one first. */
  contacts: readonly string[];
  policy?: string | undefined;
  /** Where the API is reached from outside. */
  publicUrl?: string | undefined;
}

/** Less than a year, as section 2.5.5 asks. The contacts are those of the configuration, so they are never out of date. */
const securityTextMs = 180 * 86_400_000;

/** RFC 9116, section 2. */
function securityText({ contacts, policy, publicUrl }: SecurityContact): string {
  const host = publicUrl === undefined ? undefined : new URL(publicUrl);
  const fields = [
    ...contacts.map((contact) => ['Contact', contact]),
    ['Expires', new Date(Date.now() + securityTextMs).toISOString()],
    // The file is known at the root of a host only (section 3).
    ...(host?.pathname === '/' ? [['Canonical', `${host.origin}/.well-known/security.txt`]] : []),
    ...(policy === undefined ? [] : [['Policy', policy]]),
  ];
  return fields.map(([name, value]) => `${name}: ${value}\n`).join('');
}

/** The mail address and the URL in ASSENT_CONTACT, in place of those in the file. The API Design Rules ask for both. */
function contactOf(inFile: OpenApiDocument['info']['contact'], contact: string | undefined): object {
  if (contact === undefined) return inFile;
  const [email] = /[^\s<>()@:]+@[^\s<>()@]+/.exec(contact) ?? [];
  const url = contact.split(/[\s<>()]+/).find((word) => /^https?:/.test(word) && URL.canParse(word));
  return { name: inFile.name, ...(email === undefined ? {} : { email }), ...(url === undefined ? {} : { url }) };
}

/** Swagger UI writes styles into the page and takes its icons from data URLs. */
function allowPage(response: Response): Response {
  return response.set(
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
}
