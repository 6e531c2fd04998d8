import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { keyed, safe } from '../../../src/kits/client/operations.js';

interface Operation {
  'x-safe'?: boolean;
  parameters?: Array<{ name?: string; $ref?: string }>;
}

const { paths } = JSON.parse(readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, { post?: Operation; servers?: unknown }>;
};
/** A path with servers of its own is beside this API. */
const posts = Object.entries(paths).flatMap(([path, { post, servers }]) =>
  post === undefined || servers !== undefined ? [] : [{ path, post }],
);
const isKeyed = ({ parameters = [] }: Operation) =>
  parameters.some(({ name, $ref }) => name === 'Idempotency-Key' || $ref?.endsWith('/IdempotencyKey'));
const pathsWhere = (holds: (operation: Operation) => boolean) =>
  posts.filter(({ post }) => holds(post)).map(({ path }) => path);

test('a POST that writes gets a key, except for a lease', () => {
  expect([...keyed, '/leases'].sort()).toEqual(pathsWhere(isKeyed).sort());
});

test('a POST without a key is repeated exactly if the contract calls it safe', () => {
  expect([...safe].sort()).toEqual(pathsWhere((post) => post['x-safe'] === true).sort());
});
