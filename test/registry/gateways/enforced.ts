import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { forms, markName, sendForged, sendForgedHttp2 } from './forged.js';
import { startGuarded, type Guarded, type Program } from './gateways.js';

export interface Guarantees {
  /** What its client gets while the registry is away. */
  failure: number;
  joinsHeaders?: boolean;
  speaksHttp2?: boolean;
}

/** What every gateway has to guarantee. */
export function testGateway(program: Program, { failure, joinsHeaders, speaksHttp2 }: Guarantees) {
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
      return [answer.status, answer.headers['assent-denial']];
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

  test('no forged request passes, however it names another host, path or origin', async () => {
    await webhook('/granted', '*');
    const { registry, tenant, received } = guarded;
    registry.receiver.consent('/secret', { rate: '*' });
    expect(await tenant.register(registry.receiver.sink('/secret'))).toMatchObject({ status: 'active' });
    const own = new URL(guarded.url).host;
    const other = new URL(registry.receiver.sink('/')).host;
    const aim = { own, other, origin: tenant.origin, ca: registry.receiver.ca, port: Number(own.split(':')[1]) };
    const all = forms(aim);
    expect(all.length).toBeGreaterThan(100);
    received.length = 0;
    const answers = await Promise.all(all.map(([, form]) => sendForged(aim, form)));
    if (speaksHttp2) answers.push(...(await sendForgedHttp2(aim)).map((status) => `HTTP/2 ${status}`));
    const passed = received.map(({ headers: { [markName]: mark } }) => (mark === undefined ? undefined : String(mark)));
    expect(passed.filter((mark) => mark !== undefined).map((mark) => all[Number(mark)]?.[0] ?? mark)).toEqual([]);
    // No sender takes the response for a delivery. The first requests of two had consent, or were handshakes.
    const accepted = answers.flatMap((answer, at) => {
      const name = all[at]?.[0] ?? 'HTTP/2';
      return / 2\d\d/.test(answer) && !/^(a request inside|another origin)/.test(name) ? [[name, answer]] : [];
    });
    expect(accepted).toEqual([]);
    // What did pass is what there is consent for, and it names its host and its origin once.
    for (const { url, headers, rawHeaders } of received) {
      expect([url, headers.host, headers['webhook-request-origin']]).toEqual(['/granted', own, tenant.origin]);
      expect(rawHeaders.filter((name) => /^webhook.request.origin$/i.test(name))).toHaveLength(1);
    }
    expect((await guarded.deliver('/granted')).status).toBe(202);
  });

  test('what is over the rate does not pass, and its sender reads when it may', async () => {
    await webhook('/limited', '1');
    const answers = await Promise.all(Array.from({ length: 12 }, () => guarded.deliver('/limited')));
    const passed = answers.filter(({ status }) => status === 202).length;
    const over = answers.filter(({ status }) => status === 429);
    expect([passed, over.length]).toEqual([1, 11]);
    for (const { headers } of over) {
      expect(headers).toMatchObject({
        'assent-denial': 'rate_used_up',
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
