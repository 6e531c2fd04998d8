import { unlikelyTexts } from '../../base/texts/filters.js';
import { escapePointer } from '../../base/formats/json.js';
import { limits } from '../../base/limits.js';
import type { Text } from '../../base/texts/text.js';
import type { Cesql } from '../cesql/expression.js';
import { parseCesql } from '../cesql/parser.js';
import { comparisonOf, type Filter, type Operator } from './filter.js';

/** A value that will hardly match an event, with the spelling that would. `rule` is stable. */
export interface Unlikely {
  pointer: string;
  rule: 'unlikely_to_match';
  detail: Text;
}

interface Wishes {
  source?: string | undefined;
  types?: readonly string[] | undefined;
  subject?: string | undefined;
  filters?: readonly Filter[] | undefined;
}

/**
 * What a subscription asks for in the style of other products: wildcards of event buses and topics, regular expressions,
 * blanks at the ends, lists in one string, and sources with a slash at the end. All of it is valid and compared character
 * by character, so nothing would come and nothing would say why. At most fifty.
 */
export function findUnlikely({ source, types = [], subject, filters = [] }: Wishes): Unlikely[] {
  const found: Unlikely[] = [];
  const add = (pointer: string, detail: Text | undefined) => {
    if (detail !== undefined && found.length < limits.faults)
      found.push({ pointer, rule: 'unlikely_to_match', detail });
  };
  for (const [index, type] of types.entries()) add(`/types/${index}`, adviceFor('type', type, true));
  if (source !== undefined) add('/source', adviceFor('source', source, true));
  if (subject !== undefined) add('/subject', adviceFor('subject', subject, true));
  const walk = (filter: Filter, at: string): void => {
    const compared = comparisonOf(filter);
    if (compared !== undefined) {
      const { operator, attributes } = compared;
      for (const [name, value] of Object.entries(attributes)) {
        if (!judged.has(name)) continue;
        const detail = operator === 'exact' ? adviceFor(name, value, false) : adviceForPart(operator, name, value);
        add(`${at}/${operator}/${escapePointer(name)}`, detail);
      }
    } else if ('sql' in filter) {
      const pattern = /\bLIKE\s+(['"])([^'"%]*\*[^'"%]*)\1/i.exec(filter.sql)?.[2];
      if (pattern !== undefined) add(`${at}/sql`, unlikelyTexts.like(pattern.replaceAll('*', '%')));
      add(`${at}/sql`, adviceForConstant(filter.sql));
    } else if ('not' in filter) walk(filter.not, `${at}/not`);
    else if ('all' in filter) walkAll(filter.all, `${at}/all`);
    else if ('any' in filter) walkAll(filter.any, `${at}/any`);
  };
  const walkAll = (list: readonly Filter[], at: string) => {
    for (const [index, each] of list.entries()) walk(each, `${at}/${index}`);
  };
  walkAll(filters, '/filters');
  return found;
}

/** The attributes whose values are names: an asterisk in one is a wildcard that was meant. */
const judged: ReadonlySet<string> = new Set(['type', 'source', 'subject']);

/** Of an exact value; `isMember` if leaving it out means every value. */
function adviceFor(name: string, value: string, isMember: boolean): Text | undefined {
  const plain = value.trim();
  if (plain !== value && plain !== '') return unlikelyTexts.blanks(plain);
  if (/^(?:\*+|>|#|%|\^?\.[*+]\$?)$/.test(value))
    return isMember ? unlikelyTexts.leaveOut : unlikelyTexts.leaveOutFilter;
  if (name === 'type' && /,\s*/.test(value) && value.split(',').every((part) => part.includes('.'))) {
    return unlikelyTexts.list(value.split(',').map((part) => part.trim()));
  }
  const regular = name === 'type' ? regularExpression(value) : undefined;
  const pattern = regular ?? value;
  const stars = starsOf(pattern, name);
  if (stars !== undefined) return suggestion(name, stars);
  if (regular !== undefined) return unlikelyTexts.noExpressions;
  if (name === 'source' && /[^/:]\/$/.test(value)) return unlikelyTexts.slash(value.replace(/\/+$/, ''));
  return undefined;
}

/** For a part of an expression that compares two texts, such as "type" = 'a': one is the name of an attribute in quotes. */
function adviceForConstant(text: string): Text | undefined {
  const parsed = parseCesql(text);
  const name = 'fault' in parsed ? undefined : quotedName(parsed.expression);
  return name === undefined ? undefined : unlikelyTexts.constant(name);
}

const textOf = (node: Cesql): string | undefined =>
  node.kind === 'literal' && typeof node.value === 'string' ? node.value : undefined;

/** The first text that is compared with texts alone. */
function quotedName(node: Cesql): string | undefined {
  switch (node.kind) {
    case 'comparison':
      return textOf(node.right) === undefined ? undefined : textOf(node.left);
    case 'like':
      return textOf(node.operand);
    case 'in':
      return node.set.every((each) => textOf(each) !== undefined) ? textOf(node.operand) : undefined;
    case 'logic':
      return quotedName(node.left) ?? quotedName(node.right);
    case 'not':
      return quotedName(node.operand);
    default:
      return undefined;
  }
}

/** Of the value of `prefix` or `suffix`, which needs no wildcard. */
function adviceForPart(operator: Operator, name: string, value: string): Text | undefined {
  if (operator !== 'prefix' && operator !== 'suffix') return undefined;
  const bare = operator === 'prefix' ? value.replace(/(?:\*+|>|#)$/, '') : value.replace(/^\*+/, '');
  return bare === value || bare === '' ? undefined : unlikelyTexts.filter(operator, name, bare);
}

/** A regular expression as a value with asterisks; itself if it says more than that, undefined if it is none. */
function regularExpression(value: string): string | undefined {
  // Without another sign of one, ".*" inside is a dot and a glob.
  if (!/^\^|\$$|\\\.|^\.[*+]|\.\+|\[[^\]]*\]|\(.*\|.*\)/.test(value)) return undefined;
  const isOpen = { begin: !value.startsWith('^'), end: !value.endsWith('$') };
  const body = value.replace(/^\^/, '').replace(/\$$/, '');
  const stars = body.replace(/\.[*+]\??/g, '*').replace(/\\([.\-/])/g, '$1');
  if (/[\\^$[\]()|?+{}]/.test(stars)) return value;
  // Without an anchor, it is looked for anywhere.
  const whole = `${isOpen.begin && value.startsWith('*') ? '*' : ''}${stars}${isOpen.end && value.startsWith('^') ? '*' : ''}`;
  return whole.replace(/\*+/g, '*');
}

/** The parts of a value between its wildcards, in the style of any product; undefined if it has none. */
function starsOf(value: string, name: string): string[] | undefined {
  let plain = value.replace(/\*+/g, '*');
  // NATS and MQTT: a whole part. A source may end with "#" or have a percent-encoded character.
  if (name === 'type') {
    plain = plain
      .replace(/(?<=[./])[>#]$/, '*')
      .replace(/(?<=\/)\+(?=\/|$)/g, '*')
      .replace(/%/g, '*');
  }
  return plain.includes('*') ? plain.split('*') : undefined;
}

function suggestion(name: string, parts: readonly string[]): Text {
  const [first = '', ...rest] = parts;
  const last = rest.at(-1) ?? '';
  if (rest.length === 1 && last === '') return unlikelyTexts.filter('prefix', name, first);
  if (rest.length === 1 && first === '') return unlikelyTexts.filter('suffix', name, last);
  return unlikelyTexts.sql(name, parts.map((part) => part.replace(/[%_]/g, '\\$&').replaceAll("'", "\\'")).join('%'));
}
