import { promises as dns } from 'node:dns';
import { isIP } from 'node:net';
import { codeOf, RequestFailure } from './failure.js';

export interface LookUpSettings {
  /** `ip:port` each; empty means the servers of the system. */
  dnsServers: readonly string[];
  /** For the first try of each query; the second and last try gets twice as long. */
  tryTimeoutMs: number;
}

export const meansNoAddress = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * All IPv4 addresses of a name, then all its IPv6 addresses. Queries name servers through c-ares only: `dns.lookup`
 * reads /etc/hosts and search lists, and its few threads are shared with the whole process, so that a few dead names
 * block all other look-ups. `localhost` and the names below it never leave the machine (RFC 6761, section 6.3). Throws
 * RequestFailure.
 */
export async function lookUp(host: string, settings: LookUpSettings, signal: AbortSignal): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  if (/(?:^|\.)localhost$/.test(host)) return ['127.0.0.1'];

  const resolver = resolverOf(settings, signal);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;

  const codes = answers.map((answer) => (answer.status === 'rejected' ? codeOf(answer.reason) : 'ENODATA'));
  const broken = codes.find((code) => !meansNoAddress.has(code));
  throw broken === undefined
    ? new RequestFailure('name_not_found', `The name ${host} has no address.`, codes[0])
    : unusable(host, broken);
}

export function resolverOf({ tryTimeoutMs, dnsServers }: LookUpSettings, signal: AbortSignal): dns.Resolver {
  const resolver = new dns.Resolver({ timeout: tryTimeoutMs, tries: 2 });
  if (dnsServers.length > 0) resolver.setServers(dnsServers);
  signal.addEventListener('abort', () => resolver.cancel(), { once: true });
  return resolver;
}

export const unusable = (name: string, code: string) =>
  new RequestFailure('name_lookup_failed', `The name servers returned no usable response for ${name} (${code}).`, code);
