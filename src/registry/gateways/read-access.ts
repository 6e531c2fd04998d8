import { isPlainJson } from '../http/body.js';
import { limits } from '../../base/limits.js';

/** As programs write it, in either order of the specification's own examples. */
const origin = '"subject":\\{"type":"origin","id":"([A-Za-z0-9.-]{1,253})"\\}';
const action = '"action":\\{"name":"deliver"\\}';
const sink = '"resource":\\{"type":"sink","id":"([!#-\\[\\]-~]+)"\\}';
const plain = [
  new RegExp(`^\\{${origin},${action},${sink}\\}$`),
  new RegExp(`^\\{${origin},${sink},${action}\\}$`),
] as const;
const maxBytes = limits.nameLength + limits.urlLength + 128;

/**
 * Fast path for an access request without white space and without members that are ignored. Such a text always fits the
 * contract. Undefined for any other.
 */
export function readAccess(rawHeaders: readonly string[], bytes: Buffer): { origin: string; sink: string } | undefined {
  if (bytes.length > maxBytes || !isPlainJson(rawHeaders)) return undefined;
  const text = bytes.toString('latin1');
  const match = plain[0].exec(text) ?? plain[1].exec(text);
  return match === null ? undefined : { origin: (match[1] as string).toLowerCase(), sink: match[2] as string };
}
