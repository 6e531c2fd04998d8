import { expect, test } from '@jest/globals';
import {
  documentText,
  methods,
  resolve,
  type OpenApiDocument,
  type OperationObject,
  type Schema,
} from '../../../src/base/contract/document.js';

const document = JSON.parse(documentText()) as OpenApiDocument;

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  methods.flatMap((method) => {
    const operation = item[method];
    return operation === undefined ? [] : [{ path, method, operation, id: operation.operationId }];
  }),
);

const returnsList = ({ responses }: OperationObject) =>
  Object.values(resolve(document, responses['200'] ?? { description: '' }).content ?? {}).some(
    ({ schema }) => resolve<Schema>(document, schema).type === 'array',
  );

/** Actions, and pages of a log that are no array. */
const otherNames = new Set(['authorizeDelivery', 'decideCallbackByGet', 'listChanges', 'whoami']);

/** What the name of an operation begins with. */
function verbOf({ method, path, operation }: (typeof operations)[number]): RegExp {
  const isItem = path.endsWith('}');
  if (method === 'get') return returnsList(operation) ? /^list[A-Z]\w+s$/ : /^get[A-Z]/;
  if (method === 'put') return /^replace[A-Z]/;
  if (method === 'patch') return /^update[A-Z]/;
  // An origin has one.
  if (method === 'delete')
    return isItem || path.endsWith('/client-certificate') ? /^(?:delete|lift|return)[A-Z]/ : /^$/;
  // What only reads answers a question: nothing is tested, validated or tried.
  return operation['x-safe'] === true
    ? /^(?:check|match|evaluate|search)[A-Z]/
    : /^(?:create|suspend|resume|revoke|release|verify|ask|take|report|decide)[A-Z]/;
}

test('operations are named list, get, create, replace, update and delete, or by the verb of their action', () => {
  const wrong = operations.filter((each) => !otherNames.has(each.id) && !verbOf(each).test(each.id));
  expect(wrong.map(({ id }) => id)).toEqual([]);
});

test('what checks something and stores nothing is called check, and a write that stores nothing dryrun', () => {
  const words = operations.flatMap(({ path, operation, method }) => [
    ...path.split('/'),
    ...(operation.parameters ?? []).map((each) => resolve(document, each).name),
    ...(path.endsWith('/check') && operation['x-safe'] !== true ? [`${method} ${path} writes`] : []),
  ]);
  expect(words.filter((word) => /test|valid|preview|simulat|writes|dry-?run/i.test(word))).toEqual(
    words.filter((word) => word === 'dryrun'),
  );
  const drying = operations.filter(({ operation }) =>
    (operation.parameters ?? []).some((each) => resolve(document, each).name === 'dryrun'),
  );
  expect(drying.filter(({ operation }) => operation['x-safe'] === true)).toEqual([]);
  expect(drying.map(({ id }) => id)).toContain('createBlock');
});
