import { RegistryError, type FaultRule } from '../../base/errors.js';
import { refuseCodings } from '../../base/formats/transfer-coding.js';
import { textIn } from '../../base/texts/text.js';
import { faultOfSinkText, withoutUsualPort } from '../../outbound/sink.js';

/** What a caller shows: a secret or a token. */
export interface Credential {
  scheme: 'bearer' | 'basic';
  secret: string;
}

/** The headers of a request, read in the one way that every program reads them. */
export interface ReadHeaders {
  credential: Credential | undefined;
  /** `WebHook-Request-Origin`. */
  origin: string | undefined;
  originalUrl: string | undefined;
  isFromBrowser: boolean;
  /** The value of a header, by its name in lower case. */
  of: (name: string) => string | undefined;
  /** What the webhook gets, by the names as they were sent: what an event needs, and these more, in lower case. */
  passed(more: ReadonlySet<string>): Record<string, string>;
}

/** A request may have each of these once. */
const single: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'assent-authorization',
  'x-original-url',
  'webhook-request-origin',
  'content-type',
  'content-encoding',
  'origin',
]);

/**
 * What an event needs: its content, its attributes, and its trace. Any other header is about the caller's own house, or an
 * instruction that the webhook's owner did not agree to, so the caller's settings must name it. `forward` reads from
 * `Connection` which headers belong to the connection, and leaves all of them out.
 */
const ofEvent = /^(?:content-(?:type|encoding|language)|ce-[a-z0-9]+|traceparent|tracestate|connection)$/;

/**
 * Throws RegistryError `invalid_request` with the place for what two programs could read in two ways: a header twice, a
 * name with underscores for hyphens, which CGI and its like read as the same name, and two credentials of one kind.
 * Several lines of any other header become one list (RFC 9110, section 5.3).
 */
export function readHeaders(rawHeaders: readonly string[], httpVersion: string): ReadHeaders {
  refuseCodings(rawHeaders);
  const all = new Map<string, { name: string; value: string }>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const written = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    const name = written.toLowerCase();
    const plain = name.includes('_') ? name.replaceAll('_', '-') : name;
    const isSingle = single.has(plain) || plain.startsWith('ce-');
    if (plain !== name && isSingle) throw invalid(`header/${plain}`, 'header_name_malformed', 'Write it with hyphens.');
    const before = all.get(name);
    if (before === undefined) all.set(name, { name: written, value });
    else if (isSingle) throw invalid(`header/${name}`, 'header_repeated', 'Send this header once.');
    else before.value += `, ${value}`;
  }
  if (!all.has('host') && httpVersion !== '1.0') throw invalid('header/host', 'required', 'Send this header.');

  const of = (name: string) => all.get(name)?.value;
  const [own, authorization] = [of('assent-authorization'), of('authorization')];
  return {
    credential: own !== undefined ? credentialOf(own, ['bearer']) : credentialOf(authorization, ['bearer', 'basic']),
    origin: of('webhook-request-origin')?.toLowerCase(),
    originalUrl: of('x-original-url'),
    isFromBrowser: all.has('origin') || all.has('sec-fetch-site'),
    of,
    passed(more) {
      const passed: Record<string, string> = {};
      for (const [name, { name: written, value }] of all) {
        if (ofEvent.test(name) || more.has(name)) passed[written] = value;
      }
      // With a token of its own for this process, the caller's Authorization is for the webhook.
      if (own !== undefined && authorization !== undefined) passed['Authorization'] = authorization;
      return passed;
    },
  };
}

/** A header that has neither form is a secret that no caller has. */
function credentialOf(header: string | undefined, schemes: readonly Credential['scheme'][]): Credential | undefined {
  if (header === undefined) return undefined;
  const [, word = '', rest = ''] = /^([a-z]+) +(\S+)$/i.exec(header) ?? [];
  const scheme = schemes.find((each) => each === word.toLowerCase());
  if (scheme === undefined) return { scheme: 'basic', secret: '' };
  if (scheme === 'bearer') return { scheme, secret: rest };
  const pair = Buffer.from(rest, 'base64').toString();
  // RFC 7617, section 2: the user name, which says nothing here, has no colon.
  return { scheme, secret: pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : '' };
}

const prefix = '/https/';

/**
 * The URL that a request is for: in its path, as `/https/HOST[:PORT]/path?query`, or in `X-Original-URL`. Both must agree.
 * It must be written as the sink is registered; nothing is repaired but the port 443. RegistryError `invalid_request` with
 * the place, and `not_found` if there is none.
 */
export function readSink(target: string, originalUrl: string | undefined): string {
  if (!target.startsWith('/')) {
    const detail = 'This is no proxy for clients: send the path /https/HOST/…, without scheme and host in front of it.';
    throw invalid('path', 'value_not_allowed', detail);
  }
  const inPath = target.startsWith(prefix) ? withoutUsualPort(`https://${target.slice(prefix.length)}`) : undefined;
  if (inPath === undefined && /^\/http\//i.test(target)) {
    throw invalid('path', 'not_https', 'Deliveries use https: post to /https/HOST/….');
  }
  const inHeader = originalUrl && withoutUsualPort(originalUrl);
  if (inHeader !== undefined) check('header/x-original-url', inHeader);
  if (inPath !== undefined) check('path', inPath);
  if (inPath !== undefined && inHeader !== undefined && inPath !== inHeader) {
    throw invalid('header/x-original-url', 'sources_disagree', 'The path and this header do not name the same URL.');
  }
  const sink = inHeader ?? inPath;
  if (sink !== undefined) return sink;
  throw new RegistryError('not_found', 'Post to /https/HOST[:PORT]/path, or send the URL in X-Original-URL.');
}

function check(pointer: string, sink: string): void {
  const fault = faultOfSinkText(sink);
  if (fault !== undefined) throw invalid(pointer, fault.rule, textIn(fault.detail, 'en'));
}

export function invalid(pointer: string, rule: FaultRule, detail: string): RegistryError {
  return new RegistryError('invalid_request', 'The delivery cannot be read without a doubt. The faults say why.', {
    faults: [{ pointer, rule, detail }],
  });
}
