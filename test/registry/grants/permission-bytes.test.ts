import { expect, test } from '@jest/globals';
import { bases, presentPermission } from '../../../src/consent/decision.js';
import { PlainPair, PlainPairs, tagOfGranted, writeGranted } from '../../../src/registry/grants/permission-bytes.js';
import { hashBytes } from '../../../src/matching/index/hash.js';
import { KnownPairs } from '../../../src/matching/replica/known-pairs.js';

const id = '0197f3c2-4a5b-7c6d-8e9f-0a1b2c3d4e5f';
const time = Date.UTC(2026, 10, 21);

test('the byte writer writes the same text as JSON.stringify', () => {
  const origin = 'eventemitter.example.com';
  const known = new KnownPairs();
  const plain = new PlainPair();
  const tags = new Set<string>();
  for (const basis of bases) {
    for (const allowedrate of ['*', 1, 120, 999_999_999_999_999] as const) {
      for (const days of [1, 40, 1_000]) {
        const sink = `https://${basis}.example.com/${allowedrate}?${'x'.repeat(days)}`;
        const expiresat = new Date(time + days * 86_399_999).toISOString();
        const state = { origin, sink, id, state: 'live', expiresat } as const;
        known.putGrant(1, sink, { ...state, basis: 'agreement', allowedrate: 7 });
        known.putGrant(1, sink, { ...state, basis, allowedrate });
        const asked = Buffer.from(sink);
        const pair = known.find(1, asked, 0, asked.length);
        known.join(1, sink, { subscriber: known.acquireSubscriber('a'), isSuspended: false, end: undefined });
        expect(plain.set({ origin, sink })).toBe(true);
        const text = plain.bytes.toString('latin1', 0, writeGranted(known, pair, plain.view, plain.sinkTo));
        expect(text).toBe(JSON.stringify(presentPermission(origin, sink, known.permission(pair, time))));
        tags.add(tagOfGranted(known, pair, text));
      }
    }
  }
  expect(tags.size).toBe(bases.length * 4 * 3);
  expect([...tags].every((tag) => /^"[!#-~]+"$/.test(tag))).toBe(true);
});

test('a query is read as URLSearchParams reads it, or rejected', () => {
  const plain = new PlainPair();
  const read = (query: string) => (plain.readQuery(query) ? { origin: plain.origin, sink: plain.sink } : undefined);
  const queryOf = (pair: { origin: string; sink: string }) => String(new URLSearchParams(pair)).replaceAll('+', '%20');
  const pairs = [
    { origin: 'a', sink: 'b' },
    { origin: 'a-9.z', sink: "https://c.example/?d=[e]&f='g'+%~" },
    { origin: 'x'.repeat(253), sink: '/'.repeat(2_048) },
  ];
  for (const pair of pairs) {
    expect(read(queryOf(pair))).toEqual(pair);
    expect(plain.sinkHash).toBe(hashBytes(Buffer.from(pair.sink), 0, pair.sink.length));
    expect(plain.bytes.toString('latin1', 0, plain.sinkTo)).toBe(JSON.stringify(pair).slice(0, -2));
  }
  expect(read('origin=A.Z&sink=b')).toEqual({ origin: 'a.z', sink: 'b' });
  // With any one character replaced, the fast path rejects it or reads the same as URLSearchParams.
  const small = queryOf(pairs[1]!);
  for (let at = 0; at < small.length; at += 1) {
    for (const other of [
      '',
      '&',
      '+',
      '=',
      '%',
      '%2',
      '%2g',
      '%C3%A9',
      '%00',
      '%22',
      '%5c',
      '%2B',
      '%25',
      '"',
      ' ',
      'é',
      'q',
    ]) {
      const broken = small.slice(0, at) + other + small.slice(at + 1);
      const found = read(broken);
      if (found === undefined) continue;
      const known = new URLSearchParams(broken);
      const [origin, ...origins] = known.getAll('origin');
      expect([...known.keys()]).toEqual(['origin', 'sink']);
      expect([found.origin, found.sink, origins]).toEqual([origin?.toLowerCase(), known.get('sink'), []]);
    }
  }
  for (const query of ['', 'origin=a', 'origin=a&sink=', 'origin=&sink=b', 'sink=b&origin=a', 'origin=a&sink=b&c=d']) {
    expect(read(query)).toBeUndefined();
  }
  expect(read(queryOf({ origin: 'x'.repeat(254), sink: 'b' }))).toBeUndefined();
  expect(read(queryOf({ origin: 'a', sink: '/'.repeat(2_049) }))).toBeUndefined();
});

test('pairs are read from bytes as JSON.parse reads them, or rejected', () => {
  const plain = new PlainPairs();
  const read = (text: string) => {
    const bytes = Buffer.from(text);
    if (!plain.read(bytes)) return undefined;
    return Array.from({ length: plain.count }, (_, i) => ({
      origin: bytes.toString('utf8', plain.originFrom[i], plain.originTo[i]),
      sink: bytes.toString('utf8', plain.sinkFrom[i], plain.sinkTo[i]),
    }));
  };
  const pairs = [
    { origin: 'a', sink: 'b' },
    { origin: 'A-9.Z', sink: "https://c.example/?d=[e]&f='g'~" },
    { origin: 'x'.repeat(253), sink: 'y'.repeat(2_048) },
  ];
  const text = JSON.stringify(pairs);
  expect(read(text)).toEqual(pairs);
  // With any one character replaced, the fast path rejects it or reads the same as JSON.parse.
  const small = JSON.stringify(pairs.slice(0, 2));
  for (let at = 0; at < small.length; at += 1) {
    for (const other of ['', ' ', '"', '\\', ',', ']', '}', 'é', '\u007f', '\u0000', 'q']) {
      const broken = small.slice(0, at) + other + small.slice(at + 1);
      const found = read(broken);
      if (found !== undefined) expect(found).toEqual(JSON.parse(broken));
    }
    expect(read(small.slice(0, at))).toBeUndefined();
  }
  const tooLong = [{ origin: 'x'.repeat(254), sink: 'b' }];
  expect(read(JSON.stringify(tooLong))).toBeUndefined();
  expect(read(JSON.stringify([{ origin: 'a', sink: 'y'.repeat(2_049) }]))).toBeUndefined();
  expect(read(JSON.stringify(Array(1_001).fill({ origin: 'a', sink: 'b' })))).toBeUndefined();
});
