import { parseIp, parseNetwork, type IpAddress } from '../../base/formats/ip-address.js';
import { limits } from '../../base/limits.js';

/** Where requests of the webhook itself may go. */
export interface CallbackRules {
  /** Names, or `name:port`, that may be called. Any public host at port 443 if absent. */
  hosts?: readonly string[] | undefined;
  /** CIDR. Networks that may be called although they are not public. Empty if absent. */
  networks?: readonly string[] | undefined;
  /** For development: plain http, every port and every address, such as those of this machine. */
  development?: boolean | undefined;
}

export interface Callback {
  isSecure: boolean;
  /** For the Host header. */
  authority: string;
  /** A name, or an address without brackets. */
  host: string;
  port: number;
  /** Path and query exactly as the sender wrote them. */
  target: string;
}

export interface CallbackGuard {
  /** A string says why this URL is not called. */
  parse(url: string): Callback | string;
  /** All of them: one name with a public and a private address is a trick. */
  areReachable(addresses: readonly string[]): boolean;
}

/**
 * Decides which URLs are called, so that a sender cannot use the application as a scanner. `setting` is the one that has
 * the rules. Throws an Error for a host or a network that is none.
 */
export function createCallbackGuard(
  { hosts, networks = [], development = false }: CallbackRules,
  setting = 'callbacks',
): CallbackGuard {
  const named = hosts === undefined ? undefined : new Set(hosts.map(namedHost));
  const allowed = networks.map((network) => {
    const includes = parseNetwork(network);
    if (includes !== undefined) return includes;
    throw new Error(`\`${setting}.networks\` has ${JSON.stringify(network)}: write it as 10.0.0.0/8 or fd00::/8.`);
  });

  const isReachable = (text: string) => {
    const address = parseIp(text);
    if (address === undefined) return false;
    return development || allowed.some((includes) => includes(address)) || isPublic(address);
  };
  return {
    areReachable: (addresses) => addresses.length > 0 && addresses.every(isReachable),
    parse(text) {
      // Visible ASCII only, and read in the same way by every parser. The target is sent as it is written.
      const parts = /^(https?):\/\/([^/?#@\\]+)([/?][^#]*)?$/i.exec(text);
      if (parts === null || !/^[!-~]+$/.test(text) || !URL.canParse(text)) return 'it is not a plain https URL';
      if (text.length > limits.urlLength) return `it has more than ${limits.urlLength} characters`;
      const url = new URL(text);
      const isSecure = url.protocol === 'https:';
      if (!isSecure && !development) return 'it is not an https URL';
      const port = Number(url.port || (isSecure ? 443 : 80));
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      if (named !== undefined && !named.has(`${url.hostname}:${port}`))
        return '`callbacks.hosts` does not name its host';
      if (named === undefined && port !== 443 && !development) return '`callbacks.hosts` does not name its port';
      if (parseIp(host) !== undefined && !isReachable(host)) return 'its address is not public';
      const target = parts[3] ?? '/';
      return { isSecure, authority: url.host, host, port, target: target.startsWith('?') ? `/${target}` : target };
    },
  };
}

function namedHost(name: string): string {
  const url = URL.canParse(`https://${name}`) ? new URL(`https://${name}`) : undefined;
  if (url === undefined || url.href !== `https://${url.host}/` || /[/?#@]/.test(name)) {
    throw new Error(`\`callbacks.hosts\` has ${JSON.stringify(name)}: write a host, or a host and a port.`);
  }
  return `${url.hostname}:${url.port || 443}`;
}

const isPublic = (address: IpAddress) =>
  (address.family === 4 || globalUnicast(address)) && !special.some((includes) => includes(address));

/** IPv6 addresses of the internet, except those that the list below has. */
const globalUnicast = parseNetwork('2000::/3')!;

/**
 * Not for the internet (IANA special-purpose address registries), and what would lead to such addresses: 6to4, Teredo.
 * The last one of IPv4 is the host agent of Azure, which is routable.
 */
const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '168.63.129.16/32',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
].map((network) => parseNetwork(network)!);
