import { describe, expect, test } from '@jest/globals';
import { createAddressRules } from '../../src/outbound/address.js';
import { authorityOf, faultOfSinkText, parseSink, type SinkRules } from '../../src/outbound/sink.js';
import { sinkTexts } from '../../src/base/texts/sinks.js';

const addresses = createAddressRules({ allowedNetworks: [], deniedNetworks: [] });
const rules: SinkRules = { addresses, ports: [443, 8443], ownAuthorities: ['registry.example.com:443'] };

const withAllowed = (...allowedNetworks: string[]): SinkRules => ({
  ...rules,
  addresses: createAddressRules({ allowedNetworks, deniedNetworks: [] }),
});

const ruleOf = (raw: string, by = rules) => {
  const parsed = parseSink(raw, by);
  return parsed.ok ? 'accepted' : parsed.rule;
};

describe('accepted sinks', () => {
  test('a canonical https URL is kept exactly as written, with its host and port', () => {
    const uri = 'https://hooks.shop.example.co.uk:8443/a%2Fb/c%7e;v=1/(d)//?q=a+b&r=%20&s=a,b:@/?';
    expect(parseSink(uri, rules)).toEqual({ ok: true, sink: { uri, host: 'hooks.shop.example.co.uk', port: 8443 } });
  });

  test.each([
    'https://example.com/',
    'https://example.com/?',
    'https://a.b.c.example.com/hook?x=1',
    'https://xn--bcher-kva.example/',
    'https://co.uk/',
  ])('%s is accepted, on port 443', (uri) => {
    expect(parseSink(uri, rules)).toMatchObject({ ok: true, sink: { uri, port: 443 } });
  });

  test('the configured ports replace the default ones', () => {
    expect(ruleOf('https://example.com:9443/', { ...rules, ports: [9443] })).toBe('accepted');
    expect(ruleOf('https://example.com/', { ...rules, ports: [9443] })).toBe('port_not_allowed');
    // Of the machine itself, if its networks are allowed at all.
    const local = {
      ...rules,
      addresses: createAddressRules({ allowedNetworks: ['127.0.0.0/8', '10.0.0.0/8', '::1/128'], deniedNetworks: [] }),
      ports: [443, 'localhost:*'] as const,
    };
    for (const host of ['localhost', 'app.localhost', '127.0.0.1', '[::1]']) {
      expect([host, ruleOf(`https://${host}:4000/`, local)]).toEqual([host, 'accepted']);
    }
    for (const host of ['example.com', 'localhost.example.com', '10.0.0.1']) {
      expect([host, ruleOf(`https://${host}:4000/`, local)]).toEqual([host, 'port_not_allowed']);
    }
    expect(ruleOf('https://localhost:4000/', { ...rules, ports: [443, 'localhost:*'] })).toBe('single_label');
  });
});

describe('refused sinks', () => {
  test.each([
    ['too_long', `https://example.com/${'a'.repeat(2048)}`],
    ['not_ascii', 'https://bücher.example/'],
    ['not_ascii', 'https://example.com/é'],
    ['not_ascii', 'https://example。com/'],
    ['not_ascii', 'https://①②⑦.0.0.1/'],
    ['not_ascii', 'https://example.com/\u202e'],
    ['characters_not_allowed', ' https://example.com/'],
    ['characters_not_allowed', 'https://example.com/ '],
    ['characters_not_allowed', 'https://example.com/\n'],
    ['characters_not_allowed', 'https://exam\tple.com/'],
    ['characters_not_allowed', 'https://exam\r\nple.com/'],
    ['characters_not_allowed', 'ht\ttps://example.com/'],
    ['characters_not_allowed', 'https://example.com/\0'],
    ['characters_not_allowed', 'https://example.com\\@evil.example/'],
    ['characters_not_allowed', 'https:\\\\example.com/'],
    ['characters_not_allowed', 'https://example.com/a"b'],
    ['characters_not_allowed', 'https://example.com/{a}'],
    ['characters_not_allowed', 'https://example.com/%zz'],
    ['characters_not_allowed', 'https://example.com/%2'],
    ['not_a_url', ''],
    ['not_a_url', 'example.com'],
    ['not_a_url', '//example.com/'],
    ['not_a_url', 'https://'],
    ['not_a_url', 'https://example.com:99999/'],
    ['not_a_url', 'https://1.2.3.4.5/'],
    ['not_a_url', 'https://256.1.1.1/'],
    ['not_a_url', 'https://[::1/'],
    ['not_https', 'http://example.com/'],
    ['not_https', 'ftp://example.com/'],
    ['not_https', 'file:///etc/passwd'],
    ['not_https', 'gopher://example.com/'],
    ['not_https', 'data:text/plain,hello'],
    ['not_canonical', 'https:example.com'],
    ['not_canonical', 'https:/example.com/'],
    ['not_canonical', 'https:///example.com/'],
    ['not_canonical', 'HTTPS://example.com/'],
    ['not_canonical', 'https://Example.com/'],
    ['not_canonical', 'https://example.com'],
    ['not_canonical', 'https://example.com?x=1'],
    ['not_canonical', 'https://example.com:443/'],
    ['not_canonical', 'https://example.com:/'],
    ['not_canonical', 'https://example.com:08443/'],
    ['not_canonical', 'https://ex%61mple.com/'],
    ['not_canonical', "https://example.com/?it's"],
    ['userinfo', 'https://user:secret@example.com/'],
    ['userinfo', 'https://example.com@127.0.0.1/'],
    ['userinfo', 'https://@example.com/'],
    ['userinfo', 'https://:@example.com/'],
    ['fragment', 'https://example.com/#a'],
    ['fragment', 'https://example.com/#'],
    ['fragment', 'https://example.com#@evil.example/'],
    ['dot_segment', 'https://example.com/a/../b'],
    ['dot_segment', 'https://example.com/./'],
    ['dot_segment', 'https://example.com/a/%2e%2E/b'],
    ['dot_segment', 'https://example.com/a/.%2e'],
    ['dot_segment', 'https://example.com/%2e'],
    ['access_token', 'https://example.com/?access_token=abc'],
    ['access_token', 'https://example.com/?a=1&access_token'],
    ['access_token', 'https://example.com/?%61ccess_token=abc'],
    ['access_token', 'https://example.com/?Access_Token=abc'],
    ['ip_literal', 'https://127.0.0.1/'],
    ['ip_literal', 'https://93.184.216.34/'],
    ['ip_literal', 'https://2130706433/'],
    ['ip_literal', 'https://0x7f000001/'],
    ['ip_literal', 'https://0x7f.1/'],
    ['ip_literal', 'https://017700000001/'],
    ['ip_literal', 'https://0177.0.0.1/'],
    ['ip_literal', 'https://127.1/'],
    ['ip_literal', 'https://0/'],
    ['ip_literal', 'https://127.0.0.1./'],
    ['ip_literal', 'https://%31%32%37.0.0.1/'],
    ['ip_literal', 'https://[::1]/'],
    ['ip_literal', 'https://[::ffff:127.0.0.1]/'],
    ['ip_literal', 'https://[2606:4700::1111]/'],
    ['trailing_dot', 'https://example.com./'],
    ['trailing_dot', 'https://localhost./'],
    ['host_malformed', 'https://a..example.com/'],
    ['host_malformed', 'https://-a.example.com/'],
    ['host_malformed', 'https://a-.example.com/'],
    ['host_malformed', 'https://*.example.com/'],
    ['host_malformed', 'https://a,b.example.com/'],
    ['host_malformed', `https://${'a'.repeat(64)}.example.com/`],
    ['host_malformed', `https://${'a.'.repeat(130)}example.com/`],
    ['single_label', 'https://localhost/'],
    ['single_label', 'https://intranet/'],
    ['own_host', 'https://registry.example.com/callbacks/1'],
    ['own_host', 'https://REGISTRY.example.com/callbacks/1'],
    ['own_host', 'https://registry.example.com./callbacks/1'],
    ['special_use_name', 'https://db.internal/'],
    ['special_use_name', 'https://ip-10-0-3-17.eu-west-1.compute.internal/'],
    ['special_use_name', 'https://vm.abcd.ax.internal.cloudapp.net/'],
    ['special_use_name', 'https://printer.local/'],
    ['special_use_name', 'https://orders.shop.svc.cluster.local/'],
    ['special_use_name', 'https://orders.shop.svc/'],
    ['special_use_name', 'https://hooks.localhost/'],
    ['special_use_name', 'https://nas.lan/'],
    ['special_use_name', 'https://router.home.arpa/'],
    ['special_use_name', 'https://intranet.corp/'],
    ['special_use_name', 'https://db.service.consul/'],
    ['special_use_name', 'https://orders.nomad/'],
    ['special_use_name', 'https://web.docker/'],
    ['special_use_name', 'https://host.openstacklocal/'],
    ['special_use_name', 'https://pc.mshome.net/'],
    ['special_use_name', 'https://files.intra/'],
    ['special_use_name', 'https://hooks.test/'],
    ['special_use_name', 'https://hooks.invalid/'],
    ['special_use_name', 'https://abcdefghijklmnop.onion/'],
    ['port_not_allowed', 'https://example.com:22/'],
    ['port_not_allowed', 'https://example.com:80/'],
    ['port_not_allowed', 'https://example.com:0/'],
  ])('%s: %j', (rule, raw) => {
    expect(ruleOf(raw)).toBe(rule);
  });

  test('the canonical form is named, and is itself accepted', () => {
    const parsed = parseSink('HTTPS://Example.com:443?x=1', rules);
    expect(parsed).toMatchObject({ ok: false, rule: 'not_canonical' });
    const second = parseSink('https://Example.com:443?x=1', rules);
    expect(second).toMatchObject({ ok: false, detail: sinkTexts.notCanonical('https://example.com/?x=1') });
    expect(ruleOf('https://example.com/?x=1')).toBe('accepted');
  });

  test('no detail repeats a password or a token', () => {
    for (const raw of [
      'https://u:geheim@Example.com',
      'https://Example.com?access_token=geheim',
      'https://Example.com#geheim',
    ]) {
      const detail = expect.not.stringContaining('geheim');
      expect(parseSink(raw, rules)).toMatchObject({ ok: false, detail: { en: detail, nl: detail } });
    }
  });

  test('a text that some registry may accept has no fault, whatever the settings of this one', () => {
    for (const raw of ['https://example.com:22/', 'https://10.0.0.1/', 'https://localhost/']) {
      expect([ruleOf(raw) === 'accepted', faultOfSinkText(raw)]).toEqual([false, undefined]);
    }
    expect(faultOfSinkText('https://Example.com/')).toMatchObject({ rule: 'not_canonical' });
    expect(faultOfSinkText('http://example.com/')).toMatchObject({ rule: 'not_https' });
  });

  test('the registry recognises itself by host and port in any notation of its public URL; another port is another service', () => {
    const own = (publicUrl: string) => ({ ...withAllowed('::/0'), ownAuthorities: [authorityOf(new URL(publicUrl))] });
    expect(ruleOf('https://registry.example.org/', own('https://Registry.Example.ORG./base'))).toBe('own_host');
    expect(ruleOf('https://[2606:4700::1111]/', own('https://[2606:4700:0::1111]'))).toBe('own_host');
    expect(ruleOf('https://registry.example.org:8443/', own('https://registry.example.org:8443'))).toBe('own_host');
    expect(ruleOf('https://registry.example.org:8443/', own('https://registry.example.org'))).toBe('accepted');
    expect(ruleOf('https://registry.example.org/', own('http://registry.example.org'))).toBe('accepted');
  });
});

describe('sinks that the operator may allow', () => {
  test('localhost is accepted if loopback is allowed, other single labels are not', () => {
    expect(ruleOf('https://localhost:8443/', withAllowed('127.0.0.0/8'))).toBe('accepted');
    expect(ruleOf('https://intranet/', withAllowed('127.0.0.0/8'))).toBe('single_label');
    expect(parseSink('https://localhost/', withAllowed('10.0.0.0/8'))).toMatchObject({
      ok: false,
      rule: 'single_label',
      detail: sinkTexts.localhost,
    });
  });

  test('internal names are accepted if a network is allowed, localhost if loopback is, and names that DNS never has are not', () => {
    const open = withAllowed('10.20.0.0/16');
    for (const name of ['orders.internal', 'orders.shop.svc.cluster.local', 'hooks.test', 'nas.lan']) {
      expect(ruleOf(`https://${name}/`, open)).toBe('accepted');
    }
    for (const name of ['hooks.localhost', 'hooks.invalid', 'hooks.onion', 'hooks.alt']) {
      expect(ruleOf(`https://${name}/`, open)).toBe('special_use_name');
    }
    expect(ruleOf('https://hooks.localhost/', withAllowed('127.0.0.0/8'))).toBe('accepted');
  });

  test('an address is accepted in an allowed network only, and in its canonical form only', () => {
    const open = withAllowed('127.0.0.0/8', 'fd00::/8');
    expect(parseSink('https://127.0.0.1/', open)).toMatchObject({ sink: { host: '127.0.0.1' } });
    expect(parseSink('https://[fd00::1]/', open)).toMatchObject({ sink: { host: 'fd00::1' } });
    expect(ruleOf('https://2130706433/', open)).toBe('not_canonical');
    expect(ruleOf('https://0x7f.1/', open)).toBe('not_canonical');
    expect(ruleOf('https://[fd00:0::1]/', open)).toBe('not_canonical');
    expect(ruleOf('https://10.0.0.1/', open)).toBe('ip_literal');
    expect(ruleOf('https://93.184.216.34/', open)).toBe('ip_literal');
  });
});
