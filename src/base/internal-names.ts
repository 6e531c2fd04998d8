/**
 * Last labels that do not exist in public DNS (RFC 6761, RFC 6762, RFC 8375, ICANN's "internal") or that networks and
 * clusters use internally.
 */
export const internalEndings: ReadonlySet<string> = new Set([
  'internal',
  'local',
  'localhost',
  'localdomain',
  'lan',
  'intranet',
  'corp',
  'home',
  'private',
  'arpa',
  'svc',
  'pod',
]);

export const lastLabel = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
