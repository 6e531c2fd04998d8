import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readCursor, writeCursor } from '../../src/changes/cursor.js';

const secret = randomBytes(32);
const place = { epoch: randomUUID(), position: 9_007_199_254_740_993n };
const cursor = writeCursor(secret, 'gemeente', place);

test('a cursor gives back its place to its tenant', () => {
  expect(readCursor(secret, 'gemeente', cursor)).toEqual(place);
  expect(cursor).toMatch(/^[A-Za-z0-9_-]{54}$/);
});

test('a cursor is nothing to another tenant or under another secret', () => {
  expect(readCursor(secret, 'provincie', cursor)).toBeUndefined();
  expect(readCursor(randomBytes(32), 'gemeente', cursor)).toBeUndefined();
});

test('a cursor with any one bit changed is none', () => {
  const bytes = Buffer.from(cursor, 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(readCursor(secret, 'gemeente', changed.toString('base64url'))).toBeUndefined();
  }
});

test.each([
  ['nothing', ''],
  ['half of it', cursor.slice(0, 27)],
  ['more than it', `${cursor}AA`],
  ['the same bytes written otherwise', `${cursor}==`],
  ['spaces', ` ${cursor}`],
  ['a number', '42'],
])('%s is no cursor', (_, text) => {
  expect(readCursor(secret, 'gemeente', text)).toBeUndefined();
});
