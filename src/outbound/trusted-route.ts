import { lookup } from 'node:dns/promises';
import { ProxyAgent, type Dispatcher } from 'undici';
import { until } from '../base/until.js';
import { createAddressRules } from './address.js';
import { createEgressProxy, type EgressProxySettings } from './egress-proxy.js';

/** How to reach a URL of the operator's own configuration; undefined for a direct connection. */
export type TrustedRoute = (url: string) => Promise<Dispatcher | undefined>;

interface TrustedRouteSettings {
  allowedNetworks: readonly string[];
  proxy: EgressProxySettings | undefined;
}

/** Half of the time that a key of an issuer may take, or less. */
const lookupMs = 1_000;

/**
 * The operator chose these URLs, so the proxy may look up their names. What is inside has no use for a proxy: a name
 * with an address that is not public, or that has a direct way, is reached directly. A name that is unknown here is
 * outside. Throws RangeError for invalid settings.
 */
export function createTrustedRoute({ allowedNetworks, proxy: settings }: TrustedRouteSettings): TrustedRoute {
  if (settings === undefined) return () => Promise.resolve(undefined);
  const proxy = createEgressProxy(settings, allowedNetworks);
  const rules = createAddressRules({ allowedNetworks: [], deniedNetworks: [] });
  const isInside = (address: string) => rules.verdictOf(address) !== 'public' || proxy.isBypassed(address);
  const agent = new ProxyAgent({
    uri: new URL(settings.url).origin,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    ...(proxy.secureContext !== undefined && {
      proxyTls: { secureContext: proxy.secureContext, rejectUnauthorized: true },
    }),
  });
  return async (url) => {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
    const found = await until(
      lookup(host, { all: true }).catch(() => []),
      { ms: lookupMs },
    );
    return (found ?? []).some(({ address }) => isInside(address)) ? undefined : agent;
  };
}
