import { isIntegerText } from '../attribute-text.js';
import { at, isGiven, rulesOf, ruleTextOf, type Check, type Rule } from '../rule.js';
import { isUriReference } from '../../base/formats/uri.js';
import { cloudeventsRules, typeReverseDomain } from './cloudevents.js';
import { isReverseDomain } from './reverse-domain.js';

const rule = rulesOf('nl-gov', 'NL GOV profile for CloudEvents', '4, ');

/** The part of a type that looks like a version, from its first dot on: `.v2`, `.1.0.3`, `.v0.1.0`, `.v1beta1`. */
const versionSuffix = /\.(?:[vV][0-9]+(?:\.[0-9]+)*(?:(?:[-+]|alpha|beta|rc)[0-9A-Za-z.+-]*)?|[0-9]+(?:\.[0-9]+)*)$/;
/** No version is longer; bounds the search for its beginning. */
const maxVersion = 64;
/** Semantic Versioning 2.0.0, sections 2, 9 and 10: no number has leading zeros, except in the build. */
const number = '(?:0|[1-9]\\d*)';
const preRelease = `(?:${number}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const semanticVersion = new RegExp(
  `^\\.v${number}\\.${number}\\.${number}(?:-${preRelease}(?:\\.${preRelease})*)?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);

/** The prefixes of organisation numbers, and the form of each number. */
const registers: ReadonlyMap<string, RegExp> = new Map([
  ['oin', /^\d{20}$/],
  ['kvknr', /^\d{8}$/],
  ['kvk', /^\d{8}$/],
  ['kvn', /^\d{8}$/],
  ['eidas', /^[A-Z]{2}[/-][A-Z]{2}[/-][^/]{1,}$/i],
]);

/** `oin:00000001823288444000:systeem:BRP-component` as register, number, and the rest for the system. */
function partsOf(nss: string): { register: string | undefined; organisation: string; system: string } {
  const colon = nss.indexOf(':');
  const head = colon < 0 ? '' : nss.slice(0, colon).toLowerCase();
  const register = registers.has(head) ? head : undefined;
  const rest = register === undefined ? nss : nss.slice(colon + 1);
  const end = rest.search(/[:.]/);
  const organisation = end < 0 ? rest : rest.slice(0, end);
  const system = end < 0 ? '' : rest.slice(end + 1).replace(/^(?:systeem\b)?[:.]*/, '');
  return { register, organisation, system };
}

/**
 * A URN of the namespace nld (RFC 8141, section 2), for a valid URI reference. Only the name is case-sensitive. Captures
 * the name; an r-, q- and f-component may follow.
 */
const nldUrn = /^urn:nld:([^/?#][^?#]*)(?:\?[+=][^/?#][^#]*)?(?:#|$)/i;

/** For a source in the namespace nld, what comes after it; `source_urn` reports what is wrong with any other. */
const onUrn =
  (isBroken: (parts: ReturnType<typeof partsOf>) => boolean): Check =>
  (event) => {
    const name = nldUrn.exec(ruleTextOf(event, 'source') ?? '')?.[1];
    return name !== undefined && isBroken(partsOf(name)) ? at('source') : undefined;
  };

/** `Integer` as the text defines it, and `integer` as its own examples write it. */
const isIntegerType = (type: string | undefined) => type?.toLowerCase() === 'integer';

const ownRules: readonly Rule[] = [
  rule(
    'type_reverse_domain',
    'MUST',
    'type',
    'The type is in reverse domain name notation, such as nl.brp.persoon-verhuisd.',
    (event) => {
      const type = ruleTextOf(event, 'type');
      return type === undefined || isReverseDomain(type) ? undefined : at('type');
    },
    'type',
  ),
  rule(
    'type_version',
    'SHOULD',
    'type',
    'A version at the end of the type is a semantic version with the prefix v, such as v1.2.3.',
    (event) => {
      const version = versionSuffix.exec(ruleTextOf(event, 'type')?.slice(-maxVersion) ?? '')?.[0];
      return version === undefined || semanticVersion.test(version) ? undefined : at('type');
    },
    'type',
  ),
  rule(
    'source_urn',
    'SHOULD',
    'source',
    'The source is a URN of the namespace nld.',
    (event) => {
      const source = ruleTextOf(event, 'source');
      return source === undefined || nldUrn.test(source) ? undefined : at('source');
    },
    'source',
  ),
  rule(
    'source_parts',
    'SHOULD',
    'source',
    'The source names the organisation that publishes the event, and after it the system.',
    onUrn(({ organisation, system }) => organisation === '' || system === ''),
    'source',
  ),
  rule(
    'source_organisation',
    'SHOULD',
    'source',
    'The organisation in the source is identified by its OIN, its KvK number or its eIDAS legal identifier.',
    onUrn(({ register }) => register === undefined),
    'source',
  ),
  rule(
    'source_number',
    'SHOULD',
    'source',
    'An OIN has 20 digits, a KvK number 8, and an eIDAS legal identifier the form NL/DE/identifier.',
    onUrn(({ register, organisation }) => {
      return register !== undefined && registers.get(register)?.test(decode(organisation)) === false;
    }),
    'source',
  ),
  rule(
    'source_location',
    'SHOULD',
    'source',
    'The source is not the place where the data is; that is dataref.',
    (event) => {
      const dataref = event.attributes.get('dataref');
      return dataref !== undefined && dataref === event.attributes.get('source') ? at('source') : undefined;
    },
  ),
  rule('data_json', 'SHOULD', 'datacontenttype', 'The data is JSON.', (event) => {
    return event.hasData && event.datacontenttype !== undefined && !event.dataIsJson
      ? at('datacontenttype')
      : undefined;
  }),
  rule('dataref', 'MUST', 'dataref', 'The dataref is a URI reference.', (event) => {
    const dataref = event.attributes.get('dataref');
    return dataref === undefined || (typeof dataref === 'string' && isUriReference(dataref))
      ? undefined
      : at('dataref');
  }),
  rule('sequence', 'MUST', 'Sequence, sequence', 'The sequence is a string of at least one character.', (event) => {
    const sequence = event.attributes.get('sequence');
    return sequence === undefined || (typeof sequence === 'string' && sequence !== '') ? undefined : at('sequence');
  }),
  rule('sequence_required', 'MUST', 'Sequence, sequence', 'An event with a sequencetype has a sequence.', (event) =>
    isGiven(event, 'sequencetype') && !isGiven(event, 'sequence') ? at('sequence') : undefined,
  ),
  rule(
    'sequencetype',
    'MUST',
    'Sequence, sequencetype',
    'The sequencetype is a string of at least one character.',
    (event) => {
      const type = event.attributes.get('sequencetype');
      return type === undefined || (typeof type === 'string' && type !== '') ? undefined : at('sequencetype');
    },
  ),
  rule(
    'sequence_integer',
    'MUST',
    'Sequence, Integer',
    'Where the sequencetype is Integer, the sequence is a signed 32-bit integer written as a string.',
    (event) => {
      const sequence = ruleTextOf(event, 'sequence');
      if (!sequence || !isIntegerType(ruleTextOf(event, 'sequencetype'))) return undefined;
      return isIntegerText(sequence) ? undefined : at('sequence');
    },
  ),
];

/** A URN may have its slashes percent-encoded. */
function decode(text: string): string {
  return text.replaceAll(/%2f/gi, '/');
}

/** The reverse domain name is a MUST here. */
export const nlGovRules: readonly Rule[] = [
  ...cloudeventsRules.filter((each) => each !== typeReverseDomain),
  ...ownRules,
];
