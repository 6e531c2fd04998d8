import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { certificateFaultTexts } from '../base/texts/verdicts.js';

/** Why this side does not accept the certificate of the other. */
export type CertificateFault = keyof typeof certificateFaultTexts;

const faults: Readonly<Record<string, CertificateFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'selfSigned',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknownIssuer',
  UNABLE_TO_GET_ISSUER_CERT: 'unknownIssuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknownIssuer',
  CERT_UNTRUSTED: 'unknownIssuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'incomplete',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'notYetValid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'otherName',
  HOSTNAME_MISMATCH: 'otherName',
  CERT_REVOKED: 'revoked',
};

/** Of a code of Node, or of the evidence that begins with it. */
export const certificateFaultOf = (evidence: string | undefined): CertificateFault | undefined =>
  faults[/^\w+/.exec(evidence ?? '')?.[0] ?? ''];

/**
 * Says whose certificate it was, who issued it and when it is valid, behind the code. Call it before the TLS handshake
 * ends: Node closes a connection before it reports why, and then the certificate is gone.
 */
export function watchCertificate(socket: TLSSocket): (code: string) => string {
  let bytes: Buffer | undefined;
  // Not getPeerX509Certificate: in Node 20, a certificate that was read with it fails the check of the name.
  socket.prependOnceListener('secure', () => (bytes = socket.getPeerCertificate().raw));
  return (code) => {
    if (bytes === undefined) return code;
    const { subject, issuer, validFrom, validTo, subjectAltName } = new X509Certificate(bytes);
    const names = subjectAltName?.replaceAll(/\b(?:DNS|IP Address):/g, '') ?? 'no name';
    const from = `valid from ${dayOf(validFrom)} to ${dayOf(validTo)}`;
    return `${code} (subject ${shown(subject)}, issuer ${shown(issuer)}, ${from}, for ${shown(names)})`;
  };
}

const dayOf = (date: string): string => {
  const time = Date.parse(date);
  return Number.isNaN(time) ? 'unknown' : new Date(time).toISOString().slice(0, 10);
};

/** The target wrote it, and it goes into logs and the database. */
const shown = (text: string): string =>
  text
    .slice(0, 200)
    .replaceAll(/\n(?=.)/g, ', ')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
    .trim() || 'nobody';
