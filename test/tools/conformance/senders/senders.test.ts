import { expect, test } from '@jest/globals';
import type { CaseResult } from '../../../../src/tools/conformance/case.js';
import { senderCases } from '../../../../src/tools/conformance/cases.js';
import { runSender } from '../../../../src/tools/conformance/sender/run-sender.js';
import { createAuthority } from '../../../support/certificates.js';
import { startSmallSender, type Fault } from './small-sender.js';

const faults: Fault[] = [
  'S01 the query is missing in OPTIONS',
  'S02 the origin has a scheme',
  'S03 the rate has a unit',
  'S04 Allow is taken for consent',
  'S05 the origin is compared as a part',
  'S06 only 200 is taken for an answer',
  'S07 a * is not understood',
  'S08 each instance counts for itself',
  'S09 events are sent while it waits',
  'S09 GET is taken for no limit',
  'S10 the rate of a callback is ignored',
  'S10 a second call of the callback is unknown',
  'S11 a callback before the response is lost',
  'S12 OPTIONS follows redirects',
  'S12 POST follows redirects',
  'S13 a 410 changes nothing',
  'S14 Retry-After is ignored',
  'S14 Retry-After is read as a number only',
  'S15 events have no Content-Type',
  'S15 events name another origin',
  'S15 events have the token in the query',
  'S15 events are sent by PUT',
  'S15 events are sent over http',
];

/** Ends when the sender has nothing more to do; the time-out is for tests that hang. */
async function run(fault?: Fault): Promise<CaseResult[]> {
  const authority = await createAuthority();
  return runSender({
    cases: senderCases,
    profile: 'cloudevents',
    listen: { host: 'localhost', port: 0 },
    certificate: await authority.issue(['localhost']),
    timeoutMs: 300_000,
    pace: { pauseMs: 1_000, longestPauseMs: 5_000, quietMs: 200, retryAfterSeconds: 4 },
    async drive(assignments) {
      const sender = await startSmallSender(authority.cert, fault);
      const works = assignments.map((assignment) => ({ ...assignment, done: sender.work(assignment) }));
      // A sender waits there for a callback that never comes.
      const awaited = works.filter((each) => each.case !== 'S04' || fault?.startsWith('S04'));
      await Promise.all(awaited.map(({ done }) => done));
      sender.stop();
      return new Map(assignments.map(({ url }) => [url, 'The sender was done.']));
    },
  });
}

// All at once: most of the time, they wait.
const correct = run();
const broken = new Map(faults.map((fault) => [fault, run(fault)]));

test('a correct sender passes every case', async () => {
  const results = await correct;
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect(results).toHaveLength(senderCases.length);
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

test.each(faults)('%s: caught by exactly this case', async (fault) => {
  const failed = (await broken.get(fault))?.filter(({ outcome }) => outcome === 'failed') ?? [];
  expect(failed.map(({ id }) => id)).toEqual([fault.slice(0, 3)]);
  expect(failed[0]?.detail).not.toBe('');
});
