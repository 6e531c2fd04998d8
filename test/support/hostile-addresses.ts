/** IPv4 addresses that no request may reach. */
export const forbidden = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.1.2.3',
  '168.63.129.16',
].concat(['169.254.169.254', '172.16.0.1', '192.0.0.192', '192.168.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255']);

const octets = (address: string) => address.split('.').map(Number) as [number, number, number, number];
const number = (address: string) => octets(address).reduce((sum, octet) => sum * 256 + octet, 0);
const hex = (value: number, digits = 2) => value.toString(16).padStart(digits, '0');
const groups = (address: string) => {
  const [a, b, c, d] = octets(address);
  return [`${hex(a)}${hex(b)}`, `${hex(c)}${hex(d)}`] as const;
};

/** Forms of IPv6 that carry the address. */
export const inIpv6 = (address: string) => {
  const [high, low] = groups(address);
  const carried = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', 'fe80::', 'fd00::', '4000::'];
  return [
    ...carried.flatMap((prefix) => [`${prefix}${address}`, `${prefix}${high}:${low}`]),
    `0:0:0:0:0:ffff:${high}:${low}`,
    `2002:${high}:${low}::`,
    `2002:${high}:${low}::1`,
    `2001:0:${high}:${low}::`,
    `2001::${hex(0xffff ^ parseInt(high, 16), 4)}:${hex(0xffff ^ parseInt(low, 16), 4)}`,
  ];
};

/** Ways to write the address, or something like it, as the host of a URL. */
export const asHost = (address: string) => {
  const [a, b, c, d] = octets(address);
  const octal = (value: number) => `0${value.toString(8)}`;
  const value = number(address);
  return [
    address,
    `${address}.`,
    `${value}`,
    `0x${value.toString(16)}`,
    `0X${value.toString(16).toUpperCase()}`,
    octal(value),
    [a, b, c, d].map(octal).join('.'),
    [a, b, c, d].map((octet) => `0x${hex(octet)}`).join('.'),
    `${a}.${b * 65536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0x${hex(a)}.${octal(b)}.${c * 256 + d}`,
    [a, b, c, d].map((octet) => `000${octet.toString(8)}`).join('.'),
    address.replaceAll('.', '%2e'),
    address.replace(/\d/g, (digit) => `%3${digit}`),
    address.replaceAll('.', '。'),
    address.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    `example.com@${address}`,
    `${address}\t`,
    `exam\nple.com@${address}`,
    `${address}\\@example.com`,
    ...inIpv6(address).map((form) => `[${form}]`),
    `[::ffff:${address}%25eth0]`,
  ];
};
