import { createHash } from 'node:crypto';
import { RegistryError } from '../errors.js';

/** A strong validator (RFC 9110 section 8.8.3) of a stored version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** A strong validator of an answer. */
export function contentTag(content: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;
}

/** Whether `If-None-Match` or `If-Match` names this tag, or any (RFC 9110 sections 13.1.1 and 13.1.2). */
export function namesTag(header: string, tag: string): boolean {
  return header.trim() === '*' || header.split(',').some((part) => part.trim().replace(/^W\//, '') === tag);
}

/** RegistryError `precondition_failed` unless `If-Match` is absent or names the present version. */
export function requireMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || namesTag(ifMatch, versionTag(version))) return;
  throw new RegistryError(
    'precondition_failed',
    `The present version is ${versionTag(version)}; read it and try again.`,
  );
}
