// What `node:net` has, for runtimes that don't have it.

export interface IpAddress {
  family: 4 | 6;
  /** The bits of the address, most significant first. */
  bits: bigint;
}

/** An address in its usual text form (RFC 4291, section 2.2); dotted decimal without leading zeros. No brackets. */
export function parseIp(text: string): IpAddress | undefined {
  const groups = text.includes(':') ? groupsOf(text) : ipv4Groups(text);
  if (groups === undefined) return undefined;
  const bits = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
  return { family: groups.length === 8 ? 6 : 4, bits };
}

/** IPv6 in the text form of an address, without brackets and without a zone. */
export const isIpv6 = (text: string): boolean => text.includes(':') && groupsOf(text) !== undefined;

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Two groups of 16 bits. */
function ipv4Groups(text: string): number[] | undefined {
  if (!ipv4.test(text)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** Eight groups of 16 bits. */
function groupsOf(text: string): number[] | undefined {
  const [left = '', right, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const before = partOf(left, right === undefined);
  const after = partOf(right ?? '', true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  // Two colons stand for one group at least.
  if (right === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...before, ...Array.from({ length: missing }, () => 0), ...after];
}

function partOf(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return [];
  const pieces = text.split(':');
  const dotted = isLast && pieces.at(-1)!.includes('.') ? ipv4Groups(pieces.pop()!) : [];
  if (dotted === undefined || !pieces.every((piece) => /^[0-9a-f]{1,4}$/i.test(piece))) return undefined;
  return [...pieces.map((piece) => parseInt(piece, 16)), ...dotted];
}

/** A network, such as 10.0.0.0/8; undefined for a text that is none. */
export function parseNetwork(text: string): ((address: IpAddress) => boolean) | undefined {
  const [base = '', prefix = ''] = text.split('/');
  const network = parseIp(base);
  if (network === undefined || !/^\d{1,3}$/.test(prefix) || text !== `${base}/${prefix}`) return undefined;
  const rest = (network.family === 6 ? 128 : 32) - Number(prefix);
  if (rest < 0) return undefined;
  return ({ family, bits }) => family === network.family && (bits ^ network.bits) >> BigInt(rest) === 0n;
}
