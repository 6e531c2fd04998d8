import { hash } from 'node:crypto';
import { RegistryError } from '../errors.js';

/** A strong validator (RFC 9110 section 8.8.3) of a stored version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** A strong validator of an answer, by its text. */
export function contentTag(text: string): string {
  return `"${hash('sha1', text, 'base64url')}"`;
}

/** Whether `If-None-Match` names this tag, strong or weak, or any (RFC 9110 section 13.1.2). */
export function namesTag(header: string, tag: string): boolean {
  return namesStrongTag(header.replace(/(^|,)\s*W\//g, '$1'), tag);
}

/** Whether `If-Match` names this very tag, or any (RFC 9110 section 13.1.1). */
function namesStrongTag(header: string, tag: string): boolean {
  return header.trim() === '*' || header.split(',').some((part) => part.trim() === tag);
}

/** RegistryError `precondition_failed` unless `If-Match` is absent or names the present version. */
export function requireMatch(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || namesStrongTag(ifMatch, versionTag(version))) return;
  throw new RegistryError(
    'precondition_failed',
    `The present version is ${versionTag(version)}; read it and try again.`,
  );
}
