import { randomBytes, sign } from 'node:crypto';
import type { Express, RequestHandler } from 'express';
import { RegistryError } from '../../base/errors.js';
import { requestTexts } from '../../base/texts/requests.js';
import { parseOriginName } from '../../consent/origin.js';
import { contentDigestOf } from '../../signatures/content-digest.js';
import type { PublicKey } from '../../signatures/keys.js';
import { prepareSignature, type Component } from '../../signatures/message-signature.js';
import { directoryMediaType, directoryPath } from '../../signatures/request-signature.js';
import type { Context } from '../context.js';
import { answerMethods } from '../http/app.js';
import type { Sql } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import { markOf } from './check-proof.js';
import { markHeader } from './domain-proof.js';
import type { OpenedKey } from './keys.js';

/** Seconds for which verifiers may keep a directory. A new key starts later than that (key-store.ts). */
export const directorySeconds = 300;
const tag = 'http-message-signatures-directory';

export interface Directory {
  origin: string;
  /** What the origin can also keep on its own server. */
  keySet: { keys: Array<PublicKey & { use: 'sig'; nbf: number; exp?: number }> };
}

/** Undefined for an origin that is unknown, or signs nothing. */
export async function findDirectory(sql: Sql, by: { name: string } | { id: string }): Promise<Directory | undefined> {
  // By its name only with a proof: otherwise a name that leads here would prove whoever typed it (domain-proof.ts).
  const [origin] = await sql.$queryRaw<Array<{ name: string }>>`
    select name from origin where signatures <> 'off' and ${
      'name' in by ? Prisma.sql`name = ${by.name} and verifiedby is not null` : Prisma.sql`directory = ${by.id}::uuid`
    }`;
  if (origin === undefined) return undefined;
  // A statement of its own, because the view finds the keys of one origin only by its name as a value.
  const rows = await sql.$queryRaw<Array<{ publickey: PublicKey; startsat: Date; endsat: Date | null }>>`
    select publickey, startsat, endsat from origin_public_key where origin = ${origin.name} order by startsat, keyid`;
  if (rows.length === 0) return undefined;
  const keys = rows.map(({ publickey: { kty, crv, x, kid }, startsat, endsat }) => ({
    kty,
    crv,
    x,
    kid,
    use: 'sig' as const,
    nbf: Math.floor(startsat.getTime() / 1_000),
    ...(endsat && { exp: Math.floor(endsat.getTime() / 1_000) }),
  }));
  return { origin: origin.name, keySet: { keys } };
}

/**
 * The directory of the origin that the Host header names, for names that lead to this registry (Web Bot Auth, section "Key
 * Distribution and Discovery"). Nothing tells an origin that is unknown from one that signs nothing, or is not verified.
 */
export function serveDirectory(
  app: Express,
  setHeaders: RequestHandler,
  { database, config, signers, now }: Pick<Context, 'database' | 'config' | 'signers' | 'now'>,
): void {
  const own = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).host;
  app.get(directoryPath, async (request, response) => {
    const host = request.headers.host?.toLowerCase() ?? '';
    const name = host.replace(/:443$/, '');
    const isAsked = host !== own && name !== own && parseOriginName(name).ok;
    const directory = isAsked ? await findDirectory(database.sql, { name }) : undefined;
    if (directory === undefined) throw new RegistryError('not_found', requestTexts.notFound);
    const body = Buffer.from(JSON.stringify(directory.keySet));
    const opened = await signers.ofOrigin(database.sql, directory.origin);
    const fields = await signDirectory(body, host, opened, Math.floor(now() / 1_000));
    // Only now: a problem has its own.
    setHeaders(request, response, () => undefined);
    for (const [field, value] of Object.entries(fields)) response.setHeader(field, value);
    response.setHeader(markHeader, await markOf(database.sql));
    response.setHeader('Content-Type', directoryMediaType);
    response.setHeader('Content-Length', body.length);
    response.setHeader('Cache-Control', `public, max-age=${directorySeconds}`);
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.end(body);
  });
  answerMethods(app, directoryPath, setHeaders, ['GET']);
}

/** A signature of each key that the registry has, over the body and the name that was asked (section "Possession Proof"). */
async function signDirectory(
  body: Buffer,
  host: string,
  keys: readonly OpenedKey[],
  now: number,
): Promise<Record<string, string>> {
  const digest = await contentDigestOf(body);
  const noField = () => undefined;
  const response = {
    status: 200,
    fieldOf: (field: string) => (field === 'content-digest' ? digest : undefined),
    request: { method: 'GET', url: `https://${host}${directoryPath}`, fieldOf: noField },
  };
  const covered: Component[] = [{ name: '@authority', req: true }, { name: 'content-digest' }];
  const signed = keys.map(({ keyid, privateKey }, place) => {
    const parameters = { created: now, expires: now + directorySeconds, nonce: randomBytes(18).toString('base64url') };
    const prepared = prepareSignature(`binding${place + 1}`, covered, { ...parameters, keyid, tag }, response);
    return prepared.fields(sign(null, prepared.base, privateKey));
  });
  if (signed.length === 0) return { 'Content-Digest': digest };
  return {
    'Content-Digest': digest,
    'Signature-Input': signed.map((each) => each['Signature-Input']).join(', '),
    Signature: signed.map((each) => each.Signature).join(', '),
  };
}
