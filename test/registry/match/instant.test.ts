import { expect, test } from '@jest/globals';
import { instantText } from '../../../src/matching/replica/write-bytes.js';

test('instants are written as Date.toISOString writes them', () => {
  const edges = [
    0, 1, 999, 86_399_999, 86_400_000, 951_782_400_000, 1_790_000_000_123, 4_102_444_799_999, 253_402_300_799_999,
  ];
  const random = Array.from({ length: 20_000 }, () => Math.floor(Math.random() * 4_102_444_800_000));
  const wrong = [...edges, ...random].filter((time) => instantText(time) !== new Date(time).toISOString());
  expect(wrong).toEqual([]);
});
