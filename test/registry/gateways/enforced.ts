import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGuarded, type Guarded, type Program } from './gateways.js';

/** What every gateway has to guarantee. `failure` is what its client gets while the registry is away. */
export function testGateway(program: Program, { failure, joinsHeaders }: { failure: number; joinsHeaders?: boolean }) {
  let guarded: Guarded;

  beforeAll(async () => {
    guarded = await startGuarded(program);
  });
  afterAll(() => guarded?.stop());

  const webhook = async (path: string, rate: string) => {
    guarded.rates.set(path, rate);
    const sink = `${guarded.url}${path}`;
    expect(await guarded.tenant.register(sink)).toMatchObject({ status: 'active' });
    return sink;
  };
  const arrived = (path: string) => guarded.received.filter(({ url }) => url.startsWith(path)).length;

  test('the handshake passes, and then a delivery with its body and its own credential, but not the token', async () => {
    await webhook('/events?a=1', '*');
    const body = 'x'.repeat(300_000);
    const sent = { 'Content-Type': 'application/cloudevents+json', Authorization: 'Basic YTpi' };
    expect((await guarded.deliver('/events?a=1', sent, body)).status).toBe(202);
    const [delivery] = guarded.received;
    expect(delivery).toMatchObject({ url: '/events?a=1', bytes: body.length });
    expect(delivery?.headers).toMatchObject({
      authorization: 'Basic YTpi',
      'webhook-request-origin': guarded.tenant.origin,
    });
    expect(delivery?.rawHeaders.join(' ')).not.toMatch(/bearer|assent-/i);
    // Clients of all kinds write the default port or not; here it is another.
    expect((await guarded.deliver('/events?a=1', {}, '')).status).toBe(202);
  });

  test('a delivery without consent does not pass, and its sender reads why', async () => {
    await webhook('/known', '*');
    const refused = async (path: string, headers: Record<string, string | string[]> = {}) => {
      const answer = await guarded.deliver(path, headers);
      return [answer.status, answer.headers['assent-reason']];
    };
    expect(await refused('/unknown')).toEqual([403, 'no_grant']);
    expect(await refused('/known?x=1')).toEqual([403, 'no_grant']);
    expect(await refused('/known', { 'WebHook-Request-Origin': 'other.example.com' })).toEqual([403, 'no_grant']);
    expect(await refused('/known', { 'WebHook-Request-Origin': '' })).toEqual([403, expect.stringMatching(/^origin_/)]);
    const two = [guarded.tenant.origin, 'other.example.com'];
    expect(await refused('/known', { 'WebHook-Request-Origin': two })).toEqual([
      403,
      joinsHeaders ? 'origin_malformed' : 'header_repeated',
    ]);
    await guarded.tenant.revoke(`${guarded.url}/known`);
    expect(await refused('/known')).toEqual([403, 'revoked']);
    expect([arrived('/unknown'), arrived('/known')]).toEqual([0, 0]);
  });

  test('headers of a client decide nothing: they are replaced, or the delivery is refused', async () => {
    await webhook('/other', '*');
    const { host } = new URL(guarded.url);
    const forged: Array<Record<string, string>> = [
      { 'X-Original-URL': `${guarded.url}/other` },
      { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': host, 'X-Forwarded-Uri': '/other' },
      { 'X-Forwarded-Uri': '/other' },
      { 'Assent-Authorization': 'Bearer a.b.c' },
      { Authorization: 'Bearer a.b.c' },
      { 'Content-Length': '2', Expect: '100-continue' },
    ];
    for (const headers of forged) {
      const { status } = await guarded.deliver('/forged', headers);
      expect([status, headers]).toEqual([expect.not.stringMatching(/^2/), headers]);
      expect(status).toBeGreaterThanOrEqual(400);
    }
    expect(arrived('/forged')).toBe(0);
  });

  test('what is over the rate does not pass, and its sender reads when it may', async () => {
    await webhook('/limited', '1');
    const answers = await Promise.all(Array.from({ length: 12 }, () => guarded.deliver('/limited')));
    const passed = answers.filter(({ status }) => status === 202).length;
    const over = answers.filter(({ status }) => status === 429);
    expect([passed, over.length]).toEqual([1, 11]);
    for (const { headers } of over) {
      expect(headers).toMatchObject({
        'assent-reason': 'rate_used_up',
        'retry-after': expect.stringMatching(/^[1-9]/),
      });
    }
    expect(arrived('/limited')).toBe(passed);
  });

  test('nothing passes while the registry is away, and everything again when it is back', async () => {
    await webhook('/away', '*');
    expect((await guarded.deliver('/away')).status).toBe(202);
    guarded.relay.cut();
    for (let i = 0; i < 3; i += 1) expect((await guarded.deliver('/away')).status).toBe(failure);
    guarded.relay.mend();
    expect((await guarded.deliver('/away')).status).toBe(202);
    expect(arrived('/away')).toBe(2);
  });
}
