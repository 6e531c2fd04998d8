import { X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';

/**
 * A certificate covers only the names in its subject alternative name (RFC 9110, section 4.3.4; RFC 9525, section 2).
 * Node would fall back to the common name, but senders in other languages would not. Node 22.23 and some other versions
 * do not find an IPv6 address in a certificate that covers it (nodejs/node#64144).
 */
export function checkIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  const error = checkServerIdentity(host, { ...certificate, subject: { ...certificate.subject, CN: '' } });
  const isFor = isIPv6(host) && new X509Certificate(certificate.raw).checkIP(host) !== undefined;
  return isFor ? undefined : error;
}
