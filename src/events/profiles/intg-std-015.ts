import { isUtcTimestamp } from '../../base/formats/timestamp.js';
import { isIntegerText } from '../attribute-text.js';
import type { EventParts } from '../cloud-event.js';
import { at, isGiven, rulesOf, ruleTextOf, type Check, type Rule } from '../rule.js';
import {
  cloudeventsRules,
  eachExtension,
  nameLength,
  nameStart,
  sensitiveName,
  size,
  typeReverseDomain,
} from './cloudevents.js';
import { attributeBytes, brokenClaimCheck, documentedExtensions, isBinaryType, isEnvelopeType } from './envelope.js';
import { findLeaks } from './internal-host.js';
import { hasReverseDomain } from './reverse-domain.js';
import { isCredential, isSensitiveName } from './sensitive-name.js';

const kib = 1024;
const maxEvent = 256 * kib;
const maxAttributes = 4 * kib;
const maxData = 252 * kib;

const rule = rulesOf('intg-std-015', 'INTG-STD-015 Event Envelope 1.1.0');

const present =
  (name: string, isExpected: (event: EventParts) => boolean = () => true): Check =>
  (event) =>
    isGiven(event, name) || !isExpected(event) ? undefined : at(name);

const brokenExtensions = eachExtension((name, value) => documentedExtensions.get(name)?.(value) === false);

/** A UUID of version 4, or a ULID. */
const idForm = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;

const ownRules: readonly Rule[] = [
  // It decides the status of the response, so it comes first: other faults cannot crowd it out.
  rule(
    'size',
    'MUST',
    'R-11; Gateway Enforcement 3',
    'The event has at most 256 KiB; larger data is claimed.',
    ({ bytes }) =>
      bytes > maxEvent
        ? at(undefined, `The event has ${bytes} bytes; keep the data elsewhere and send a claim check.`)
        : undefined,
  ),
  rule(
    'type_pattern',
    'MUST',
    'R-4; Gateway Enforcement 1',
    'The type has at least four parts of lower-case letters, digits and inner hyphens, the first without a hyphen.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return type === undefined || isEnvelopeType(type) ? undefined : at('type');
    },
    'type',
  ),
  rule(
    'type_reverse_domain',
    'MUST',
    'R-2; R-4',
    'The type begins with the domain name of the organisation in reverse, such as com.example.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return type === undefined || hasReverseDomain(type) ? undefined : at('type');
    },
    'type',
  ),
  rule(
    'source_internal',
    'MUST',
    'R-5; R-14; Gateway Enforcement 2',
    'The source reveals nothing internal: no internal host, IP address, port number, cluster, container or pod.',
    (event) => {
      const leaks = findLeaks(ruleTextOf(event, 'source') ?? '');
      return leaks.length === 0 ? undefined : leaks.map((detail) => ({ member: 'source', detail }));
    },
    'source',
  ),
  rule('id_form', 'SHOULD', 'R-2', 'The id is a UUID of version 4 or a ULID.', (event) => {
    const id = ruleTextOf(event, 'id');
    return id === undefined || idForm.test(id) ? undefined : at('id');
  }),
  rule(
    'time_utc',
    'MUST',
    'R-2; Gateway Enforcement 4',
    'The time is in UTC with a capital T and Z, and has at most nine digits of a fraction.',
    (event) => {
      const time = ruleTextOf(event, 'time');
      return time === undefined || isUtcTimestamp(time, 9) ? undefined : at('time');
    },
  ),
  rule('time_present', 'SHOULD', 'R-2; R-15', 'The event has a time.', present('time')),
  rule(
    'datacontenttype_present',
    'SHOULD',
    'R-2',
    'An event with data has a datacontenttype.',
    present('datacontenttype', ({ hasData }) => hasData),
  ),
  rule(
    'dataschema_versioned',
    'MUST',
    'R-2',
    'The dataschema names a version of the schema; one without any digit after its host cannot.',
    (event) => {
      const dataschema = ruleTextOf(event, 'dataschema');
      if (dataschema === undefined) return undefined;
      return /[0-9]/.test(dataschema.replace(/^[^:]*:(?:\/\/[^/?#]*)?/, '')) ? undefined : at('dataschema');
    },
  ),
  rule(
    'extension_name',
    'MUST',
    'R-6; Gateway Enforcement 5',
    'The name of an extension begins with a letter and has at most 20 lower-case letters and digits.',
    eachExtension((name) => name.length > 20 || name.charCodeAt(0) < 0x61),
  ),
  rule(
    'extension_documented',
    'MUST',
    'R-6',
    'Extensions that CloudEvents documents keep their meaning: dataref, partitionkey, sampledrate, sequence and tracing.',
    (event) => {
      const findings = brokenExtensions(event);
      const sequence = ruleTextOf(event, 'sequence');
      if (!sequence || ruleTextOf(event, 'sequencetype') !== 'Integer' || isIntegerText(sequence)) return findings;
      return [...(findings ?? []), { member: 'sequence' }];
    },
  ),
  rule(
    'extension_credentials',
    'MUST',
    'R-14',
    'No extension carries a credential, a token, a session or personal data, by its name or as a token by its value.',
    eachExtension((name, value) => isSensitiveName(name) || (typeof value === 'string' && isCredential(value))),
  ),
  rule('traceparent_present', 'SHOULD', 'R-6; R-15', 'The event has a traceparent.', present('traceparent')),
  rule(
    'tracestate_alone',
    'SHOULD',
    'R-6',
    'An event with a tracestate has the traceparent that belongs to it.',
    present('traceparent', (event) => isGiven(event, 'tracestate')),
  ),
  rule(
    'data_embedded',
    'MUST',
    'R-7',
    'JSON data stands in the event itself, not as text in a string and not as Base64.',
    ({ dataForm, dataIsJson }) => {
      if (!dataIsJson || (dataForm !== 'json_text' && dataForm !== 'base64')) return undefined;
      return at(dataForm === 'base64' ? 'data_base64' : 'data');
    },
  ),
  rule(
    'data_binary',
    'MUST',
    'R-7',
    'Data of a binary media type is in data_base64.',
    ({ dataForm, datacontenttype }) => {
      if (dataForm !== 'text' && dataForm !== 'json_text') return undefined;
      return isBinaryType(datacontenttype) ? at('data') : undefined;
    },
  ),
  rule('attributes_size', 'SHOULD', 'R-11', 'Names and values of the attributes have at most 4 KiB.', (event) => {
    // In any mode they need more bytes than names and values alone.
    if (event.bytes <= maxAttributes) return undefined;
    return attributeBytes(event) > maxAttributes ? at(undefined) : undefined;
  }),
  rule('data_size', 'SHOULD', 'R-11', 'The data has at most 252 KiB.', ({ dataBytes, dataForm }) =>
    dataBytes > maxData ? at(dataForm === 'base64' ? 'data_base64' : 'data') : undefined,
  ),
  rule(
    'claim_check',
    'MUST',
    'R-11',
    'A claim check has both: claimCheckUri, a URI, and claimCheckContentType, a media type.',
    brokenClaimCheck,
  ),
];

/** If the standard is stricter than the specification or sets its own sizes, only its own rule is reported. */
const replaced: ReadonlySet<Rule> = new Set([nameLength, nameStart, typeReverseDomain, sensitiveName, size]);

export const intgStd015Rules: readonly Rule[] = [
  ...cloudeventsRules.filter((each) => !replaced.has(each)),
  ...ownRules,
];

/** The rules for a whole batch. */
export const batchRules: ReadonlyArray<Rule & { isBroken(batch: { count: number; bytes: number }): boolean }> = [
  {
    ...rule(
      'batch_size',
      'MUST',
      'R-10',
      'A batch has at most 1 MiB, unless both sides agreed on more.',
      () => undefined,
    ),
    isBroken: ({ bytes }) => bytes > 1024 * kib,
  },
  {
    ...rule('batch_count', 'SHOULD', 'R-10', 'A batch has at most 100 events.', () => undefined),
    isBroken: ({ count }) => count > 100,
  },
];
