import { join } from 'node:path';
import type { Express, Response } from 'express';
import type { JSONWebKeySet } from 'jose';
// Not the package itself: it runs the page's own script, which takes 40 MB and looks for a browser's storage.
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js';
import type { OpenApiDocument } from './contract.js';

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Assent</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
`;

const start = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#page', deepLinking: true, validatorUrl: null });`;

/** The contract for machines and for people, and the keys of the development issuer. Nothing comes from elsewhere. */
export function serveDocuments(app: Express, document: OpenApiDocument, jwks: JSONWebKeySet | undefined): void {
  app.get('/openapi.json', (_request, response) => void response.json(document));
  app.get('/docs', (request, response) => {
    if (request.path.endsWith('/')) response.redirect(308, '../docs');
    else allowPage(response).type('html').send(page);
  });
  app.get('/docs/start.js', (_request, response) => void response.type('js').send(start));
  // Not the whole folder: the package's own pages point to other hosts.
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    const path = join(getAbsoluteFSPath(), file);
    app.get(`/docs/${file}`, (_request, response) => response.sendFile(path, { dotfiles: 'allow' }));
  }
  if (jwks) app.get('/.well-known/jwks.json', (_request, response) => void response.json(jwks));
}

/** Swagger UI writes styles into the page and takes its icons from data URLs. */
function allowPage(response: Response): Response {
  return response.set(
    'Content-Security-Policy',
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
}
