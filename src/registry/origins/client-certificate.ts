import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { RegistryError, type Fault, type FaultRule } from '../../base/errors.js';
import type { components } from '../../base/contract/contract.gen.js';
import { uuidv7 } from '../../base/files/ids.js';
import type { ClientCertificate } from '../../outbound/client-certificate.js';
import type { Actor, Sql, Transaction } from '../storage/database.js';
import type { client_certificate as CertificateRow } from '../storage/generated/client.js';
import { insertRows } from '../storage/rows.js';
import type { SealContext, Vault } from '../storage/vault.js';

/** What an origin shows in TLS to webhooks that ask for it. Its key is sealed, and leaves with the private keys only. */
export type CertificateInfo = components['schemas']['ClientCertificate'];

/** A warning precedes the end by so many days. */
const certificateWarningDays = 30;

const maxCertificates = 10;
const pemCertificate = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** To be shown to servers (RFC 5280, section 4.2.1.12). */
const clientAuth = '1.3.6.1.5.5.7.3.2';

/** What was brought, if it can be shown to a webhook now; otherwise what is wrong with it. */
export function readCertificate(
  { certificate, privatekey }: { certificate: string; privatekey: string },
  now: Date,
): { shown: ClientCertificate; leaf: X509Certificate } | { faults: Fault[] } {
  const fault = (pointer: '/certificate' | '/privatekey', rule: FaultRule, detail: string) => ({
    faults: [{ pointer, rule, detail }],
  });
  const chain = readChain(certificate);
  const [leaf] = chain ?? [];
  if (chain === undefined || leaf === undefined) {
    const detail = `Send the certificate in PEM, with those of its issuers behind it, at most ${maxCertificates}.`;
    return fault('/certificate', 'certificate_malformed', detail);
  }
  const key = readKey(privatekey);
  if (key === undefined) {
    return fault('/privatekey', 'certificate_key', 'Send the private key in PEM, without a passphrase.');
  }
  if (!leaf.checkPrivateKey(key)) {
    return fault('/privatekey', 'certificate_key', 'This is not the private key of the first certificate.');
  }
  const isInOrder = chain.every((each, place) => {
    const issuer = chain[place + 1];
    return issuer === undefined || (each.checkIssued(issuer) && each.verify(issuer.publicKey));
  });
  if (!isInOrder) {
    return fault('/certificate', 'certificate_chain', 'Each certificate must be issued by the one that follows it.');
  }
  const late = chain.find((each) => timesOf(each).endsAt <= now || timesOf(each).startsAt > now);
  if (late !== undefined) {
    const detail = `A certificate is valid from ${late.validFrom} to ${late.validTo}, and not now.`;
    return fault('/certificate', 'certificate_ended', detail);
  }
  // Despite its name, these are the extended usages. Without any, a certificate is for everything.
  const purposes = leaf.keyUsage as string[] | undefined;
  if (leaf.ca || (purposes !== undefined && !purposes.includes(clientAuth))) {
    return fault('/certificate', 'certificate_purpose', 'The certificate is not one for clients (clientAuth).');
  }
  const shown = {
    certificate: chain.map((each) => each.toString().trim()).join('\n'),
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  try {
    createSecureContext({ cert: shown.certificate, key: shown.privateKey });
  } catch {
    return fault(
      '/certificate',
      'certificate_malformed',
      'TLS cannot use this certificate, such as one with a weak key.',
    );
  }
  return { shown, leaf };
}

function readChain(pem: string): X509Certificate[] | undefined {
  const blocks = pem.match(pemCertificate) ?? [];
  if (blocks.length === 0 || blocks.length > maxCertificates) return undefined;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' });
    return ['rsa', 'ec', 'ed25519'].includes(key.asymmetricKeyType ?? '') ? key : undefined;
  } catch {
    return undefined;
  }
}

const timesOf = ({ validFrom, validTo }: X509Certificate) => ({
  startsAt: new Date(validFrom),
  endsAt: new Date(validTo),
});

type StoredCertificate = Pick<CertificateRow, 'certificate' | 'fingerprint' | 'startsat' | 'endsat'>;

function infoOf({ certificate, fingerprint, startsat, endsat }: StoredCertificate): CertificateInfo {
  const { subject, issuer } = new X509Certificate(certificate);
  const oneLine = (name: string | undefined) => (name ?? '').split('\n').join(', ');
  return {
    fingerprint,
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    startsat: startsat.toISOString(),
    endsat: endsat.toISOString(),
  };
}

/** By origin. */
export async function findCertificates(sql: Sql, origins: readonly string[]): Promise<Map<string, CertificateInfo>> {
  const rows = await sql.$queryRaw<Array<StoredCertificate & { origin: string }>>`
    select origin, certificate, fingerprint, startsat, endsat from client_certificate
    where origin = any (${[...origins]}::text[])`;
  return new Map(rows.map((row) => [row.origin, infoOf(row)]));
}

const ownerOf = ({ id, tenant }: Pick<CertificateRow, 'id' | 'tenant'>): SealContext => ({
  tenant,
  owner: `client_certificate:${id}`,
});

/** Replaces the certificate of an origin, which is locked. `brought` is what `readCertificate` returned. */
export async function putCertificate(
  tx: Transaction,
  vault: Pick<Vault, 'seal'>,
  actor: Actor,
  origin: string,
  brought: { shown: ClientCertificate; leaf: X509Certificate },
): Promise<CertificateInfo> {
  const { tenant, name, person } = actor;
  const { shown, leaf } = brought;
  const { startsAt, endsAt } = timesOf(leaf);
  const id = uuidv7();
  const row = {
    id,
    origin,
    tenant,
    certificate: shown.certificate,
    privatekey: await vault.seal({ pem: shown.privateKey }, ownerOf({ id, tenant })),
    fingerprint: leaf.fingerprint256,
    startsat: startsAt,
    endsat: endsAt,
    createdby: name,
    createdbyperson: person ?? null,
  };
  await tx.sql.$executeRaw`delete from client_certificate where origin = ${origin}`;
  await tx.sql.$executeRaw`${insertRows('client_certificate', [row])}`;
  const info = infoOf(row);
  await changed(tx, actor, origin, 'origin.certificate_set', info);
  return info;
}

/** Throws RegistryError `certificate_not_found`. */
export async function removeCertificate(tx: Transaction, actor: Actor, origin: string): Promise<CertificateInfo> {
  const [row] = await tx.sql.$queryRaw<StoredCertificate[]>`
    delete from client_certificate where origin = ${origin} returning *`;
  if (row === undefined) throw new RegistryError('certificate_not_found', 'The origin has no client certificate.');
  const info = infoOf(row);
  await changed(tx, actor, origin, 'origin.certificate_removed', info);
  return info;
}

/** Senders read the origin, and its private keys, again. */
async function changed(tx: Transaction, actor: Actor, origin: string, action: string, info: CertificateInfo) {
  const { fingerprint, endsat } = info;
  await tx.sql.$executeRaw`update origin set version = version + 1, updatedat = now() where name = ${origin}`;
  tx.audit(actor, action, `origin:${origin}`, { fingerprint, endsat });
  tx.change({ kind: 'origin.changed', tenant: actor.tenant, origin, sink: '' });
}

/** Those that expire within 30 days, or did, the first to expire first: of one tenant, or of all. */
export function findExpiring(
  sql: Sql,
  tenant?: string,
): Promise<Array<{ origin: string; fingerprint: string; endsat: Date }>> {
  return sql.$queryRaw`
    select origin, fingerprint, endsat from client_certificate
    where endsat <= now() + make_interval(days => ${certificateWarningDays}::int)
      and (${tenant ?? null}::text is null or tenant = ${tenant ?? null})
    order by endsat limit 20`;
}

/** How many seconds until the first one expires; Infinity without one. */
export async function secondsToExpiry(sql: Sql): Promise<number> {
  const [row] = await sql.$queryRaw<Array<{ seconds: number | null }>>`
    select extract(epoch from min(endsat) - now())::float8 as seconds from client_certificate`;
  return row?.seconds ?? Infinity;
}

/**
 * The certificate with this id, opened each time: a copy in memory would outlive its removal. Undefined if it was removed.
 * Rejects with `secret_unavailable`.
 */
export async function openCertificate(
  sql: Sql,
  vault: Pick<Vault, 'open'>,
  id: string,
): Promise<ClientCertificate | undefined> {
  const [row] = await sql.$queryRaw<CertificateRow[]>`select * from client_certificate where id = ${id}::uuid`;
  if (row === undefined) return undefined;
  const { pem } = (await vault.open(row.privatekey, ownerOf(row))) as { pem: string };
  return { certificate: row.certificate, privateKey: pem };
}

/** That of an origin, for those that may read its private keys. Rejects as `openCertificate`. */
export async function openCertificateOf(
  sql: Sql,
  vault: Pick<Vault, 'open'>,
  origin: string,
): Promise<{ certificate: string; privatekey: string; endsat: string } | undefined> {
  const [row] = await sql.$queryRaw<Array<{ id: string; endsat: Date }>>`
    select id::text as id, endsat from client_certificate where origin = ${origin}`;
  const shown = row && (await openCertificate(sql, vault, row.id));
  return shown && { certificate: shown.certificate, privatekey: shown.privateKey, endsat: row.endsat.toISOString() };
}
