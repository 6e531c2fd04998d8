import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createGate } from '../../support/gate.js';
import { exhaust, passDelays, passLeases } from '../../support/pass-time.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant, type Tenant } from '../../support/tenant.js';
import { until } from '../../support/until.js';

let registry: Registry;
let tenant: Tenant;
const retryMs = 60_000;

beforeAll(async () => {
  registry = await startRegistry({
    start: false,
    env: {
      ASSENT_HANDSHAKE_RETRY_MS: String(retryMs),
      // Some tests delay responses, and the machine may be busy.
      ASSENT_HANDSHAKE_DEADLINE_MS: '20000',
      ASSENT_CONTACT: 'https://example.com/abuse',
    },
  });
  tenant = await createTenant(registry);
});
beforeEach(() => void registry.receiver.asked.splice(0));
afterAll(() => registry.stop());

const drain = () => registry.service.worker.drain();
const asked = () => registry.receiver.asked;
const msBetween = (from: string, to: string) => Date.parse(to) - Date.parse(from);

describe('Prefer', () => {
  test.each(['respond-async', 'wait=0'])(
    '%s returns immediately, and the worker sends the handshake',
    async (prefer) => {
      const path = `/prefer-${prefer.length}`;
      registry.receiver.consent(path);
      const { id, status, statusdetails } = await tenant.register(registry.receiver.sink(path), {}, prefer);
      expect({ status, code: statusdetails.code }).toEqual({ status: 'pending', code: 'not_asked_yet' });
      expect(asked()).toEqual([]);
      await drain();
      expect(await tenant.read(id)).toMatchObject({ status: 'active' });
      expect(asked()).toHaveLength(1);
    },
  );

  test('wait=1 waits one second for a slow webhook, whose response still counts', async () => {
    const answers: Array<() => void> = [];
    registry.receiver.on('/slow', (_request, response) => {
      answers.push(() => response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' }).end());
    });
    const startedAt = performance.now();
    const { id, status } = await tenant.register(registry.receiver.sink('/slow'), {}, 'wait=1');
    expect(status).toBe('pending');
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    for (const answer of answers) answer();
    await drain();
    expect(await tenant.read(id)).toMatchObject({ status: 'active', statusdetails: { allowedrate: 5 } });
    expect(asked()).toHaveLength(1);
  });
});

describe('what is sent', () => {
  test('the request has the headers of the specification, a contact, a signature, and nothing else', async () => {
    registry.receiver.consent('/headers');
    await tenant.register(registry.receiver.sink('/headers?tenant=1'), { requestedrate: 30 });
    const [request] = asked();
    expect(request).toMatchObject({ method: 'OPTIONS', path: '/headers?tenant=1' });
    const headers = Object.fromEntries(pairs(request?.rawHeaders ?? []));
    expect(Object.keys(headers).sort()).toEqual([
      'Signature',
      'Signature-Agent',
      'Signature-Input',
      'User-Agent',
      'WebHook-Request-Callback',
      'WebHook-Request-Origin',
      'WebHook-Request-Rate',
      'connection',
      'host',
    ]);
    expect(headers).toMatchObject({
      'WebHook-Request-Origin': tenant.origin,
      'WebHook-Request-Rate': '30',
      host: `localhost:${registry.receiver.port}`,
    });
    expect(headers['User-Agent']).toMatch(/^Assent\/\d+\.\d+\.\d+ \(https:\/\/example\.com\/abuse\)$/);
    expect(headers['WebHook-Request-Callback']).toMatch(
      /^https:\/\/assent\.test\/v1\/callbacks\/[0-9a-f-]{36}\?key=[\w-]{43}$/,
    );
  });

  test('an origin without a requested rate sends none', async () => {
    const name = 'no-rate.example.com';
    await tenant.admin.post('/v1/origins').send({ name, defaultrate: 15 }).expect(201);
    registry.receiver.on('/no-rate', (_request, response) => {
      response.writeHead(200, { 'WebHook-Allowed-Origin': name }).end();
    });
    const { statusdetails } = await tenant.register(registry.receiver.sink('/no-rate'), { origin: name });
    expect(asked()[0]?.headers['webhook-request-rate']).toBeUndefined();
    expect(statusdetails).toMatchObject({ allowedrate: 15, tolerated: [{ code: 'rate_defaulted' }] });
  });

  test('every attempt offers its own callback key', async () => {
    registry.receiver.on('/own-keys', (_request, response) => response.destroy());
    await tenant.register(registry.receiver.sink('/own-keys'));
    await exhaust(registry);
    expect(new Set(asked().map(({ headers }) => headers['webhook-request-callback'])).size).toBe(3);
  });
});

describe('no usable response', () => {
  test('a transport failure is retried after a growing delay, never immediately, then the target is unreachable', async () => {
    registry.receiver.on('/broken', (_request, response) => response.destroy());
    const { id } = await tenant.register(registry.receiver.sink('/broken'));
    for (const [attempt, factor] of [
      [1, 1],
      [2, 4],
    ] as const) {
      await drain();
      expect(asked()).toHaveLength(attempt);
      const { status, statusdetails } = await tenant.read(id);
      expect({ status, code: statusdetails.code }).toEqual({ status: 'pending', code: 'connection_closed' });
      const [{ attempts }] = await tenant.handshakes(id);
      const delayMs = msBetween(attempts[attempt - 1].finishedat, statusdetails.nextat);
      expect(delayMs).toBeGreaterThanOrEqual(retryMs * factor * 0.5);
      expect(delayMs).toBeLessThanOrEqual(retryMs * factor * 1.5 + 10_000);
      await passDelays(registry);
    }
    await drain();
    expect(await tenant.read(id)).toMatchObject({
      status: 'unreachable',
      statusdetails: { code: 'connection_closed' },
    });
    await exhaust(registry);
    expect(asked()).toHaveLength(3);
  });

  test('attempts that died with their process do not count against the target', async () => {
    const [released, rounds] = [createGate(), 3];
    let reached = createGate();
    registry.receiver.on('/interrupted', async (_request, response) => {
      reached.open();
      await released.opened;
      response.destroy();
    });
    const { id } = await tenant.register(registry.receiver.sink('/interrupted'), {}, 'respond-async');
    const work: Array<Promise<void>> = [];
    for (let round = 0; round <= rounds; round += 1) {
      if (round > 0) await passLeases(registry);
      reached = createGate();
      work.push(drain());
      await reached.opened;
    }
    released.open();
    await Promise.all(work);
    const [{ state, attempts }] = await tenant.handshakes(id);
    expect(attempts.map(({ verdict }: { verdict: string }) => verdict)).toEqual([
      ...Array<string>(rounds).fill('interrupted'),
      'connection_closed',
    ]);
    expect(state).toBe('due');
  });

  test.each([
    [200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' }],
    [302, {}],
  ])('a late %i to an attempt that was considered dead does not count', async (status, headers) => {
    const path = `/late-${status}`;
    const sink = registry.receiver.sink(path);
    const consent = { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '7' };
    const first = { reached: createGate(), released: createGate(), answer: { status, headers } };
    const second = { reached: createGate(), released: createGate(), answer: { status: 200, headers: consent } };
    let isFirst = true;
    registry.receiver.on(path, async (_request, response) => {
      const { reached, released, answer } = isFirst ? first : second;
      isFirst = false;
      reached.open();
      await released.opened;
      response.writeHead(answer.status, answer.headers).end();
    });
    const { id } = await tenant.register(sink, {}, 'respond-async');
    /** Waits until that many responses have been judged. */
    const judged = async (answers: number) => {
      const lines = () => registry.logs.filter((line) => line.includes(id) && line.includes('"msg":"handshake"'));
      while (lines().length < answers) await nextTurn();
    };
    const work = [drain()];
    await first.reached.opened;
    await passLeases(registry);
    work.push(drain());
    await second.reached.opened;
    first.released.open();
    await judged(1);
    expect(await tenant.handshakes(id)).toMatchObject([
      { state: 'asking', attempts: [{ verdict: 'interrupted' }, {}] },
    ]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: false, denial: 'no_grant' });
    expect(registry.service.worker.inFlight()).toBe(1);
    second.released.open();
    await judged(2);
    await Promise.all(work);
    expect(await tenant.handshakes(id)).toMatchObject([
      { state: 'granted', attempts: [{ verdict: 'interrupted' }, {}] },
    ]);
    expect(await tenant.permission(sink)).toMatchObject({ allowed: true, allowedrate: 7 });
  });

  test('an attempt that a stop of the service ended does not count against the target', async () => {
    const before = await startRegistry({
      env: {
        ASSENT_STOP_SECONDS: '2',
        ASSENT_HANDSHAKE_ATTEMPTS: '2',
        ASSENT_HANDSHAKE_RETRY_MS: String(retryMs),
        ASSENT_HANDSHAKE_DEADLINE_MS: '20000',
      },
    });
    const reached = createGate();
    before.receiver.on('/cut-off', () => reached.open());
    await (await createTenant(before)).register(before.receiver.sink('/cut-off'), {}, 'respond-async');
    await reached.opened;
    await before.stopService();

    const after = await startRegistry({ beside: before, start: false });
    after.receiver.on('/cut-off', (_request, response) => response.destroy());
    await after.service.worker.drain();
    expect(await after.sql('select verdict from attempt order by number')).toEqual([
      { verdict: 'aborted' },
      { verdict: 'connection_closed' },
    ]);
    expect(await after.sql('select state from handshake')).toEqual([{ state: 'due' }]);
    await after.stop();
    await before.stop();
  });

  test.each([
    [503, { 'Retry-After': '7200' }, 'unavailable', 7_200_000],
    [429, { 'Retry-After': '0' }, 'throttled', retryMs * 0.5],
    [429, {}, 'throttled', retryMs * 0.5],
    [503, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }, 'unavailable', retryMs * 0.5],
  ])(
    '%i with %j is retried later, and not before the time that the target asked for',
    async (status, headers, code, leastMs) => {
      const path = `/postponed-${status}-${Object.keys(headers).length}-${leastMs}`;
      registry.receiver.on(path, (_request, response) => void response.writeHead(status, headers).end());
      const sink = registry.receiver.sink(path);
      const { id } = await tenant.register(sink);
      const postponed = await tenant.read(id);
      expect(postponed).toMatchObject({ status: 'pending', statusdetails: { code } });
      const [{ attempts }] = await tenant.handshakes(id);
      expect(msBetween(attempts[0].finishedat, postponed.statusdetails.nextat)).toBeGreaterThanOrEqual(leastMs);
      expect(await tenant.permission(sink)).toMatchObject({ allowed: false });

      registry.receiver.consent(path);
      await exhaust(registry);
      expect(await tenant.read(id)).toMatchObject({ status: 'active' });
    },
  );

  test('410 is retired, whatever its headers say, and is not retried', async () => {
    registry.receiver.on('/gone', (_request, response) => {
      response.writeHead(410, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '*' }).end();
    });
    const { id, status } = await tenant.register(registry.receiver.sink('/gone'));
    expect(status).toBe('retired');
    await exhaust(registry);
    expect(asked()).toHaveLength(1);
    expect(await tenant.read(id)).toMatchObject({ status: 'retired', statusdetails: { code: 'gone' } });
  });

  test('a name that resolves to a forbidden address is refused immediately and never retried', async () => {
    registry.dns.zone['inside.hooks.test'] = ['10.0.0.1'];
    const sink = registry.receiver.sink('/inside', 'inside.hooks.test');
    const { id, status, statusdetails } = await tenant.register(sink);
    expect({ status, code: statusdetails.code }).toEqual({ status: 'refused', code: 'name_not_public' });
    expect(JSON.stringify([statusdetails, await tenant.handshakes(id)])).not.toContain('10.0.0.1');
    await exhaust(registry);
    expect((await tenant.handshakes(id))[0].attempts).toHaveLength(1);
  });
});

describe('a name', () => {
  test('that is absent and one that resolves to an internal address look the same to a subscriber, not to an admin', async () => {
    registry.dns.zone['private.hooks.test'] = ['10.0.0.1'];
    const seen = await Promise.all(
      ['private.hooks.test', 'absent.example.org'].map(async (host) => {
        const { id } = await tenant.register(registry.receiver.sink('/name', host));
        await exhaust(registry);
        const { status, statusdetails } = await tenant.read(id);
        const [handshake] = await tenant.handshakes(id);
        const shown = JSON.stringify([status, statusdetails, handshake]);
        const [{ verdict, attempts }] = await tenant.handshakes(id, tenant.admin);
        return {
          shown: shown
            .replaceAll(host, 'name')
            .replaceAll(/[0-9a-f-]{36}/g, 'id')
            .replaceAll(/20\d\d-[^"]*Z/g, 'time')
            .replace(/;created=.*?;tag/, ';tag')
            .replace(/sig1=:[^:]*:/, 'signature'),
          forAdmin: [verdict, attempts.length],
        };
      }),
    );
    expect(seen[0]?.shown).toContain('name_not_public');
    expect(seen[1]?.shown).toBe(seen[0]?.shown);
    expect(seen.map(({ forAdmin }) => forAdmin)).toEqual([
      ['address_not_allowed', 1],
      ['name_not_found', 1],
    ]);
  });
});

describe('what a subscriber sees of a response', () => {
  test.each<[string, object, string | RegExp, string | RegExp]>([
    [
      'a malformed rate',
      { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '120/min' },
      '"120/min"',
      '"lenient"',
    ],
    ['no rate', { 'WebHook-Allowed-Origin': '*' }, '"*"', '"lenient"'],
    [
      'a list with the origin',
      { 'WebHook-Allowed-Origin': 'a.example, eventemitter.example.com' },
      'a.example',
      '"lenient"',
    ],
    ['a list without it', { 'WebHook-Allowed-Origin': 'a.example, b.example' }, 'b.example', /^(?!.*lenient)/],
    [
      'a redirect within the host',
      { Location: '/new?a=1' },
      /Location "https:\/\/localhost:\d+\/new\?a=1"/,
      /redirect/,
    ],
    ['a redirect to another host', { Location: 'https://inside.example.com/new' }, /^(?!.*inside)/, /redirect/],
  ])('%s', async (what, headers, message, advice) => {
    const path = `/told-${what.replaceAll(' ', '-')}`;
    registry.receiver.on(path, (_request, response) => {
      response.writeHead('Location' in headers ? 308 : 200, { ...headers }).end();
    });
    const { id, statusdetails } = await tenant.register(registry.receiver.sink(path));
    const [handshake] = await tenant.handshakes(id);
    for (const shown of [statusdetails, handshake, handshake.attempts[0]]) {
      expect(shown.message).toEqual(
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
      );
      expect(shown.advice).toEqual(
        typeof advice === 'string' ? expect.stringContaining(advice) : expect.stringMatching(advice),
      );
    }
  });

  test('the header that @azure/web-pubsub-express needs, in the advice for a 404 of what can be Express', async () => {
    const answers: Array<[boolean, Record<string, string>]> = [
      [true, {}],
      [true, { 'X-Powered-By': 'Express' }],
      [true, { Server: 'nginx', 'X-Powered-By': 'Express' }],
      [false, { Server: 'Werkzeug/3.0 Python/3.12' }],
      [false, { 'X-Powered-By': 'PHP/8.3' }],
    ];
    for (const [place, [isHinted, headers]] of answers.entries()) {
      registry.receiver.on(`/lost-${place}`, (_request, response) => response.writeHead(404, headers).end());
      const { statusdetails } = await tenant.register(registry.receiver.sink(`/lost-${place}`));
      const { code, advice } = statusdetails;
      expect([code, advice.includes('ce-awpsversion')]).toEqual(['not_found_at_target', isHinted]);
    }
  });

  test('while the handshake is in flight the reason is asking', async () => {
    const answered = createGate();
    registry.receiver.on('/asking', async (_request, response) => {
      await answered.opened;
      response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '5' }).end();
    });
    const { id } = await tenant.register(registry.receiver.sink('/asking'), {}, 'wait=0');
    const drained = drain();
    await until(async () => (await tenant.read(id)).statusdetails.code === 'asking');
    expect(await tenant.read(id)).toMatchObject({ status: 'pending', statusdetails: { code: 'asking' } });
    answered.open();
    await drained;
    expect(await tenant.read(id)).toMatchObject({ status: 'active' });
  });
});

describe('reading attempts', () => {
  test('an admin sees status, address, timing and all kept headers; a subscriber the verdict and the WebHook headers', async () => {
    registry.receiver.on('/read', (_request, response) => {
      response.writeHead(403, { Server: 'nginx', 'Set-Cookie': 'session=1', 'WebHook-Request-Origin': 'x' }).end();
    });
    const { id } = await tenant.register(registry.receiver.sink('/read'));
    const [forAdmin] = await tenant.handshakes(id, tenant.admin);
    const [forSubscriber] = await tenant.handshakes(id);
    expect(forAdmin.attempts[0]).toMatchObject({
      statuscode: 403,
      address: '127.0.0.1',
      verdict: 'request_origin_echoed',
    });
    expect(Object.keys(forAdmin.attempts[0].timing).sort()).toEqual([
      'connectms',
      'lookupms',
      'responsems',
      'tlsms',
      'totalms',
    ]);
    expect(names(forAdmin.attempts[0].response)).toEqual(expect.arrayContaining(['Server', 'WebHook-Request-Origin']));
    expect(JSON.stringify(forAdmin)).not.toContain('session=1');

    const [attempt] = forSubscriber.attempts;
    expect(names(attempt.response)).toEqual(['WebHook-Request-Origin']);
    expect(names(attempt.request)).toContain('WebHook-Request-Origin');
    expect(attempt).toMatchObject({ verdict: 'request_origin_echoed', advice: expect.any(String) });
    for (const hidden of ['statuscode', 'address', 'timing']) expect(attempt).not.toHaveProperty(hidden);
    for (const { message } of [forSubscriber, attempt]) expect(message).not.toMatch(/403|127\.0\.0\.1|nginx/);
    expect(forAdmin.message).toContain('403');
  });

  test("another subscriber's handshakes do not exist", async () => {
    registry.receiver.consent('/private');
    const { id } = await tenant.register(registry.receiver.sink('/private'));
    const other = await registry.as('assent:subscribe', { subscriber: 'other' });
    await other.get(`/v1/subscriptions/${id}/handshakes`).expect(404);
    await other.post(`/v1/subscriptions/${id}/handshakes`).expect(404);
    expect(asked()).toHaveLength(1);
  });
});

function pairs(raw: string[]): Array<[string, string]> {
  return raw.flatMap((name, place) => (place % 2 === 0 ? [[name, raw[place + 1] ?? '']] : []));
}
function names(headers: Array<{ name: string }>): string[] {
  return headers.map(({ name }) => name);
}
