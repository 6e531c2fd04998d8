import { escapeHtml } from '../http/html-page.js';
import type { Schema } from '../../base/contract/document.js';

export type Markdown = (text: string) => string;

/** What a value may be, on one line. A named type is a link to where the page describes it. */
export function typeMarkup(schema: Schema): string {
  const { $ref: reference, type, items, format, oneOf, anyOf, allOf } = schema;
  if (reference !== undefined) {
    const name = escapeHtml(reference.split('/').at(-1) ?? '');
    return `<a href="#type-${name}">${name}</a>`;
  }
  if (schema.enum) return schema.enum.map(valueMarkup).join(' or ');
  const open = schema['x-extensible-enum'];
  if (open) return `${open.map(valueMarkup).join(' or ')}, or a value of a later version`;
  if (schema.const !== undefined) return valueMarkup(schema.const);
  const variants = oneOf ?? anyOf;
  if (variants) return variants.map(typeMarkup).join(' or ');
  if (allOf) return allOf.map(typeMarkup).join(' and ');
  if (type === 'array') return `array of ${items ? typeMarkup(items) : 'any value'}${bounds(schema)}`;
  return (
    escapeHtml([type ?? 'any value'].flat().join(' or ') + (format === undefined ? '' : ` (${format})`)) +
    bounds(schema)
  );
}

const valueMarkup = (value: unknown) => `<code>${escapeHtml(JSON.stringify(value))}</code>`;

function bounds({ minimum, maximum, minLength, maxLength, maxItems, ...rest }: Schema): string {
  const number = (value: number) => value.toLocaleString('en');
  const parts = [
    minimum !== undefined && maximum !== undefined
      ? `${number(minimum)} to ${number(maximum)}`
      : minimum !== undefined
        ? `at least ${number(minimum)}`
        : maximum !== undefined && `at most ${number(maximum)}`,
    maxLength !== undefined && `at most ${number(maxLength)} characters`,
    maxLength === undefined && minLength === 1 && 'not empty',
    maxItems !== undefined && `at most ${number(maxItems)} entries`,
    rest.default !== undefined && `default ${escapeHtml(JSON.stringify(rest.default))}`,
  ];
  return parts.flatMap((part) => (part ? [`, ${part}`] : [])).join('');
}

/** The members of an object, with those of the objects inside it. Empty for what has none. */
export function membersMarkup(schema: Schema, markdown: Markdown): string {
  const { properties = {}, required = [], items } = schema;
  const variants = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const within = [...(items ? [items] : []), ...variants].map((each) => membersMarkup(each, markdown)).join('');
  const entries = Object.entries(properties).map(([name, member]) => {
    const marks = [
      ...(required.includes(name) ? ['required'] : []),
      ...(member.readOnly ? ['ignored in requests'] : []),
      ...(member['x-addition'] ? ['addition'] : []),
    ];
    const description = member.description === undefined ? '' : markdown(member.description);
    return entryMarkup(name, typeMarkup(member), marks, description + membersMarkup(member, markdown));
  });
  return (entries.length > 0 ? `<dl class="members">\n${entries.join('')}</dl>\n` : '') + within;
}

/** `type` and `content` are markup. */
export function entryMarkup(name: string, type: string, marks: readonly string[], content: string): string {
  const notes = marks.map((mark) => ` · ${mark}`).join('');
  return `<dt><code>${escapeHtml(name)}</code> <span class="type">${type}${notes}</span></dt><dd>${content}</dd>\n`;
}
