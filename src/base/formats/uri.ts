import { isIpv6 } from './ip-address.js';

// The grammar of RFC 3986 (appendix A). No repetition can match what may follow it, so that a long text costs one pass.
const plain = "A-Za-z0-9._~!$&'()*+,;=\\-";
const literal = `\\[(?:(?<ipv6>[0-9A-Fa-f:.]+)|[vV][0-9A-Fa-f]+\\.[${plain}:]+)\\]`;
const authority = `(?:(?<userinfo>[${plain}%:]*)@)?(?<host>${literal}|[${plain}%]*)(?::(?<port>[0-9]*))?`;
const reference = new RegExp(
  // Without a scheme, the first segment has no colon (section 4.2).
  `^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.\\-]*):|(?![^/?#]*:))` +
    `(?:(?<slashes>//)${authority}(?![^/?#])|(?!//))` +
    `(?<path>[${plain}%:@/]*)(?:\\?(?<query>[${plain}%:@/?]*))?(?:#(?<fragment>[${plain}%:@/?]*))?$`,
);
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** The parts of a URI reference; an absent part is undefined, which differs from an empty one. */
export interface UriParts {
  scheme: string | undefined;
  authority: { userinfo: string | undefined; host: string; port: string | undefined } | undefined;
  path: string;
  query: string | undefined;
  fragment: string | undefined;
}

/** RFC 3986, section 4.1. The empty string is one too. */
export const isUriReference = (text: string): boolean => partsOf(text) !== undefined;

/** A URI with its scheme (RFC 3986, section 3), a fragment allowed. */
export const isUri = (text: string): boolean => partsOf(text)?.['scheme'] !== undefined;

export function parseUriReference(text: string): UriParts | undefined {
  const parts = partsOf(text);
  if (parts === undefined) return undefined;
  const { scheme, slashes, userinfo, host = '', port, path = '', query, fragment } = parts;
  const named = slashes === undefined ? undefined : { userinfo, host, port };
  return { scheme: scheme?.toLowerCase(), authority: named, path, query, fragment };
}

function partsOf(text: string): Partial<Record<string, string>> | undefined {
  const parts = brokenEscape.test(text) ? undefined : reference.exec(text)?.groups;
  return parts?.['ipv6'] === undefined || isIpv6(parts['ipv6']) ? parts : undefined;
}

/** A sink as logs and audit records have it: webhooks keep secrets in the query, and entries outlive the subscription by years. */
export function withoutQuery(sink: string): string {
  return sink.replace(/\?.*/s, '?[secret]');
}

/** The path under which a proxy serves the registry, from its public URL: `/assent`, or empty. */
export function pathOf(publicUrl: string | undefined): string {
  return publicUrl ? new URL(publicUrl).pathname.replace(/\/$/, '') : '';
}

/** The host of a canonical sink, as `sink_host` in the migration. */
export function hostOf(sink: string): string {
  const from = 'https://'.length;
  if (sink[from] === '[') return sink.slice(from, sink.indexOf(']', from) + 1);
  const end = sink.slice(from).search(/[/:]/);
  return end < 0 ? sink.slice(from) : sink.slice(from, from + end);
}
