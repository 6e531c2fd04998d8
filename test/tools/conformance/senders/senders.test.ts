import { expect, test } from '@jest/globals';
import type { Case, CaseResult } from '../../../../src/tools/conformance/case.js';
import { senderCases } from '../../../../src/tools/conformance/cases.js';
import { runSender } from '../../../../src/tools/conformance/sender/run-sender.js';
import { createAuthority } from '../../../support/certificates.js';
import { createSigner } from '../../../support/signer.js';
import { startSmallSender, type Fault } from './small-sender.js';

/** Senders, each with faults of different cases that do not touch each other. */
const broken: Fault[][] = [
  [
    'S01 the query is missing in OPTIONS',
    'S03 the rate has a unit',
    'S05 the origin is compared as a part',
    'S07 a * is not understood',
    'S10 the rate of a callback is ignored',
    'S12 OPTIONS follows redirects',
    'S13 a 410 changes nothing',
    'S14 Retry-After is ignored',
    'S15 events have no Content-Type',
    'S16 handshakes are not signed',
    'S17 the signature is that of another body',
  ],
  [
    'S04 Allow is taken for consent',
    'S06 only 200 is taken for an answer',
    'S08 each instance counts for itself',
    'S10 a second call of the callback is unknown',
    'S12 POST follows redirects',
    'S14 Retry-After is read as a number only',
    'S15 events are sent by PUT',
    'S16 the rate is not under the signature',
    'S17 events are not signed',
  ],
  [
    'S09 events are sent while it waits',
    'S11 a callback before the response is lost',
    'S15 events name another origin',
    'S16 a foreign key signs handshakes',
    'S17 the digest is not under the signature',
  ],
  [
    'S02 the origin has a scheme',
    'S09 GET is taken for no limit',
    'S15 events have the token in the query',
    'S16 a handshake signs another target',
  ],
  ['S15 events are sent over http'],
];

/** Ends when the sender has nothing more to do; the time-out is for tests that hang. */
async function run(
  faults: readonly Fault[] = [],
  cases: readonly Case[] = senderCases,
  { isGoneAtEnd = false, isKnown = true } = {},
): Promise<CaseResult[]> {
  const authority = await createAuthority();
  const signer = await createSigner();
  return runSender({
    cases,
    profile: 'cloudevents',
    listen: { host: 'localhost', port: 0 },
    certificate: await authority.issue(['localhost']),
    timeoutMs: 300_000,
    keys: isKnown ? [signer.public] : undefined,
    pace: { pauseMs: 1_000, longestPauseMs: 5_000, quietMs: 200, retryAfterSeconds: 4 },
    async drive(assignments) {
      const sender = await startSmallSender(authority.cert, signer, faults, { isGoneAtEnd });
      const works = assignments.map((assignment) => ({ ...assignment, done: sender.work(assignment) }));
      // A sender waits there for a callback that never comes.
      const awaited = works.filter((each) => each.case !== 'S04' || faults.some((fault) => fault.startsWith('S04')));
      await Promise.all(awaited.map(({ done }) => done));
      sender.stop();
      return new Map(assignments.map(({ url }) => [url, 'The sender was done.']));
    },
  });
}

// All at once: most of the time, they wait.
const correct = run();
const byCallback = senderCases.filter(({ id }) => ['S09', 'S10', 'S11'].includes(id));
const gone = run([], byCallback, { isGoneAtEnd: true });
const bySignature = senderCases.filter(({ id }) => ['S16', 'S17'].includes(id));
const unknown = run([], bySignature, { isKnown: false });
const runs = broken.map((faults) => ({ faults, results: run(faults) }));

test('a correct sender passes every case', async () => {
  const results = await correct;
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(results).toHaveLength(senderCases.length);
});

test('a sender that answers the callback late, and is gone when it has sent everything, is not accused', async () => {
  expect((await gone).map(({ id, outcome, detail }) => [id, outcome, detail])).toEqual([
    ['S09', 'passed', expect.any(String)],
    ['S10', 'passed', expect.any(String)],
    ['S11', 'passed', expect.any(String)],
  ]);
});

test('without the keys of the sender, its signatures are neither right nor wrong', async () => {
  const detail = expect.stringContaining('--jwks');
  expect(await unknown).toMatchObject([
    { id: 'S16', outcome: 'not_evaluable', detail },
    { id: 'S17', outcome: 'not_evaluable', detail },
  ]);
});

test('the evidence has every exchange of the case, with keys and credentials hidden', async () => {
  const results = await correct;
  const all = JSON.stringify(results.map(({ evidence }) => evidence));
  expect(all).not.toMatch(/a-secret-of-the-sender|127\.0\.0\.1:\d+\/[\da-f]/);
  const { evidence } = results.find(({ id }) => id === 'S11') as CaseResult;
  expect(evidence.map(({ asked, answered }) => [asked.split(' ')[0], answered?.split('\n')[0]])).toEqual([
    ['OPTIONS', 'HTTP/1.1 200 OK'],
    ['POST', 'HTTP/1.1 204 No Content'],
    ['POST', 'HTTP/1.1 204 No Content'],
    ['POST', 'HTTP/1.1 204 No Content'],
  ]);
  expect(evidence[1]?.asked).toMatch(/^POST \/\*\*\* HTTP\/1.1\nHost: 127.0.0.1:\d+\nWebHook-Allowed-Rate: 120$/);
});

test.each(runs)('$faults: each is caught by its case, and by no other', async ({ faults, results }) => {
  const failed = (await results).filter(({ outcome }) => outcome === 'failed');
  expect(failed.map(({ id }) => id).sort()).toEqual(faults.map((fault) => fault.slice(0, 3)).sort());
  for (const { detail } of failed) expect(detail).not.toBe('');
});
