import { hash } from 'node:crypto';
import { RegistryError } from '../../base/errors.js';
import { versionsIn } from '../../base/formats/entity-tag.js';
import { requestTexts } from '../../base/texts/requests.js';

/** A strong validator (RFC 9110 section 8.8.3) of a stored version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** A strong validator of a response, from its text. */
export function contentTag(text: string): string {
  return `"${hash('sha1', text, 'base64url')}"`;
}

/** Whether `If-None-Match` matches this tag, strong or weak, or is `*` (RFC 9110 section 13.1.2). */
export function namesTag(header: string, tag: string): boolean {
  return namesStrongTag(header.replace(/(^|,)\s*W\//g, '$1'), tag);
}

/** Whether `If-Match` matches exactly this tag, or is `*` (RFC 9110 section 13.1.1). */
function namesStrongTag(header: string, tag: string): boolean {
  return header.trim() === '*' || header.split(',').some((part) => part.trim() === tag);
}

/**
 * Errors (RFC 9110 section 13.2.2): `precondition_failed` if `If-Match` does not match the current version, or
 * `If-None-Match` does; `etag_altered` if `If-Match` has what a proxy that compresses made of the current version, or
 * nothing. A client that reads and tries again would get that for ever.
 */
export function requireConditions(header: Readonly<Record<string, string | undefined>>, version: number): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = header;
  const tag = versionTag(version);
  const isMet = ifMatch === undefined || namesStrongTag(ifMatch, tag);
  if (isMet && (ifNoneMatch === undefined || !namesTag(ifNoneMatch, tag))) return;
  if (!isMet && (ifMatch.trim() === '' || namesStrongTag(versionsIn(ifMatch), tag))) {
    const faults = [{ pointer: 'header/if-match', rule: 'etag_altered' as const, detail: requestTexts.sendTag(tag) }];
    throw new RegistryError('etag_altered', requestTexts.etagAltered, { faults });
  }
  throw new RegistryError('precondition_failed', requestTexts.preconditionFailed(tag));
}
