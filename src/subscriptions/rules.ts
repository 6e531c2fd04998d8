import type { Fault, FaultRule } from '../errors.js';
import { isUriReference } from '../events/uri.js';
import type { components } from '../http/contract.gen.js';
import { escapePointer, forbiddenNames } from '../http/json.js';
import { limits } from '../limits.js';

// The members of a subscription (Subscriptions API, sections 3.2.1 and 3.2.2), each checked by itself, where the contract
// lets more through than the specification does: types and required members are checked there. Every function gives all
// faults of its member at once, up to fifty; `at` is the JSON pointer of the member. No detail repeats what was sent.

export type SubscriptionRequest = components['schemas']['SubscriptionRequest'];

export type CheckText = (value: string, at: string) => Fault[];

export const fault = (pointer: string, rule: FaultRule, detail: string): Fault[] => [{ pointer, rule, detail }];
const unknownMember = (at: string) => fault(at, 'member_unknown', 'There is no such member here.');
const forbiddenName = (at: string) => fault(at, 'name_forbidden', 'A member may not have this name.');

export const checkLine: CheckText = (value, at) => {
  if (value === '') return fault(at, 'value_empty', 'The string has at least one character.');
  if (/\p{Cc}/u.test(value)) return fault(at, 'control_character', 'The string has no control characters.');
  return [];
};

/** `source`: a non-empty URI reference. */
export function checkSource(value: string | undefined, at: string): Fault[] {
  if (value === undefined) return [];
  const faults = checkLine(value, at);
  if (faults.length > 0 || isUriReference(value)) return faults;
  return fault(at, 'not_a_uri_reference', 'A source is a URI reference (RFC 3986); percent-encode all else.');
}

/**
 * `types`: non-empty strings, no two alike. An empty array names no type and means every type, as if it were absent.
 */
export function checkTypes(types: readonly string[] = [], at: string): Fault[] {
  const seen = new Set<string>();
  const faults = types.flatMap((type, index) => {
    const itemAt = `${at}/${index}`;
    if (seen.has(type)) return fault(itemAt, 'repeated', 'This type is in the array already.');
    const own = checkLine(type, itemAt);
    if (own.length === 0) seen.add(type);
    return own;
  });
  return faults.slice(0, limits.faults);
}

/** `subject`, our addition: a non-empty string. */
export function checkSubject(value: string | undefined, at: string): Fault[] {
  return value === undefined ? [] : checkLine(value, at);
}

/** `protocol`, compared with its case. */
export const checkProtocol: CheckText = (value, at) => {
  if (value === 'HTTP') return [];
  if (value.toUpperCase() === 'HTTP') {
    return fault(at, 'protocol_unknown', 'Values are case-sensitive: write "HTTP" in capital letters.');
  }
  return ['AMQP', 'MQTT3', 'MQTT5', 'KAFKA', 'NATS'].includes(value)
    ? fault(at, 'protocol_not_supported', 'Consent is asked for over HTTP, so "HTTP" is the only supported protocol.')
    : fault(at, 'protocol_unknown', 'This is not the name of a protocol. The supported one is "HTTP".');
};

/** What the connection, the CloudEvent and the handshake write themselves, and what carries credentials. */
const reservedHeader = new RegExp(
  '^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length|content-type' +
    '|authorization|cookie|expect|webhook-.*|ce-.*)$',
  'i',
);

/**
 * `protocolsettings` for HTTP (section 3.2.2.1): `headers` for every delivery, and `method`, which can only be POST.
 * Ours is `contentmode`.
 */
export function checkProtocolSettings(settings: SubscriptionRequest['protocolsettings'], at: string): Fault[] {
  const { headers = {}, method = 'POST', contentmode = 'structured', ...others } = settings ?? {};
  const faults = [
    ...checkHeaders(headers, `${at}/headers`),
    ...(method === 'POST'
      ? []
      : fault(
          `${at}/method`,
          'method_not_post',
          'Events are delivered with "POST" (webhook specification, section 2.1).',
        )),
    ...(contentmode === 'structured' || contentmode === 'binary'
      ? []
      : fault(
          `${at}/contentmode`,
          'value_not_allowed',
          'Events are delivered in "structured" or "binary" content mode.',
        )),
    ...Object.keys(others).flatMap((name) => unknownMember(`${at}/${escapePointer(name)}`)),
  ];
  return faults.slice(0, limits.faults);
}

function checkHeaders(headers: Readonly<Record<string, string>>, at: string): Fault[] {
  const entries = Object.entries(headers);
  if (entries.length > limits.headers) {
    return fault(at, 'too_many_headers', `There are at most ${limits.headers} headers.`);
  }
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const headerAt = `${at}/${escapePointer(name)}`;
    const key = name.toLowerCase();
    const repeated = seen.has(key);
    seen.add(key);
    return [
      ...checkHeaderName(name, headerAt),
      ...(repeated ? fault(headerAt, 'repeated', 'Header names are the same whatever their case; write it once.') : []),
      ...checkHeaderValue(value, headerAt),
    ];
  });
}

function checkHeaderName(name: string, at: string): Fault[] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return fault(at, 'header_name_malformed', 'A header name is a token (RFC 9110, section 5.6.2).');
  }
  if (forbiddenNames.has(name)) return forbiddenName(at);
  if (!reservedHeader.test(name)) return [];
  return fault(at, 'header_reserved', 'The delivery sets this header itself; credentials belong in "sinkcredential".');
}

const checkHeaderValue: CheckText = (value, at) => {
  if (Buffer.byteLength(value) > limits.headerBytes) {
    return fault(at, 'too_long', `A header value has at most ${limits.headerBytes} bytes.`);
  }
  if (/^(?:[!-~](?:[\t -~]*[!-~])?)?$/.test(value)) return [];
  return fault(at, 'header_value_malformed', 'Only visible ASCII is allowed, with spaces and tabs inside, not around.');
};

/** `config`: any JSON values under non-empty keys, up to 8 KiB as JSON. */
export function checkConfig(config: SubscriptionRequest['config'], at: string): Fault[] {
  if (config === undefined) return [];
  const faults = Object.hasOwn(config, '') ? fault(`${at}/`, 'name_empty', 'A key has at least one character.') : [];
  faults.push(...faultsInside(config, at, 1));
  const tooDeep = faults.find(({ rule }) => rule === 'too_deep');
  if (tooDeep) return [tooDeep];
  if (Buffer.byteLength(JSON.stringify(config)) > limits.configBytes) {
    faults.unshift(...fault(at, 'too_long', `The member has at most ${limits.configBytes} bytes as JSON.`));
  }
  return faults.slice(0, limits.faults);
}

/** Of the values inside another one, at all depths: those of a body end after 68. */
function faultsInside(parent: object, at: string, depth: number): Fault[] {
  return Object.entries(parent).flatMap(([name, value]: [string, unknown]) => {
    const pointer = `${at}/${escapePointer(name)}`;
    if (depth > limits.configDepth) {
      return fault(pointer, 'too_deep', `Values are nested at most ${limits.configDepth} deep.`);
    }
    return [
      ...(!Array.isArray(parent) && forbiddenNames.has(name) ? forbiddenName(pointer) : []),
      ...(typeof value === 'object' && value !== null ? faultsInside(value, pointer, depth + 1) : []),
    ];
  });
}
