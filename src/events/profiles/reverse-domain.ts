import { parse } from 'tldts';

/**
 * Whether a type begins with a reversed domain name, like `com.example.order.created`. The first part is a top-level
 * domain of the Public Suffix List, the second a DNS label, and no further part is empty.
 */
export function hasReverseDomain(type: string): boolean {
  const dot = type.indexOf('.');
  if (dot < 2 || dot > 63) return false;
  const secondEnd = type.indexOf('.', dot + 1);
  if (!isLabel(type, dot + 1, secondEnd < 0 ? type.length : secondEnd)) return false;
  if (type.endsWith('.') || type.includes('..')) return false;
  return isTopLevelDomain(type.slice(0, dot).toLowerCase());
}

/** The same for a whole name: letters, digits, hyphens and underscores between the dots. */
export function isReverseDomain(type: string): boolean {
  return /^[A-Za-z0-9._+-]+$/.test(type) && hasReverseDomain(type);
}

/** A cache, bounded by the roughly 1,500 top-level domains. */
const topLevelDomains = new Set<string>();

function isTopLevelDomain(label: string): boolean {
  if (topLevelDomains.has(label)) return true;
  if (!/^(?:[a-z]+|xn--[a-z0-9-]+)$/.test(label)) return false;
  const { isIcann } = parse(`x.${label}`, { extractHostname: false, validateHostname: false });
  if (isIcann === true) topLevelDomains.add(label);
  return isIcann === true;
}

function isLabel(text: string, from: number, to: number): boolean {
  if (to === from || to - from > 63 || text[from] === '-' || text[to - 1] === '-') return false;
  return /^[A-Za-z0-9-]+$/.test(text.slice(from, to));
}
