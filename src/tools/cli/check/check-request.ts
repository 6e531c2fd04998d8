import { UsageError } from '../../../base/errors.js';
import { createAddressRules } from '../../../outbound/address.js';
import { createLoopbackRequest, isLoopback } from '../../../outbound/loopback-request.js';
import { createSafeRequest, safeRequestDefaults, type SafeRequest } from '../../../outbound/safe-request.js';
import { parseSink } from '../../../outbound/sink.js';
import { sinkTexts } from '../../../base/texts/sinks.js';

export interface CheckSettings {
  url: string;
  /** A name that `parseOriginName` accepts. */
  origin: string;
  /** Requests per minute; undefined asks for none. */
  requestedRate: number | undefined;
  judgement: 'strict' | 'lenient';
  /** Where the webhook reaches a callback; undefined offers one to a webhook on this machine only. */
  callbackHost: { host: string; port: number } | undefined;
  /** PEM of an authority to trust. */
  ca: string | undefined;
  allowedNetworks: readonly string[];
  /** Milliseconds for each request, and for the callback. */
  timeoutMs: number;
  userAgent: string;
}

/**
 * How to ask a webhook, and what a registry would do otherwise. Of a webhook on this machine, or if networks are allowed,
 * any port may be asked. Throws a UsageError for a URL that no registry would accept.
 */
export function prepareRequest({ url: text, ca, allowedNetworks, timeoutMs, userAgent }: CheckSettings) {
  // Without a path, HTTP asks for the root.
  const url = text.replace(/^https?:\/\/[^/?#]+$/, '$&/');
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = target !== undefined && isLoopback(target.hostname);
  const isPlain = isLocal && target.protocol === 'http:';
  const port = Number(target?.port || (isPlain ? 80 : 443));
  const isOpen = isLocal || allowedNetworks.length > 0;
  const rules = {
    allowedNetworks: isLocal ? ['127.0.0.0/8', '::1', ...allowedNetworks] : allowedNetworks,
    deniedNetworks: [],
    ports: isOpen ? [port] : safeRequestDefaults.ports,
    ownAuthorities: [],
  };
  const parsed = parseSink(isPlain ? url.replace('http:', 'https:') : url, {
    ...rules,
    addresses: addressRulesOf(rules),
  });
  if (!parsed.ok) throw new UsageError(`${parsed.detail.en} A registry does not accept this URL.`);
  const common = { deadlineMs: timeoutMs, userAgent };
  const request: SafeRequest = isPlain
    ? createLoopbackRequest(common)
    : createSafeRequest({ ...safeRequestDefaults, ...rules, ca, ...common });
  const isUsualPort = safeRequestDefaults.ports.some((each) => each === port);
  return {
    url,
    request,
    isLocal,
    notes: [
      ...(isPlain ? ['This is plain http, which works on this machine only. A registry asks https only.'] : []),
      ...(isLocal && !isPlain ? [sinkTexts.localhost.en] : []),
      ...(isLocal || isUsualPort
        ? []
        : [
            `A registry asks the ports ${safeRequestDefaults.ports.join(' and ')}, unless ASSENT_SINK_PORTS has others.`,
          ]),
    ],
  };
}

function addressRulesOf(rules: Parameters<typeof createAddressRules>[0]) {
  try {
    return createAddressRules(rules);
  } catch (error) {
    throw new UsageError(`--allow-network: ${(error as Error).message}`);
  }
}
