import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import type { CaseResult, ConformanceProfile } from '../../../../src/tools/conformance/case.js';
import { receiverCases, type ReceiverCaseId } from '../../../../src/tools/conformance/cases.js';
import { startCallbackHost, type CallbackHost } from '../../../../src/tools/conformance/receiver/callback-host.js';
import { runReceiver } from '../../../../src/tools/conformance/receiver/run-receiver.js';
import { createAuthority } from '../../../../src/tools/conformance/authority.js';
import { createAuthority as createTestAuthority, expired } from '../../../support/certificates.js';
import { brokenReceivers } from './broken-receivers.js';
import { allowed, correct, revoked, signers, startSmallReceiver, token, type Parts } from './small-receiver.js';

let callbacks: CallbackHost;
let ca: string;
let certificate: Awaited<ReturnType<Awaited<ReturnType<typeof createAuthority>>['issue']>>;

beforeAll(async () => {
  const authority = await createAuthority('Conformance test', 1);
  ca = authority.cert;
  certificate = await authority.issue(['127.0.0.1']);
  callbacks = await startCallbackHost({ host: '127.0.0.1', port: 0, certificate });
});
afterAll(() => callbacks.stop());

interface How {
  deadlineMs?: number;
  isUnnamed?: boolean;
  isBurst?: boolean;
  isSilent?: boolean;
  deliver?: boolean;
  profile?: ConformanceProfile;
  callbacks?: CallbackHost | undefined;
  expect?: 'consent' | 'refusal';
  only?: ReceiverCaseId[];
}

const runAt = (sink: string, how: How) =>
  runReceiver({
    cases: receiverCases.filter(({ id }) => how.only?.includes(id) ?? true),
    sink,
    expect: how.expect ?? 'consent',
    origin: how.isUnnamed ? undefined : allowed,
    rate: 120,
    profile: how.profile ?? 'cloudevents',
    deliver: how.deliver ?? true,
    burst: how.isBurst ?? false,
    token,
    keys: signers,
    revokedKey: revoked,
    ca: [ca],
    timeoutMs: 60_000,
    callMs: how.isSilent ? 300 : 60_000,
    quietMs: 300,
    deadlineMs: how.deadlineMs ?? Infinity,
    callbacks: 'callbacks' in how ? how.callbacks : callbacks,
  });

async function run(parts: Parts, how: How = {}) {
  const receiver = await startSmallReceiver(parts, ca);
  try {
    return { ...(await runAt(receiver.url, how)), requests: receiver.requests() };
  } finally {
    await receiver.stop();
  }
}

const idsOf = (results: CaseResult[], outcome: CaseResult['outcome']) =>
  results.filter((result) => result.outcome === outcome).map(({ id }) => id);

describe('each broken receiver is caught by exactly its case', () => {
  const runs = new Map<ReceiverCaseId, ReturnType<typeof run>>();
  // They wait most of the time, so they wait together.
  beforeAll(async () => {
    for (const [id, { parts, ...how }] of Object.entries(brokenReceivers)) {
      runs.set(id as ReceiverCaseId, run(parts, how));
    }
    await Promise.all(runs.values());
  });

  const listed = Object.entries(brokenReceivers).map(([id, { fault }]) => ({ id: id as ReceiverCaseId, fault }));
  test.each(listed)('$id: it $fault', async ({ id }) => {
    const { results, requests } = await runs.get(id)!;
    const failures = results.filter(({ outcome }) => outcome === 'failed');
    expect(failures.map((result) => `${result.id} ${result.detail}`)).toEqual([expect.stringMatching(`^${id} `)]);
    expect(failures[0]!.evidence.length).toBeGreaterThan(0);
    if (id !== 'R24') expect(requests).toBeLessThanOrEqual(80);
  });
});

describe('no correct receiver gets a false alarm', () => {
  test('one that answers now', async () => {
    const { results, requests } = await run(correct, { isBurst: true });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'not_evaluable')).toEqual(['R12', 'R18', 'R19', 'R21']);
    expect(requests).toBeLessThanOrEqual(80 + 60);
  });

  test('one that decides by the callback', async () => {
    const { results } = await run({ ...correct, way: 'later' });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'passed')).toEqual(
      expect.arrayContaining(['R13', 'R17', 'R18', 'R19', 'R20', 'R21', 'R22', 'R23', 'R25']),
    );
  });

  test('one that decides by the callback if one is offered', async () => {
    const { results } = await run({ ...correct, way: 'either' });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'not_evaluable')).toEqual(['R12', 'R24']);
  });

  test('one that allows every origin', async () => {
    const { results } = await run({
      ...correct,
      allows: () => true,
      allowedOrigin: () => ({ 'WebHook-Allowed-Origin': '*' }),
    });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'not_evaluable')).toEqual(expect.arrayContaining(['R07', 'R08', 'R09', 'R20']));
  });

  test('one without the handshake, which returns 405', async () => {
    const { results } = await run({ ...correct, way: 'never' }, { isUnnamed: true, isSilent: true });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'passed')).toContain('R12');
  });

  test.each([
    ['now', false],
    ['now', true],
    ['later', false],
    ['either', false],
  ] as const)('one that closes every fifth connection, and decides %s, burst: %s', async (way, isBurst) => {
    const { results, requests } = await run({ ...correct, way, drops: (request) => request % 5 === 0 }, { isBurst });
    expect(idsOf(results, 'failed')).toEqual([]);
    expect(idsOf(results, 'passed')).toEqual(expect.arrayContaining(way === 'now' ? ['R15', 'R41'] : ['R17', 'R41']));
    if (!isBurst) expect(requests).toBeLessThanOrEqual(80);
  });

  test('one that takes events at every path', async () => {
    const { results } = await run({ ...correct, isHere: () => true, delivery: () => ({ status: 204 }) });
    expect(results.find(({ id }) => id === 'R14')).toMatchObject({ outcome: 'passed' });
  });
});

test.each<[string, Partial<Parts>, ReceiverCaseId]>([
  ['names under localhost', { allows: (origin) => origin === allowed || origin.endsWith('.localhost') }, 'R27'],
  ['a name with a port', { allows: (origin) => origin.split(':')[0] === allowed }, 'R08'],
  [
    'a name in Origin',
    { allows: (origin, { headers }) => [origin, headers.origin?.slice('https://'.length)].includes(allowed) },
    'R27',
  ],
  [
    'a name in Referer, and no question',
    {
      preflight: (asked) => {
        const reply = correct.preflight(asked);
        const name = /^https:\/\/(.*)\/$/.exec(asked.headers.referer ?? '')?.[1];
        return reply && { ...reply, headers: { ...reply.headers, ...(name && { 'WebHook-Allowed-Origin': name }) } };
      },
    },
    'R10',
  ],
])('a receiver that takes %s for the allowed origin is caught', async (_, parts, id) => {
  const { results } = await run({ ...correct, ...parts });
  expect(idsOf(results, 'failed')).toEqual([id]);
});

test('a receiver that closes each connection with a chunked body is caught, for it is no chance', async () => {
  const { results } = await run({
    ...correct,
    drops: (_, headers) => headers['transfer-encoding'] !== undefined,
  });
  expect(idsOf(results, 'failed')).toEqual(['R15']);
});

test.each<[string, Partial<Parts>, How, consent: string, first: string]>([
  ['consents', {}, {}, 'seen', 'passed'],
  ['consents by the callback', { way: 'later' }, {}, 'seen', 'not_evaluable'],
  ['never consents', { way: 'never' }, { isUnnamed: true }, 'none', 'not_evaluable'],
  ['never consents to the origin that is named', { way: 'never' }, {}, 'none', 'failed'],
  ['never consents, as expected', { way: 'never' }, { expect: 'refusal' }, 'none', 'not_evaluable'],
  ['consents against expectation', {}, { expect: 'refusal' }, 'seen', 'failed'],
  ['consents by the callback against expectation', { way: 'later' }, { expect: 'refusal' }, 'seen', 'failed'],
  ['is not asked for the allowed origin', {}, { only: ['R10'] }, 'not_asked', 'passed'],
])('of a receiver that %s, the run says so', async (_, parts, how, consent, first) => {
  const outcome = await run({ ...correct, ...parts }, { only: ['R01'], isSilent: parts.way === 'never', ...how });
  expect([outcome.consent, outcome.results[0]?.outcome]).toEqual([consent, first]);
});

test('under nl-gov a token in the query has to be refused', async () => {
  const refusing = brokenReceivers.R25.parts;
  const [accepts, refuses] = await Promise.all([
    run(correct, { profile: 'nl-gov' }),
    run(refusing, { profile: 'nl-gov' }),
  ]);
  expect(idsOf(accepts.results, 'failed')).toEqual(['R25']);
  expect(idsOf(refuses.results, 'failed')).toEqual([]);
});

test('without --deliver nothing is posted, and the cases say so', async () => {
  let posts = 0;
  const counting = { ...correct, delivery: () => void (posts += 1) };
  const { results } = await run(counting, { deliver: false });
  expect(posts).toBe(0);
  for (const id of ['R22', 'R23', 'R24', 'R25']) {
    expect(results.find((result) => result.id === id)).toMatchObject({
      outcome: 'not_evaluable',
      detail: expect.stringContaining('--deliver'),
    });
  }
});

test('without a callback that the receiver can reach, its cases are not evaluable, and say why', async () => {
  const { results } = await run(correct, { callbacks: undefined });
  const about = results.filter(({ id }) => ['R17', 'R18', 'R19', 'R20', 'R21'].includes(id));
  expect(about.map(({ outcome }) => outcome)).toEqual(Array(5).fill('not_evaluable'));
  for (const { detail } of about) expect(detail).toContain('--callback-host');
});

test('a receiver that does not respond makes nothing pass or fail', async () => {
  const receiver = await startSmallReceiver(correct, ca);
  await receiver.stop();
  const { results } = await runAt(receiver.url, { isBurst: true });
  expect(idsOf(results, 'not_evaluable')).toEqual(receiverCases.map(({ id }) => id));
});

test('what is in front of a receiver is named, and makes no case of consent pass or fail', async () => {
  const guarded = createServer((_, response) => response.writeHead(403, { 'cf-mitigated': 'challenge' }).end());
  const mutual = createTlsServer({
    ...certificate,
    ca,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  });
  const nobody = await createTestAuthority('Nobody');
  for (const [server, scheme, said] of [
    [guarded, 'http', 'Cloudflare'],
    [mutual, 'https', 'client certificate'],
    [createTlsServer(await nobody.issue(['127.0.0.1'])), 'https', 'issuer CN=Nobody'],
    [createTlsServer(await nobody.issue(['127.0.0.1'], expired)), 'https', 'valid from'],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { results } = await runAt(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
      only: ['R01', 'R02'],
    });
    server.close();
    for (const result of results) {
      expect(result).toMatchObject({ outcome: 'not_evaluable', detail: expect.stringContaining(said) });
    }
  }
});

test('a run ends at its deadline, whatever the receiver does, and what was not seen is not evaluable', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { results } = await runAt(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`, { deadlineMs: 300 });
  silent.closeAllConnections();
  silent.close();
  expect(idsOf(results, 'not_evaluable')).toEqual(receiverCases.map(({ id }) => id));
});

test('evidence is what went over the wire, without keys and credentials', async () => {
  const { results } = await run({ ...correct, way: 'either' });
  const text = JSON.stringify(results);
  expect(text).not.toContain(token);
  expect(text).not.toMatch(/callback\/[0-9a-f]{32}/);
  expect(text).toContain('Authorization: ***');
  const [upper] = results
    .find(({ id }) => id === 'R01')!
    .evidence.map(({ asked, answered }) => `${asked}\n\n${answered}`);
  expect(upper).toMatch(/^OPTIONS \/events HTTP\/1\.1\nHost: 127\.0\.0\.1:\d+\n[^]*WebHook-Request-Origin: /);
  expect(upper).toMatch(/\n\nHTTP\/1\.1 200 OK\nAllow: POST, OPTIONS\nWebHook-Allowed-Origin: /);
});
