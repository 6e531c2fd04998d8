import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readCursor, writeCursor } from '../../../src/registry/changes/cursor.js';

const secret = randomBytes(32);
const place = { epoch: randomUUID(), position: 9_007_199_254_740_993n };
const all = { tenant: 'gemeente' };
const one = { tenant: 'gemeente', origin: 'one.example.com' };
const other = { tenant: 'gemeente', origin: 'other.example.com' };
const cursor = writeCursor(secret, all, place);
const cursorOfOne = writeCursor(secret, one, place);

test('a cursor returns its place to its tenant', () => {
  expect(readCursor(secret, all, cursor)).toEqual(place);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]{54}$/);
});

test('a cursor of one origin works only for that origin, and one of all origins works for each', () => {
  expect(readCursor(secret, one, cursorOfOne)).toEqual(place);
  expect(readCursor(secret, other, cursorOfOne)).toBe('of_other_origin');
  expect(readCursor(secret, all, cursorOfOne)).toBe('of_other_origin');
  expect(readCursor(secret, one, cursor)).toEqual(place);
});

test('a cursor from before cursors were bound to origins still works', () => {
  const old = { epoch: '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f', position: 42n };
  const text = 'AZfzwkpbfG2OnwobLD1OXwAAAAAAAAAqkzDxy8cqRE_xMAaL8kDoeg';
  expect(readCursor(Buffer.alloc(32, 7), one, text)).toEqual(old);
  expect(readCursor(Buffer.alloc(32, 7), all, text)).toEqual(old);
});

test('a cursor is invalid for another tenant or with another secret', () => {
  for (const text of [cursor, cursorOfOne]) {
    expect(readCursor(secret, { tenant: 'provincie', origin: one.origin }, text)).toBeUndefined();
    expect(readCursor(randomBytes(32), one, text)).toBeUndefined();
  }
});

test.each([cursor, cursorOfOne])('a cursor with any one bit changed is invalid', (text) => {
  const bytes = Buffer.from(text, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(readCursor(secret, one, changed.toString('base64url'))).toBeUndefined();
  }
});

test.each([
  ['nothing', ''],
  ['half of it', cursor.slice(0, 27)],
  ['more than it', `${cursor}AA`],
  ['that of an origin without its origin', cursorOfOne.slice(0, 54)],
  ['the same bytes written otherwise', `${cursor}==`],
  ['spaces', ` ${cursor}`],
  ['a number', '42'],
])('%s is not a cursor', (_, text) => {
  expect(readCursor(secret, all, text)).toBeUndefined();
});
