import { describe, expect, test } from '@jest/globals';
import { createAddressRules, isReachable, networkOf } from '../../src/outbound/address.js';

const { verdictOf } = createAddressRules({ allowedNetworks: [], deniedNetworks: [] });

/** First and last address of every block that the IANA registries do not call globally reachable unicast. */
const reservedIpv4 = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private use (10/8)', '10.0.0.0', '10.255.255.255'],
  ['shared address space', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['link-local with metadata services', '169.254.0.0', '169.254.255.255'],
  ['private use (172.16/12)', '172.16.0.0', '172.31.255.255'],
  ['IETF protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['documentation 1', '192.0.2.0', '192.0.2.255'],
  ['AS112', '192.31.196.0', '192.31.196.255'],
  ['AMT', '192.52.193.0', '192.52.193.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private use (192.168/16)', '192.168.0.0', '192.168.255.255'],
  ['direct delegation AS112', '192.175.48.0', '192.175.48.255'],
  ['benchmarking', '198.18.0.0', '198.19.255.255'],
  ['documentation 2', '198.51.100.0', '198.51.100.255'],
  ['documentation 3', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.254'],
  ['broadcast', '255.255.255.255', '255.255.255.255'],
  ['the host agent of Azure', '168.63.129.16', '168.63.129.16'],
];

const reservedIpv6 = [
  ['unspecified', '::', '::'],
  ['loopback', '::1', '::1'],
  ['IPv4-compatible', '::0.0.0.2', '::255.255.255.255'],
  ['IPv4-mapped', '::ffff:0.0.0.0', '::ffff:255.255.255.255'],
  ['IPv4-translated', '::ffff:0:0.0.0.0', '::ffff:0:255.255.255.255'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['unassigned below 2000::/3', '200::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['IETF protocol assignments', '2001:1::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['benchmarking', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['AMT', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['AS112', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['drone remote identification', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['direct delegation AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['documentation (2024)', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unassigned above 2000::/3', '4000::1', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local with metadata of AWS', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

describe('without any setting', () => {
  test.each([...reservedIpv4, ...reservedIpv6])(
    '%s is refused from its first to its last address',
    (_, first, last) => {
      expect(verdictOf(first ?? '')).not.toBe('public');
      expect(verdictOf(last ?? '')).not.toBe('public');
    },
  );

  test.each([
    ['1.0.0.0', '9.255.255.255'],
    ['11.0.0.0', '100.63.255.255'],
    ['100.128.0.0', '126.255.255.255'],
    ['128.0.0.0', '169.253.255.255'],
    ['168.63.129.15', '168.63.129.17'],
    ['169.255.0.0', '172.15.255.255'],
    ['172.32.0.0', '191.255.255.255'],
    ['192.0.1.0', '192.0.1.255'],
    ['192.0.3.0', '192.31.195.255'],
    ['192.169.0.0', '192.175.47.255'],
    ['198.17.255.255', '198.20.0.0'],
    ['198.51.99.255', '198.51.101.0'],
    ['203.0.112.255', '203.0.114.0'],
    ['223.255.255.255', '223.255.255.255'],
    ['2000::', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:200::', '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db9::', '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2003::', '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff'],
    ['2620:4f:8001::', '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['3fff:1000::', '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('%s and %s, next to the reserved blocks, are public', (first, last) => {
    expect([verdictOf(first), verdictOf(last)]).toEqual(['public', 'public']);
  });

  test.each([
    ['loopback', ['::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', '::0001', '::0.0.0.1']],
    ['ipv4Compatible', ['::127.0.0.1', '::7f00:1', '::7F00:0001', '0:0:0:0:0:0:127.0.0.1']],
    ['ipv4Mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:7F00:1', '0:0:0:0:0:ffff:127.0.0.1']],
    ['ipv4Mapped', ['::ffff:8.8.8.8', '::ffff:808:808', '::ffff:0808:0808']],
    ['rfc6052', ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1', '0064:ff9b::7f00:1']],
    ['6to4', ['2002:7f00:1::', '2002:7f00:0001::0', '2002:7F00:1:0:0:0:0:0']],
    ['public', ['2606:4700::1111', '2606:4700:0:0:0:0:0:1111', '2606:4700::0.0.17.17']],
  ])('%s is the verdict on every textual form of one address', (verdict, forms) => {
    expect(forms.map(verdictOf)).toEqual(forms.map(() => verdict));
  });

  test.each(['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '8.8.8.8 ', '8.8.8', '08.8.8.8'])(
    '"%s" is no address and refused',
    (text) => expect(verdictOf(text)).toBe('notAnAddress'),
  );

  test.each(['[::1]', 'fe80::1%eth0', '2606:4700::1111%eth0', '1::2::3', '2606:4700::1111/64'])(
    '"%s" is no plain address and refused',
    (text) => expect(verdictOf(text)).toBe('notAnAddress'),
  );
});

describe('with networks of the operator', () => {
  test('an allowed private network is reachable, and no address next to it', () => {
    const rules = createAddressRules({
      allowedNetworks: ['10.20.0.0/16', '127.0.0.1', 'fd00:1::/32'],
      deniedNetworks: [],
    });
    const verdicts = ['10.20.0.0', '10.20.255.255', '127.0.0.1', 'fd00:1::5'].map(rules.verdictOf);
    expect(verdicts).toEqual(['allowed', 'allowed', 'allowed', 'allowed']);
    expect(['10.19.255.255', '10.21.0.0', '127.0.0.2', 'fd00:2::5', '::1'].map(rules.verdictOf)).toEqual([
      'private',
      'private',
      'loopback',
      'uniqueLocal',
      'loopback',
    ]);
  });

  test('a denied network wins over an allowed one and over the public internet', () => {
    const rules = createAddressRules({
      allowedNetworks: ['10.0.0.0/8', 'fd00::/8'],
      deniedNetworks: ['10.0.0.0/24', '93.184.216.0/24', 'fd00:dead::/32', '2606:4700::/32'],
    });
    const denied = ['10.0.0.7', '93.184.216.34', 'fd00:dead::1', '2606:4700::1111'];
    expect(denied.map(rules.verdictOf)).toEqual(denied.map(() => 'denied'));
    expect(['10.0.1.7', '93.184.217.1'].map(rules.verdictOf)).toEqual(['allowed', 'public']);
  });

  test('allowing all of IPv6 does not bypass the rules for IPv4', () => {
    const rules = createAddressRules({ allowedNetworks: ['::/0'], deniedNetworks: ['93.184.216.34'] });
    expect(['::ffff:127.0.0.1', '::ffff:10.0.0.1', '64:ff9b::169.254.169.254'].map(rules.verdictOf)).toEqual([
      'loopback',
      'private',
      'linkLocal',
    ]);
    expect(['::ffff:93.184.216.34', '64:ff9b::93.184.216.34'].map(rules.verdictOf)).toEqual(['denied', 'denied']);
  });

  test('allowing loopback in IPv4 does not allow its IPv6 disguises', () => {
    const rules = createAddressRules({ allowedNetworks: ['127.0.0.0/8'], deniedNetworks: [] });
    const disguises = ['::1', '::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::'];
    expect(disguises.map(rules.verdictOf).filter(isReachable)).toEqual([]);
  });

  test('an allowed NAT64 prefix leads to public addresses only', () => {
    const rules = createAddressRules({ allowedNetworks: ['64:ff9b::/96'], deniedNetworks: [] });
    expect(['64:ff9b::8.8.8.8', '64:ff9b::10.0.0.1'].map(rules.verdictOf)).toEqual(['public', 'private']);
  });

  test.each([
    '',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    'fd00::/129',
    'all',
    '0x0a.0.0.0/8',
  ])('the network "%s" stops the start instead of being ignored', (network) => {
    expect(() => createAddressRules({ allowedNetworks: [network], deniedNetworks: [] })).toThrow(RangeError);
    expect(() => createAddressRules({ allowedNetworks: [], deniedNetworks: [network] })).toThrow(RangeError);
  });

  test('a denied network in IPv4-mapped form, which would deny nothing, stops the start', () => {
    expect(() => createAddressRules({ allowedNetworks: [], deniedNetworks: ['::ffff:10.0.0.0/104'] })).toThrow(/IPv4/);
  });
});

test('an address is counted in its /24 or /48', () => {
  expect(networkOf('93.184.216.34')).toBe('93.184.216.0/24');
  expect(networkOf('2606:4700:12:3400::1111')).toBe(networkOf('2606:4700:0012::'));
  expect(networkOf('2606:4700:12:3400::1111')).toBe('2606:4700:12::/48');
  expect(networkOf('2606:4700:13::1')).not.toBe(networkOf('2606:4700:12::1'));
  expect(() => networkOf('localhost')).toThrow(RangeError);
});
