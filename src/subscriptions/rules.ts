import type { Fault, FaultRule } from '../errors.js';
import { escapePointer, forbiddenNames, isObject } from '../http/json.js';

// The members of a subscription (Subscriptions API, sections 3.2.1 to 3.2.3), each checked by itself. Every function
// gives all faults of its member at once, up to fifty; `at` is the JSON pointer of the member. An absent member has no
// fault unless the specification requires it; null is of the wrong type. No detail repeats what the client sent.

const maxFaults = 50;
const maxTypes = 1000;
const maxHeaders = 50;
const maxHeaderBytes = 4096;
const maxConfigBytes = 8192;
const maxConfigDepth = 32;

type Check = (value: unknown, at: string) => Fault[];

const fault = (pointer: string, rule: FaultRule, detail: string): Fault[] => [{ pointer, rule, detail }];
const unknownMember = (at: string) => fault(at, 'member_unknown', 'There is no such member here.');
const forbiddenName = (at: string) => fault(at, 'name_forbidden', 'A member may not have this name.');

/** RFC 3986, appendix A, but for the inner structure of an address in brackets. */
const characters = (more: string) => `(?:[A-Za-z0-9._~!$&'()*+,;=${more}-]|%[0-9A-Fa-f]{2})*`;
const authority = `(?:${characters(':')}@)?(?:\\[[0-9A-Za-z.:]+\\]|${characters('')})(?::[0-9]*)?`;
const uriReference = new RegExp(
  '^(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))' + // a scheme, or a first segment without a colon
    `(?://${authority}(?:/${characters(':@')})*|(?!//)${characters(':@/')})` +
    `(?:\\?${characters(':@/?')})?(?:#${characters(':@/?')})?$`,
);

const checkLine: Check = (value, at) => {
  if (typeof value !== 'string') return fault(at, 'type', 'This is a string.');
  if (value === '') return fault(at, 'value_empty', 'The string has at least one character.');
  if (/\p{Cc}/u.test(value)) return fault(at, 'control_character', 'The string has no control characters.');
  return [];
};

/** `source`: a non-empty URI reference. */
export function checkSource(value: unknown, at: string): Fault[] {
  if (value === undefined) return [];
  const faults = checkLine(value, at);
  if (faults.length > 0 || uriReference.test(value as string)) return faults;
  return fault(at, 'not_a_uri_reference', 'A source is a URI reference (RFC 3986); percent-encode all else.');
}

/**
 * `types`: non-empty strings, no two alike. An empty array names no type and means every type, as if it were absent.
 */
export function checkTypes(value: unknown, at: string): Fault[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return fault(at, 'type', 'This is an array of strings.');
  if (value.length > maxTypes) return fault(at, 'too_many_types', `There are at most ${maxTypes} types.`);
  const first = new Map<unknown, number>(value.map((type, index) => [type, index] as const).reverse());
  const faults = value.flatMap((type, index) => {
    const itemAt = `${at}/${index}`;
    const own = checkLine(type, itemAt);
    const repeats = own.length === 0 && first.get(type) !== index;
    return repeats ? fault(itemAt, 'repeated', 'This type is in the array already.') : own;
  });
  return faults.slice(0, maxFaults);
}

/** `subject`, our addition: a non-empty string. */
export function checkSubject(value: unknown, at: string): Fault[] {
  return value === undefined ? [] : checkLine(value, at);
}

/** `protocol`: required, compared with its case. */
export function checkProtocol(value: unknown, at: string): Fault[] {
  if (value === 'HTTP') return [];
  if (value === undefined) return fault(at, 'required', 'A subscription names its protocol: "HTTP".');
  if (typeof value !== 'string') return fault(at, 'type', 'This is a string: "HTTP".');
  if (value.toUpperCase() === 'HTTP') {
    return fault(at, 'protocol_unknown', 'Values are case-sensitive: write "HTTP" in capital letters.');
  }
  return ['AMQP', 'MQTT3', 'MQTT5', 'KAFKA', 'NATS'].includes(value)
    ? fault(at, 'protocol_not_supported', 'Consent is asked for over HTTP, so "HTTP" is the only supported protocol.')
    : fault(at, 'protocol_unknown', 'This is not the name of a protocol. The supported one is "HTTP".');
}

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
export function checkProtocolSettings(value: unknown, at: string): Fault[] {
  if (value === undefined) return [];
  if (!isObject(value))
    return fault(at, 'type', 'This is an object with the members "headers", "method" and "contentmode".');
  const faults = Object.entries(value).flatMap(([name, setting]) => {
    const settingAt = `${at}/${escapePointer(name)}`;
    if (name === 'headers') return checkHeaders(setting, settingAt);
    if (name === 'contentmode') return checkContentMode(setting, settingAt);
    if (name !== 'method') return unknownMember(settingAt);
    if (setting === 'POST') return [];
    return fault(
      settingAt,
      'method_not_post',
      'Events are delivered with "POST" (webhook specification, section 2.1).',
    );
  });
  return faults.slice(0, maxFaults);
}

function checkContentMode(value: unknown, at: string): Fault[] {
  if (value === 'structured' || value === 'binary') return [];
  return fault(at, 'value_not_allowed', 'Events are delivered in "structured" or "binary" content mode.');
}

function checkHeaders(value: unknown, at: string): Fault[] {
  if (!isObject(value)) return fault(at, 'type', 'This is an object of header names and strings.');
  const names = Object.keys(value);
  if (names.length > maxHeaders) return fault(at, 'too_many_headers', `There are at most ${maxHeaders} headers.`);
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const headerAt = `${at}/${escapePointer(name)}`;
    const key = name.toLowerCase();
    const repeated = seen.has(key);
    seen.add(key);
    return [
      ...checkHeaderName(name, headerAt),
      ...(repeated ? fault(headerAt, 'repeated', 'Header names are the same whatever their case; write it once.') : []),
      ...checkHeaderValue(value[name], headerAt),
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

const checkHeaderValue: Check = (value, at) => {
  if (typeof value !== 'string') return fault(at, 'type', 'This is a string.');
  if (Buffer.byteLength(value) > maxHeaderBytes) {
    return fault(at, 'too_long', `A header value has at most ${maxHeaderBytes} bytes.`);
  }
  if (/^(?:[!-~](?:[\t -~]*[!-~])?)?$/.test(value)) return [];
  return fault(at, 'header_value_malformed', 'Only visible ASCII is allowed, with spaces and tabs inside, not around.');
};

const checkToken: Check = (value, at) => {
  const faults = checkLine(value, at);
  if (faults.length > 0 || /^[!-~]+$/.test(value as string)) return faults;
  return fault(at, 'token_malformed', 'This goes into a header: only visible ASCII without spaces is allowed.');
};

const checkInstant: Check = (value, at) => {
  const text = typeof value === 'string' ? value.toUpperCase().replace('+00:00', 'Z') : '';
  const known = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text));
  // Date.parse rolls 30 February over into March.
  if (known && new Date(text).toISOString().slice(0, 19) === text.slice(0, 19)) return [];
  return fault(at, 'not_a_utc_instant', 'This is an RFC 3339 instant in UTC, such as 2026-11-20T12:00:00Z.');
};

const checkTokenEndpoint: Check = (value, at) => {
  const text = typeof value === 'string' && value.length <= 2048 ? value : '';
  const href = URL.canParse(text) ? new URL(text).href : undefined;
  // The parser repairs what it is given; only the slash that it gives a bare host is no repair.
  if (/^https:\/\/[^/@#]+(?:\/[^#]*)?$/.test(text) && (href === text || href === `${text}/`)) return [];
  return fault(at, 'not_an_https_url', 'This is a canonical https URL without user name, password and fragment.');
};

const accessToken = { accesstoken: checkToken, accesstokenexpiresutc: checkInstant, accesstokentype: checkToken };
const credentialMembers = new Map<unknown, Readonly<Record<string, Check>>>([
  ['PLAIN', { identifier: checkLine, secret: checkLine }],
  ['ACCESSTOKEN', accessToken],
  ['REFRESHTOKEN', { ...accessToken, refreshtoken: checkLine, refreshtokenendpoint: checkTokenEndpoint }],
]);
/** The draft's schema lets it be absent, and then it means "bearer". */
const optionalMember = 'accesstokentype';

/** `kept` is a credential with nothing but its type: what is stored stays. Whoever calls knows whether there is any. */
export interface CheckedCredential {
  kind: 'absent' | 'kept' | 'given';
  faults: Fault[];
}

/** `sinkcredential` (section 3.2.3). */
export function checkSinkCredential(value: unknown, at: string): CheckedCredential {
  if (value === undefined) return { kind: 'absent', faults: [] };
  if (!isObject(value)) return { kind: 'given', faults: fault(at, 'type', 'This is an object with "credentialtype".') };
  const members = credentialMembers.get(value['credentialtype']);
  if (members === undefined) {
    const rule = value['credentialtype'] === undefined ? 'required' : 'credentialtype_not_supported';
    const detail = 'The credential types are "PLAIN", "ACCESSTOKEN" and "REFRESHTOKEN", case-sensitive.';
    return { kind: 'given', faults: fault(`${at}/credentialtype`, rule, detail) };
  }
  const given = Object.keys(value).filter((name) => name !== 'credentialtype');
  if (given.length === 0) return { kind: 'kept', faults: [] };
  const faults = [
    ...Object.entries(members).flatMap(([name, check]) =>
      given.includes(name)
        ? check(value[name], `${at}/${name}`)
        : name === optionalMember
          ? []
          : fault(`${at}/${name}`, 'required', 'A credential of this type has this member.'),
    ),
    ...given.flatMap((name) => (Object.hasOwn(members, name) ? [] : unknownMember(`${at}/${escapePointer(name)}`))),
  ];
  return { kind: 'given', faults: faults.slice(0, maxFaults) };
}

/** `config`: any JSON values under non-empty keys, up to 8 KiB as JSON. */
export function checkConfig(value: unknown, at: string): Fault[] {
  if (value === undefined) return [];
  if (!isObject(value)) return fault(at, 'type', 'This is an object.');
  const faults: Fault[] = [];
  for (const { value: each, pointer, name, depth } of nodes(value, at)) {
    // JSON.stringify below is recursive.
    if (depth > maxConfigDepth) return fault(pointer, 'too_deep', `Values are nested at most ${maxConfigDepth} deep.`);
    if (name === '' && depth === 1) faults.push(...fault(pointer, 'name_empty', 'A key has at least one character.'));
    if (forbiddenNames.has(name ?? '')) faults.push(...forbiddenName(pointer));
    // JSON.stringify would write null in its place.
    if (typeof each === 'number' && !Number.isFinite(each)) {
      faults.push(...fault(pointer, 'value_out_of_range', 'No double holds this number (RFC 7493, section 2.2).'));
    }
  }
  if (Buffer.byteLength(JSON.stringify(value)) > maxConfigBytes) {
    faults.unshift(...fault(at, 'too_long', `The member has at most ${maxConfigBytes} bytes as JSON.`));
  }
  return faults.slice(0, maxFaults);
}

interface Node {
  value: unknown;
  pointer: string;
  name: string | undefined;
  depth: number;
}

/**
 * Every value inside a JSON value in the order of the text, without recursion; `name` is there for members of objects.
 */
function* nodes(value: unknown, at: string): Generator<Node> {
  const left: Node[] = [{ value, pointer: at, name: undefined, depth: 0 }];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    const { value: parent, pointer, depth } = node;
    if (typeof parent !== 'object' || parent === null) continue;
    const children = Object.entries(parent as Record<string, unknown>).map(([key, child]) => ({
      value: child,
      pointer: `${pointer}/${escapePointer(key)}`,
      name: Array.isArray(parent) ? undefined : key,
      depth: depth + 1,
    }));
    left.push(...children.reverse());
  }
}
