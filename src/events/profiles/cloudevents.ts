import { at, rulesOf, ruleTextOf, type Check, type Rule } from '../rule.js';
import { readingRules } from './reading-rules.js';
import { hasReverseDomain } from './reverse-domain.js';
import { isSensitiveName } from './sensitive-name.js';

const safeBytes = 64 * 1024;

const rule = rulesOf('cloudevents', 'CloudEvents 1.0');

/** One finding for each extension that `isBroken` holds for. */
export function eachExtension(isBroken: (name: string, value: unknown) => boolean): Check {
  return ({ attributes: { extensions } }) => {
    if (extensions === undefined) return undefined;
    let findings: { member: string }[] | undefined;
    for (const [member, value] of extensions) {
      if (isBroken(member, value)) (findings ??= []).push({ member });
    }
    return findings;
  };
}

export const nameLength = rule(
  'attribute_name_length',
  'SHOULD',
  'Naming Conventions',
  'The name of an attribute has at most 20 characters.',
  eachExtension((name) => name.length > 20),
);

export const nameStart = rule(
  'attribute_name_start',
  'SHOULD',
  'Naming Conventions',
  'The name of an attribute begins with a letter.',
  eachExtension((name) => name.charCodeAt(0) < 0x61),
);

const sourceAbsolute = rule(
  'source_absolute',
  'SHOULD',
  'source',
  'The source is an absolute URI.',
  (event) => {
    const source = ruleTextOf(event, 'source');
    // That it is a URI reference is known: it has a scheme if a colon comes before everything else that ends one.
    return source === undefined || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(source) ? undefined : at('source');
  },
  'source',
);

export const typeReverseDomain = rule(
  'type_reverse_domain',
  'SHOULD',
  'type',
  'The type begins with a domain name in reverse, such as com.example.',
  (event) => {
    const type = ruleTextOf(event, 'type');
    return type === undefined || hasReverseDomain(type) ? undefined : at('type');
  },
  'type',
);

export const dataschemaFragment = rule(
  'dataschema_fragment',
  'SHOULD',
  'Type System, URI',
  'The dataschema is an absolute URI in the sense of RFC 3986, section 4.3, which has no fragment.',
  (event) => (ruleTextOf(event, 'dataschema')?.includes('#') ? at('dataschema') : undefined),
);

export const size = rule(
  'size',
  'SHOULD',
  'Size Limits',
  'The event has at most 64 KiB, which everyone on its way lets through; larger data is linked to.',
  (event) => (event.bytes > safeBytes ? at(undefined, `The event has ${event.bytes} bytes.`) : undefined),
);

export const sensitiveName = rule(
  'sensitive_name',
  'SHOULD',
  'Privacy and Security',
  'No attribute carries sensitive information; the names of these say that they do.',
  eachExtension((name) => isSensitiveName(name)),
);

export const cloudeventsRules: readonly Rule[] = [
  ...Object.values(readingRules),
  nameLength,
  nameStart,
  sourceAbsolute,
  typeReverseDomain,
  dataschemaFragment,
  size,
  sensitiveName,
];
