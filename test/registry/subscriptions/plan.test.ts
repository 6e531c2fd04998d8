import { describe, expect, test } from '@jest/globals';
import type { Origin } from '../../../src/consent/origin.js';
import type { Definition, Subscription } from '../../../src/registry/subscriptions/columns.js';
import type { PresentCredential, RequestedCredential } from '../../../src/registry/subscriptions/credential.js';
import { planOf, type Replacement } from '../../../src/registry/subscriptions/plan.js';

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
const present = { ...definition, id: 'id', origin: 'a.example.com', generation: 3, isEnded: false } as Subscription;
const ended = { isEnded: true, expiresAt: past };
const suspended = { suspension: { at: past, by: 'admin' as const, reason: 'An incident.' } };
const otherSink = { sink: 'https://one.example.com/other' };

function plan(stored: Partial<Subscription>, asked: Partial<Definition>, rest: Partial<Replacement> = {}) {
  const before = { ...present, ...stored };
  const requested = {
    definition: { ...definition, expiresAt: before.expiresAt, ...asked },
    origin: { name: 'a.example.com' } as Origin,
    credential: { kind: 'absent' as const },
    sealed: undefined,
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

describe('the credential of a replacement', () => {
  const old = { credentialtype: 'PLAIN' as const, setat: past.toISOString(), fingerprint: 'old' };
  const older = { ...old, fingerprint: 'older', until: inSeconds(30).toISOString() };
  const sealed = (fingerprint: string) => ({ text: 'sealed', info: { credentialtype: 'PLAIN' as const, fingerprint } });
  const given = (overlapSeconds?: number): RequestedCredential => {
    return { kind: 'given', value: { credentialtype: 'PLAIN', identifier: 'i', secret: 's' }, overlapSeconds };
  };
  const kept = (overlapSeconds?: number): RequestedCredential => ({ kind: 'kept', type: 'PLAIN', overlapSeconds });
  const absent: RequestedCredential = { kind: 'absent' };
  const rotated = { ...old, previous: older };
  const [atOtherHost, after60] = [{ sink: 'https://two.example.com/hook' }, inSeconds(60).toISOString()];

  /** `writes`: the columns of a credential, present or previous; `previous`: whose it is afterwards, and until when. */
  test.each<{
    title: string;
    stored?: PresentCredential;
    asked: RequestedCredential;
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
      stored: rotated,
      asked: given(),
      seals: 'new',
      writes: ['present', 'previous'],
      is: 'new',
    },
    {
      title: 'is replaced with an overlap',
      stored: rotated,
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
      stored: rotated,
      asked: kept(),
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: older.until },
    },
    {
      title: 'stays, with another overlap',
      stored: rotated,
      asked: kept(60),
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: after60 },
    },
    { title: 'stays, and the overlap ends', stored: rotated, asked: kept(0), writes: ['previous'], is: 'old' },
    { title: 'stays, without a previous one', stored: old, asked: kept(60), writes: ['previous'], is: 'old' },
    {
      title: 'keeps its overlap if the rotation is repeated',
      stored: rotated,
      asked: given(60),
      seals: 'old',
      writes: [],
      is: 'old',
      previous: { fingerprint: 'older', until: after60 },
    },
    { title: 'is removed', stored: rotated, asked: absent, writes: ['present', 'previous'], is: undefined },
    {
      title: 'is repeated for another host',
      stored: rotated,
      asked: given(),
      seals: 'old',
      at: atOtherHost,
      writes: ['previous'],
      is: 'old',
    },
    {
      title: 'never overlaps at another host',
      stored: old,
      asked: given(60),
      seals: 'new',
      at: atOtherHost,
      writes: ['present', 'previous'],
      is: 'new',
    },
  ])('$title', ({ stored, asked, seals, at = {}, writes, is, previous, overlaps = false }) => {
    const found = plan({ credential: stored }, at, {
      credential: asked,
      sealed: seals === undefined ? undefined : sealed(seals),
    });
    const { row } = found;
    expect({
      writes: [...('sinkcredential' in row ? ['present'] : []), ...('previouscredential' in row ? ['previous'] : [])],
      is: found.credential?.fingerprint,
      previous: found.credential?.previous,
      until: row.previousuntil,
      overlaps: found.overlaps,
    }).toEqual({ writes, is, previous, until: previous === undefined ? null : new Date(previous.until), overlaps });
    expect('credentialinfo' in row).toBe('sinkcredential' in row);
    expect('previousinfo' in row).toBe('previouscredential' in row);
  });
});
