import type { Express, RequestHandler, Response } from 'express';
import type { JSONWebKeySet } from 'jose';
import { RegistryError } from '../../base/errors.js';
import { pathOf } from '../../base/formats/uri.js';
import { requestTexts } from '../../base/texts/requests.js';
import { answerMethods } from './app.js';
import type { Context } from '../context.js';
import { servedContract } from './served-contract.js';

/**
 * What programs read: the contract, the public keys, the addresses for AuthZEN and security.txt.
 * Anybody may ask for them, and for many at once without reading any, so every response sends the same bytes.
 */
export function serveDocuments(
  app: Express,
  setHeaders: RequestHandler,
  { config: { operator, contact, publicUrl, security, tokens }, contract: { document } }: DocumentContext,
  { jwks, authzen }: Documents = {},
): void {
  const serve = (path: string, answer: (response: Response) => unknown) => {
    app.get(path, setHeaders, async (_request, response) => void (await answer(response)));
    answerMethods(app, path, setHeaders, ['GET']);
  };
  const { contacts, policy } = security;
  const issuers = tokens.issuers.map(({ issuer }) => issuer);
  const { developmentIssuer } = tokens;
  const path = pathOf(publicUrl);
  const contract = Buffer.from(
    JSON.stringify(servedContract(document, { operator, contact, path, issuers, developmentIssuer })),
  );
  // Pages of other hosts may read it, too.
  for (const path of ['/openapi.json', `${document.servers[0]?.url}/openapi.json`]) {
    serve(path, (response) => response.set('Access-Control-Allow-Origin', '*').type('json').send(contract));
  }
  if (authzen) {
    // Clients look for it before the path of the public URL (AuthZEN, section 9.2.1).
    for (const end of new Set(['', path])) {
      serve(`/.well-known/authzen-configuration${end}`, (response) => {
        const metadata = authzen(response.req.headers.host);
        if (metadata === undefined) throw new RegistryError('not_found', requestTexts.notFound);
        return response.json(metadata);
      });
    }
  }
  if (jwks) serve('/.well-known/jwks.json', async (response) => response.json(await jwks()));
  if (contacts.length > 0) {
    const text = () => securityText({ contacts, policy, publicUrl });
    serve('/.well-known/security.txt', (response) => response.type('text/plain').send(text()));
  }
}

interface DocumentContext {
  contract: Pick<Context['contract'], 'document'>;
  config: Pick<Context['config'], 'operator' | 'contact' | 'publicUrl' | 'security' | 'tokens'>;
}

interface Documents {
  /** The public keys that sign grants, and those of the development issuer. */
  jwks?: (() => Promise<JSONWebKeySet>) | undefined;
  /** The addresses for AuthZEN clients, for the `Host` of their request. */
  authzen?: ((host: string | undefined) => object | undefined) | undefined;
}

/** Where a weakness is reported. */
interface SecurityContact {
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
