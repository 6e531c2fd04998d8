import type { Fault, FaultRule } from '../../base/errors.js';
import { isUriReference } from '../../base/formats/uri.js';
import type { components } from '../../base/contract/contract.gen.js';
import { escapePointer, forbiddenNames } from '../../base/formats/json.js';
import { limits } from '../../base/limits.js';
import { subscriptionTexts as texts } from '../../base/texts/subscriptions.js';
import type { Text } from '../../base/texts/text.js';
import { isReservedHeader } from '../../outbound/reserved-header.js';

// Checks each member of a subscription (Subscriptions API, sections 3.2.1 and 3.2.2) for rules of the specification
// that the contract cannot express; the contract checks types and required members. Every function returns all faults
// of its member at once, up to fifty; `at` is the JSON pointer of the member. No detail repeats a part of the request.

export type SubscriptionRequest = components['schemas']['SubscriptionRequest'];

export type CheckText = (value: string, at: string) => Fault[];

export const fault = (pointer: string, rule: FaultRule, detail: Text): Fault[] => [{ pointer, rule, detail }];
const unknownMember = (at: string) => fault(at, 'member_unknown', texts.memberUnknown);
const forbiddenName = (at: string) => fault(at, 'name_forbidden', texts.nameForbidden);

export const checkLine: CheckText = (value, at) => {
  if (value === '') return fault(at, 'value_empty', texts.empty);
  if (/\p{Cc}/u.test(value)) return fault(at, 'control_character', texts.controlCharacter);
  return [];
};

/** `source`: a non-empty URI reference. */
export function checkSource(value: string | undefined, at: string): Fault[] {
  if (value === undefined) return [];
  const faults = checkLine(value, at);
  if (faults.length > 0 || isUriReference(value)) return faults;
  return fault(at, 'not_a_uri_reference', texts.source);
}

/**
 * `types`: non-empty strings without duplicates. An empty array means every type, as if it were absent.
 */
export function checkTypes(types: readonly string[] = [], at: string): Fault[] {
  const seen = new Set<string>();
  const faults = types.flatMap((type, index) => {
    const itemAt = `${at}/${index}`;
    if (seen.has(type)) return fault(itemAt, 'repeated', texts.typeRepeated);
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

/** `protocol`, which is case-sensitive. */
export const checkProtocol: CheckText = (value, at) => {
  if (value === 'HTTP') return [];
  if (value.toUpperCase() === 'HTTP') return fault(at, 'protocol_unknown', texts.protocolCase);
  return ['AMQP', 'MQTT3', 'MQTT5', 'KAFKA', 'NATS'].includes(value)
    ? fault(at, 'protocol_not_supported', texts.protocolNotSupported)
    : fault(at, 'protocol_unknown', texts.protocolUnknown);
};

/**
 * `protocolsettings` for HTTP (section 3.2.2.1): `headers` for every delivery, and `method`, which can only be POST.
 * `contentmode` is our addition.
 */
export function checkProtocolSettings(settings: SubscriptionRequest['protocolsettings'], at: string): Fault[] {
  const { headers = {}, method = 'POST', contentmode = 'structured', ...others } = settings ?? {};
  const faults = [
    ...checkHeaders(headers, `${at}/headers`),
    ...(method === 'POST' ? [] : fault(`${at}/method`, 'method_not_post', texts.method)),
    ...(contentmode === 'structured' || contentmode === 'binary'
      ? []
      : fault(`${at}/contentmode`, 'value_not_allowed', texts.contentMode)),
    ...Object.keys(others).flatMap((name) => unknownMember(`${at}/${escapePointer(name)}`)),
  ];
  return faults.slice(0, limits.faults);
}

function checkHeaders(headers: Readonly<Record<string, string>>, at: string): Fault[] {
  const entries = Object.entries(headers);
  if (entries.length > limits.headers) {
    return fault(at, 'too_many_headers', texts.tooManyHeaders(limits.headers));
  }
  const seen = new Set<string>();
  return entries.flatMap(([name, value]) => {
    const headerAt = `${at}/${escapePointer(name)}`;
    const key = name.toLowerCase();
    const repeated = seen.has(key);
    seen.add(key);
    return [
      ...checkHeaderName(name, headerAt),
      ...(repeated ? fault(headerAt, 'repeated', texts.headerRepeated) : []),
      ...checkHeaderValue(value, headerAt),
    ];
  });
}

function checkHeaderName(name: string, at: string): Fault[] {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return fault(at, 'header_name_malformed', texts.headerName);
  }
  if (forbiddenNames.has(name)) return forbiddenName(at);
  if (!isReservedHeader(name)) return [];
  return fault(at, 'header_reserved', texts.headerReserved);
}

const checkHeaderValue: CheckText = (value, at) => {
  if (Buffer.byteLength(value) > limits.headerBytes) {
    return fault(at, 'too_long', texts.headerTooLong(limits.headerBytes));
  }
  if (/^(?:[!-~](?:[\t -~]*[!-~])?)?$/.test(value)) return [];
  return fault(at, 'header_value_malformed', texts.headerValue);
};

/** Members of CAMARA that end a subscription. Stored and ignored, they would promise an end that never comes. */
const notHonoured = {
  subscriptionExpireTime: texts.expireTime,
  subscriptionMaxEvents: texts.maxEvents,
};

/** `config`: any JSON values under non-empty keys, up to 8 KiB as JSON. */
export function checkConfig(config: SubscriptionRequest['config'], at: string): Fault[] {
  if (config === undefined) return [];
  const faults = Object.hasOwn(config, '') ? fault(`${at}/`, 'name_empty', texts.keyEmpty) : [];
  for (const [name, detail] of Object.entries(notHonoured)) {
    if (Object.hasOwn(config, name)) faults.push(...fault(`${at}/${name}`, 'value_not_allowed', detail));
  }
  faults.push(...faultsInside(config, at, 1));
  const tooDeep = faults.find(({ rule }) => rule === 'too_deep');
  if (tooDeep) return [tooDeep];
  if (Buffer.byteLength(JSON.stringify(config)) > limits.configBytes) {
    faults.unshift(...fault(at, 'too_long', texts.configTooLong(limits.configBytes)));
  }
  return faults.slice(0, limits.faults);
}

/** Faults of the values inside another one, at all depths. The depth of a body is limited. */
function faultsInside(parent: object, at: string, depth: number): Fault[] {
  return Object.entries(parent).flatMap(([name, value]: [string, unknown]) => {
    const pointer = `${at}/${escapePointer(name)}`;
    if (depth > limits.configDepth) {
      return fault(pointer, 'too_deep', texts.configTooDeep(limits.configDepth));
    }
    return [
      ...(!Array.isArray(parent) && forbiddenNames.has(name) ? forbiddenName(pointer) : []),
      ...(typeof value === 'object' && value !== null ? faultsInside(value, pointer, depth + 1) : []),
    ];
  });
}
