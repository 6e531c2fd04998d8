import { describe, expect, test } from '@jest/globals';
import type { Origin } from '../../../src/consent/origin.js';
import type { Definition, Subscription } from '../../../src/registry/subscriptions/columns.js';
import { planOf, type Replacement } from '../../../src/registry/subscriptions/plan.js';
import type { RequestedSecret, RequestedSecrets } from '../../../src/registry/subscriptions/secrets.js';

const now = new Date('2026-05-01T12:00:00.000Z');
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const [past, future] = [inSeconds(-3_600), inSeconds(3_600)];

const definition: Definition = {
  sink: 'https://one.example.com/hook',
  protocol: 'HTTP',
  protocolSettings: undefined,
  source: 'urn:a',
  types: ['com.example.a'],
  subject: undefined,
  filters: undefined,
  price: 7,
  config: undefined,
  requestedRate: 5,
  expiresAt: undefined,
  callback: undefined,
};
const present = {
  ...definition,
  id: 'id',
  origin: 'a.example.com',
  secrets: {},
  generation: 3,
  isEnded: false,
} as unknown as Subscription;
const noSecrets: RequestedSecrets = { sinkcredential: { kind: 'absent' }, signingsecret: { kind: 'absent' } };
const ended = { isEnded: true, expiresAt: past };
const suspended = { suspension: { at: past, by: 'admin' as const, reason: 'An incident.' } };
const otherSink = { sink: 'https://one.example.com/other' };

function plan(stored: Partial<Subscription>, asked: Partial<Definition>, rest: Partial<Replacement> = {}) {
  const before = { ...present, ...stored };
  const requested = {
    definition: { ...definition, expiresAt: before.expiresAt, ...asked },
    origin: { name: 'a.example.com' } as Origin,
    secrets: noSecrets,
    sealed: {},
    ...rest,
  };
  return planOf(before, requested, now);
}

describe('a replacement', () => {
  const none = {
    question: 'none',
    locksPairs: false,
    isOtherPair: false,
    generation: 3,
    isExtended: false,
    price: { before: 7, after: 7 },
  };
  const otherPair = { locksPairs: true, isOtherPair: true, generation: 4 };
  const unpaid = { price: { before: 7, after: 0 } };
  const extended = { locksPairs: true, isExtended: true, price: { before: 0, after: 7 } };
  const [otherRate, moved] = [{ requestedRate: 6 }, { expiresAt: future }];

  test.each<[string, Partial<Subscription>, Partial<Definition>, object]>([
    ['of nothing asks nothing', {}, {}, {}],
    ['of filters only counts them', {}, { price: 9 }, { price: { before: 7, after: 9 } }],
    ['of the end only asks nothing', {}, moved, {}],
    ['of the rate asks for it', {}, otherRate, { question: 'other rate', locksPairs: true }],
    [
      'of the rate by the one of the origin asks',
      {},
      { requestedRate: undefined },
      { question: 'other rate', locksPairs: true },
    ],
    ['of the sink asks for another pair', {}, otherSink, { question: 'other pair', ...otherPair }],
    [
      'of sink and rate asks for the pair',
      {},
      { ...otherSink, ...otherRate },
      { question: 'other pair', ...otherPair },
    ],
    ['of a suspended one asks nothing', suspended, otherRate, { locksPairs: true }],
    ['of the sink of a suspended one asks nothing', suspended, otherSink, otherPair],
    ['of one that stays ended asks nothing', ended, otherRate, { locksPairs: true, ...unpaid }],
    ['of the sink of one that stays ended asks nothing', ended, otherSink, { ...otherPair, ...unpaid }],
    ['that extends asks unless it is covered', ended, moved, { question: 'unless covered', ...extended }],
    ['that takes the end away extends', ended, { expiresAt: undefined }, { question: 'unless covered', ...extended }],
    ['that extends with another rate asks', ended, { ...moved, ...otherRate }, { question: 'other rate', ...extended }],
    [
      'that extends elsewhere asks',
      ended,
      { ...moved, ...otherSink },
      { question: 'other pair', ...extended, ...otherPair },
    ],
    ['that extends a suspended one asks nothing', { ...ended, ...suspended }, moved, extended],
  ])('%s', (_title, stored, asked, expected) => {
    expect(plan(stored, asked)).toMatchObject({ ...none, isOtherOrigin: false, ...expected });
  });

  test('of the origin asks for another pair', () => {
    const other = { origin: { name: 'b.example.com' } as Origin };
    expect(plan({}, {}, other)).toMatchObject({ ...none, ...otherPair, question: 'other pair', isOtherOrigin: true });
    expect(plan({}, {}, other).row).toMatchObject({ origin: 'b.example.com', generation: 4 });
  });

  test('keeps the recorded end only if it stays ended', () => {
    expect(plan(ended, otherSink).row).not.toHaveProperty('endedat');
    expect(plan(ended, moved).row).toHaveProperty('endedat', null);
  });
});

// Both secrets of a subscription follow the same rules.
describe.each([
  {
    name: 'sinkcredential' as const,
    info: { credentialtype: 'PLAIN' as const },
    value: { credentialtype: 'PLAIN' as const, identifier: 'i', secret: 's' },
    columns: ['sinkcredential', 'credentialinfo', 'previouscredential', 'previousinfo', 'previousuntil'] as const,
  },
  {
    name: 'signingsecret' as const,
    info: {},
    value: { secret: 's' },
    columns: [
      'signingsecret',
      'signingsecretinfo',
      'previoussigningsecret',
      'previoussigninginfo',
      'previoussigninguntil',
    ] as const,
  },
])('the $name of a replacement', ({ name, info, value, columns }) => {
  const [stored, itsInfo, previously, previousInfo, end] = columns;
  const old = { ...info, setat: past.toISOString(), fingerprint: 'old' };
  const older = { ...old, fingerprint: 'older', until: inSeconds(30).toISOString() };
  const sealed = (fingerprint: string) => ({ text: 'sealed', info: { ...info, fingerprint } });
  const given = (overlapSeconds?: number): RequestedSecret => ({ kind: 'given', value, overlapSeconds });
  const kept = (overlapSeconds?: number): RequestedSecret => ({ kind: 'kept', overlapSeconds });
  const absent: RequestedSecret = { kind: 'absent' };
  const rotated = { ...old, previous: older };
  const [atOtherHost, after60] = [{ sink: 'https://two.example.com/hook' }, inSeconds(60).toISOString()];

  /** `writes`: the columns of a secret, present or previous; `previous`: whose it is afterwards, and until when. */
  test.each<{
    title: string;
    before?: object;
    asked: RequestedSecret;
    seals?: string;
    at?: Partial<Definition>;
    writes: string[];
    is: string | undefined;
    previous?: { fingerprint: string; until: string };
    overlaps?: boolean;
  }>([
    { title: 'is set', asked: given(), seals: 'new', writes: ['present', 'previous'], is: 'new' },
    {
      title: 'is replaced at once',
      before: rotated,
      asked: given(),
      seals: 'new',
      writes: ['present', 'previous'],
      is: 'new',
    },
    {
      title: 'is replaced with an overlap',
      before: rotated,
      asked: given(60),
      seals: 'new',
      writes: ['present'],
      is: 'new',
      previous: { fingerprint: 'old', until: after60 },
      overlaps: true,
    },
    { title: 'has nothing to overlap', asked: given(60), seals: 'new', writes: ['present', 'previous'], is: 'new' },
    {
      title: 'stays',
      before: rotated,
      asked: kept(),
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: older.until },
    },
    {
      title: 'stays, with another overlap',
      before: rotated,
      asked: kept(60),
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: after60 },
    },
    { title: 'stays, and the overlap ends', before: rotated, asked: kept(0), writes: ['previous'], is: 'old' },
    { title: 'stays, without a previous one', before: old, asked: kept(60), writes: ['previous'], is: 'old' },
    {
      title: 'keeps its overlap if the rotation is repeated',
      before: rotated,
      asked: given(60),
      seals: 'old',
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: after60 },
    },
    { title: 'is removed', before: rotated, asked: absent, writes: ['present', 'previous'], is: undefined },
    {
      title: 'is repeated for another host',
      before: rotated,
      asked: given(),
      seals: 'old',
      at: atOtherHost,
      writes: ['previous'],
      is: 'old',
    },
    {
      title: 'never overlaps at another host',
      before: old,
      asked: given(60),
      seals: 'new',
      at: atOtherHost,
      writes: ['present', 'previous'],
      is: 'new',
    },
  ])('$title', ({ before, asked, seals, at = {}, writes, is, previous, overlaps = false }) => {
    const found = plan({ secrets: before === undefined ? {} : { [name]: before } }, at, {
      secrets: { ...noSecrets, [name]: asked },
      sealed: seals === undefined ? {} : { [name]: sealed(seals) },
    });
    const { row, secrets } = found;
    expect({
      writes: [...(stored in row ? ['present'] : []), ...(previously in row ? ['previous'] : [])],
      is: secrets[name]?.fingerprint,
      previous: secrets[name]?.previous,
      until: row[end],
      overlapping: found.overlapping,
    }).toEqual({
      writes,
      is,
      previous,
      until: previous === undefined ? null : new Date(previous.until),
      overlapping: overlaps ? [name] : [],
    });
    expect(itsInfo in row).toBe(stored in row);
    expect(previousInfo in row).toBe(previously in row);
  });
});
