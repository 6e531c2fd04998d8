import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/**
 * Members whose name another standard also uses, for something else. CloudEvents: events and the Subscriptions API; AuthZEN: the
 * access evaluation API; problems: RFC 9457.
 */
const ofOtherStandards: Readonly<Record<string, string>> = {
  action: 'AuthZEN: what is asked; elsewhere what an audit record is about',
  data: 'CloudEvents: any JSON; an object in the notices of the registry',
  decision: 'AuthZEN: whether it is allowed; a choice of the page of a callback',
  status: 'RFC 9457 and AuthZEN: the HTTP status code; elsewhere the status of a subscription',
  subject: 'AuthZEN: who asks; CloudEvents: the subject of an event',
};

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  properties?: Record<string, Schema>;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  readOnly?: boolean;
}

const document = JSON.parse(readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8')) as object;

function resolve({ $ref: reference, ...schema }: Schema): Schema {
  if (reference === undefined) return schema;
  const parts = reference.slice(2).split('/');
  return resolve(parts.reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document) as Schema);
}

/** The JSON types of a schema, such as `integer|string` or `string[]`. Empty for any value. */
function typesOf(schema: Schema): string {
  const { type, enum: values, const: value, items, properties, allOf, anyOf, oneOf } = resolve(schema);
  const either = [...(anyOf ?? []), ...(oneOf ?? [])];
  if (either.length > 0) return [...new Set(either.flatMap((each) => typesOf(each).split('|')))].sort().join('|');
  if (allOf !== undefined) return typesOf(allOf[0] as Schema);
  const named = [type ?? (properties ? 'object' : (values?.map((each) => typeof each) ?? []))].flat();
  if (value !== undefined && named.length === 0) return typeof value;
  return named
    .map((each) => (each === 'array' ? `${typesOf(items ?? {})}[]` : each))
    .sort()
    .join('|');
}

/** Where each member is, by its name and its types. `properties` of a schema, unless they are a member of that name. */
function membersOf(root: unknown) {
  const found = new Map<string, Map<string, string[]>>();
  const walk = (node: unknown, path: string, isMembers: boolean) => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (!isMembers) {
        if (name !== 'example' && name !== 'examples') walk(value, `${path}/${name}`, name === 'properties');
        continue;
      }
      const schema = value as Schema;
      walk(schema, `${path}/${name}`, false);
      // Such a member of a request is ignored, whatever it is: a client may send back what it read.
      if (schema.readOnly === true && typesOf(schema) === '') continue;
      const byType = found.get(name) ?? new Map<string, string[]>();
      found.set(name, byType);
      const types = typesOf(schema);
      byType.set(types, [...(byType.get(types) ?? []), path]);
    }
  };
  walk(root, '', false);
  return found;
}

test('a member name has one type and one meaning across the contract', () => {
  const several = [...membersOf(document)].filter(([, byType]) => byType.size > 1);
  const unexpected = several.filter(([name]) => !(name in ofOtherStandards));
  expect(unexpected.map(([name, byType]) => ({ name, ...Object.fromEntries(byType) }))).toEqual([]);
  expect(several.map(([name]) => name).sort()).toEqual(Object.keys(ofOtherStandards));
});

test('an absent member is left out: none is null', () => {
  const nullable = [...membersOf(document)].filter(([, byType]) =>
    [...byType.keys()].some((types) => /null/.test(types)),
  );
  expect(nullable.map(([name]) => name)).toEqual([]);
});

test('a reason is what a person wrote, and a lease is what senders take', () => {
  const placesOf = (name: RegExp) =>
    [...membersOf(document)]
      .filter(([member]) => name.test(member))
      .flatMap(([, byType]) => [...byType.values()].flat())
      .map((path) => path.replace('/components/schemas/', '').replaceAll('/properties', ''))
      .sort();
  expect(placesOf(/^reason/)).toEqual([
    'Block',
    'BlockPreview',
    'BlockRequest',
    'OptionalReason',
    'Reason',
    'Subscription/suspension',
  ]);
  expect(placesOf(/endreason/)).toEqual(['Grant']);
  expect(new Set(placesOf(/lease/).map((place) => /Lease/.exec(place)?.[0]))).toEqual(new Set(['Lease']));
  expect(JSON.stringify(document)).not.toMatch(/"name":"reason"/);
});
