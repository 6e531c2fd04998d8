import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JSONWebKeySet,
} from 'jose';
import { z } from 'zod';
import { openKeyFile } from '../../base/files/key-file.js';
import type { KeySource } from './keys.js';
import type { Scope } from '../../base/contract/principal.js';

interface DevelopmentToken {
  tenant: string;
  subscriber: string;
  /** Who signed in to it. */
  person?: string | undefined;
  scopes: Iterable<Scope>;
  lifetimeSeconds: number;
  /** Further claims. They cannot replace one that the service reads. */
  claims?: Readonly<Record<string, unknown>> | undefined;
}

interface DevelopmentIssuer {
  issuer: string;
  /** Public keys only. */
  jwks: JSONWebKeySet;
  keySource: KeySource;
  /** An access token (RFC 9068 section 2). */
  sign(token: DevelopmentToken): Promise<string>;
}

const privateKey = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
});

/** Not a URL: the command line creates tokens and does not know the address of the service. */
const developmentIssuer = 'urn:assent:development';
export const developmentAudience = 'assent';
/** In the data folder. */
export const issuerFile = 'development-issuer.json';

/**
 * On a developer's machine the service issues its own tokens. It creates an ES256 key once, in the data folder. Rejects
 * with an Error that names the key file if it cannot read that file.
 */
export async function openDevelopmentIssuer(dataFolder: string): Promise<DevelopmentIssuer> {
  const jwk = await openKeyFile(join(dataFolder, issuerFile), createKey, readKey);
  const { d: _, ...publicPart } = jwk;
  const kid = await calculateJwkThumbprint(publicPart);
  const jwks = { keys: [{ ...publicPart, kid, alg: 'ES256', use: 'sig' }] };
  const key = await importJWK(jwk, 'ES256');
  return {
    issuer: developmentIssuer,
    jwks,
    keySource: createLocalJWKSet(jwks),
    sign: ({ tenant, subscriber, person, scopes, lifetimeSeconds, claims }) =>
      new SignJWT({ ...claims, tenant, client_id: subscriber, scope: [...scopes].join(' ') })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
        .setIssuer(developmentIssuer)
        .setAudience(developmentAudience)
        .setSubject(person ?? subscriber)
        .setJti(randomUUID())
        .setIssuedAt()
        .setExpirationTime(`${lifetimeSeconds} s`)
        .sign(key),
  };
}

async function createKey() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return exportJWK(privateKey);
}

async function readKey(content: unknown) {
  const jwk = privateKey.parse(content);
  await importJWK(jwk, 'ES256');
  return jwk;
}
