import { isIP } from 'node:net';
import type { FaultRule } from '../errors.js';
import { limits } from '../limits.js';

export type ParsedOriginName = { ok: true; name: string } | { ok: false; rule: FaultRule; detail: string };

const label = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Reads the DNS expression that identifies a sending system (webhook specification, section 4.1.2). It goes out in
 * WebHook-Request-Origin and is compared with what comes back, so it is one plain name: lower-cased, and nothing
 * repaired. `rule` is stable.
 */
export function parseOriginName(text: string): ParsedOriginName {
  if (text === '') return fault('origin_empty', 'An origin is a DNS name such as eventemitter.example.com.');
  if (/[^!-~]/.test(text)) {
    return fault('origin_not_ascii', 'Write the name without spaces, and labels outside of ASCII in their xn-- form.');
  }
  if (text.includes('*')) return fault('origin_wildcard', 'An origin is one name; it holds no asterisk.');
  if (text.includes('://')) return fault('origin_scheme', 'Write the name alone, without "https://".');
  const name = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const labels = name.split('.');
  // Where the last label is a number, URL parsers take the whole for an IPv4 address.
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || /^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')) {
    return fault('origin_address', 'An origin is a name, not an IP address.');
  }
  if (/:\d*$/.test(name)) return fault('origin_port', 'Write the name alone, without a port.');
  if (name.endsWith('.')) return fault('origin_trailing_dot', 'Write the name without the dot at its end.');
  if (name.length > limits.nameLength) {
    return fault('origin_too_long', `A DNS name has at most ${limits.nameLength} characters.`);
  }
  if (labels.some((part) => part.length > 63)) {
    return fault('origin_label_too_long', 'Each part of a DNS name has at most 63 characters.');
  }
  if (!labels.every((part) => label.test(part))) {
    return fault(
      'origin_malformed',
      'Between the dots stand letters, digits and inner hyphens, at least one character.',
    );
  }
  if (labels.length < 2) return fault('origin_single_label', 'An origin has at least two labels, as in example.com.');
  return { ok: true, name };
}

const fault = (rule: FaultRule, detail: string): ParsedOriginName => ({ ok: false, rule, detail });
