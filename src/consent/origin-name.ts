import { isIP } from 'node:net';
import type { FaultRule } from '../base/errors.js';
import { limits } from '../base/limits.js';
import { originNameTexts } from '../base/texts/origins.js';
import type { Text } from '../base/texts/text.js';

type ParsedOriginName = { ok: true; name: string } | { ok: false; rule: FaultRule; detail: Text };

const maxLabelLength = 63;
const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Parses the DNS expression that identifies an origin (webhook specification, section 4.1.2). Assent sends it in
 * WebHook-Request-Origin and compares it with the response, so it is one plain name: in lower case, and never
 * repaired. `rule` is stable.
 */
export function parseOriginName(text: string): ParsedOriginName {
  if (text === '') return fault('origin_empty', originNameTexts.empty);
  if (/[^!-~]/.test(text)) return fault('origin_not_ascii', originNameTexts.notAscii);
  if (text.includes('*')) return fault('origin_wildcard', originNameTexts.wildcard);
  if (text.includes('://')) return fault('origin_scheme', originNameTexts.scheme);
  const name = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const labels = name.split('.');
  // If the last label is a number, URL parsers read the whole name as an IPv4 address.
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return fault('origin_address', originNameTexts.address);
  }
  if (/:\d*$/.test(name)) return fault('origin_port', originNameTexts.port);
  if (name.endsWith('.')) return fault('origin_trailing_dot', originNameTexts.trailingDot);
  if (name.length > limits.nameLength) return fault('origin_too_long', originNameTexts.tooLong(limits.nameLength));
  if (labels.some((part) => part.length > maxLabelLength)) {
    return fault('origin_label_too_long', originNameTexts.labelTooLong(maxLabelLength));
  }
  if (!labels.every((part) => label.test(part))) return fault('origin_malformed', originNameTexts.malformed);
  if (labels.length < 2) return fault('origin_single_label', originNameTexts.singleLabel);
  return { ok: true, name };
}

const fault = (rule: FaultRule, detail: Text): ParsedOriginName => ({ ok: false, rule, detail });
