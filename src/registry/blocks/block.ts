import type { Fault } from '../../base/errors.js';
import type { Person } from '../../base/contract/principal.js';
import { parseOriginName } from '../../consent/origin.js';
import { canonicalNetwork, isUnconnectable } from '../../outbound/address.js';
import { faultOfHostName, faultOfSinkText } from '../../outbound/sink.js';
import { isName, isReserved } from '../../base/formats/name.js';
import type { Text } from '../../base/texts/text.js';
import { trusted } from '../storage/columns.js';
import type { block as BlockRow } from '../storage/generated/client.js';
import { blockTexts, type BlockKind } from '../../base/texts/blocks.js';

export type { BlockKind };

/**
 * What an admin stopped. A block stands above grants: nothing under it is asked, granted, matched or permitted, and
 * nothing that it stops is changed, so lifting it restores everything without another handshake. The row is the block:
 * it is in force until it is deleted, by an admin or by the sweep after `endsAt`.
 *
 *   origin               one sending system
 *   sink, host, domain   one URL; every URL of a host name; of a domain and all names below it
 *   network              webhooks whose address was in this network (CIDR) when they gave consent; no other address in it is asked
 *   subscriber           the subscriptions of one client
 *   tenant               everything of one organisation
 *
 * Whether something is blocked is derived, in the views of the database and for the memory of followers, so a block has
 * no race with a registration or a callback: whichever commits last, the block counts.
 */
export interface Block {
  id: string;
  /** Whose deliveries are stopped; `*` is every tenant. */
  tenant: string;
  kind: BlockKind;
  value: string;
  reason: string;
  endsAt: Date | undefined;
  createdAt: Date;
  createdBy: string;
  createdByPerson: Person | undefined;
  /** Only an operator may lift it. */
  byOperator: boolean;
}

export function blockOf(row: BlockRow): Block {
  return {
    id: row.id,
    tenant: row.tenant,
    kind: row.kind as BlockKind,
    value: row.value,
    reason: row.reason,
    endsAt: row.endsat ?? undefined,
    createdAt: row.createdat,
    createdBy: row.createdby,
    createdByPerson: trusted(row.createdbyperson),
    byOperator: row.byoperator,
  };
}

type Parsed = { value: string } | Omit<Fault, 'pointer'>;

/** The value in the form in which it is compared, or the rule that it breaks: a block of it could never stop anything. */
export function parseBlockValue(kind: BlockKind, text: string): Parsed {
  const parsed = parse(kind, text);
  if ('value' in parsed) return parsed;
  const other = fittingBlock(text);
  const { detail } = parsed;
  return other === undefined ? parsed : { rule: parsed.rule, detail: blockTexts.instead(textOfDetail(detail), other) };
}

function parse(kind: BlockKind, text: string): Parsed {
  switch (kind) {
    case 'origin': {
      const name = parseOriginName(text);
      return name.ok ? { value: name.name } : { rule: name.rule, detail: name.detail };
    }
    case 'sink':
      return parseSink(text);
    case 'host':
    case 'domain':
      return parseHost(kind, text);
    case 'network': {
      const value = canonicalNetwork(text);
      if (value === undefined) return { rule: 'format_wrong', detail: blockTexts.writeNetwork };
      return isUnconnectable(value) ? { rule: 'value_not_allowed', detail: blockTexts.unconnectable } : { value };
    }
    case 'subscriber':
    case 'tenant':
      if (isName(text, maxNameLength) && !isReserved(text)) return { value: text };
      return { rule: 'value_not_allowed', detail: blockTexts.writeName };
  }
}

/** As long as a value may be. */
const maxNameLength = 2_048;

/** In the form in which subscriptions have it. Sinks that the settings refuse today may be blocked as well. */
function parseSink(text: string): Parsed {
  const fault = faultOfSinkText(text) ?? faultOfHost(new URL(text).hostname);
  return fault === undefined ? { value: text } : { rule: fault.rule, detail: fault.detail };
}

/** A name with a port, a path or a user, or with an empty label, is none. */
function parseHost(kind: 'host' | 'domain', text: string): Parsed {
  const isWritable = kind === 'host' ? /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)$/i : /^[^\s:/?#@[\]]+$/;
  const address = `https://${text}/`;
  const host = isWritable.test(text) && URL.canParse(address) ? new URL(address).hostname : '';
  const fault = faultOfHost(host);
  if (kind === 'domain' && isAddress(host)) return { rule: 'host_malformed', detail: blockTexts.writeDomain };
  // A block of "com" is a block of a domain.
  if (fault === undefined || (kind === 'domain' && fault.rule === 'single_label')) return { value: host };
  if (fault.rule === 'special_use_name') return { rule: fault.rule, detail: fault.detail };
  return { rule: 'host_malformed', detail: kind === 'host' ? blockTexts.writeHost : blockTexts.writeDomain };
}

const isAddress = (host: string) => /^(?:\[.*\]|[\d.]+)$/.test(host);
const faultOfHost = (host: string) => (isAddress(host) ? undefined : faultOfHostName(host));

/** The block that a text means: `*.example.com` is a domain, and a URL with a fragment the sink before it. */
function fittingBlock(text: string): { kind: BlockKind; value?: string } | undefined {
  if (/^\*+$/.test(text)) return { kind: 'tenant' };
  const host = URL.canParse(text) && /^https?:/i.test(text) ? new URL(text).hostname : text;
  const below = /^(?:\*\.)+(.+)$|^\.(.+)$/.exec(host);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const whole =
    url?.protocol === 'https:' ? Object.assign(url, { hash: '', username: '', password: '' }).href : undefined;
  const candidates: Array<{ kind: BlockKind; value: string | undefined }> = [
    { kind: 'domain', value: below?.[1] ?? below?.[2] },
    { kind: 'network', value: text.includes('/') ? text : undefined },
    { kind: 'sink', value: whole },
    { kind: 'host', value: /^([^/?#@]+):\d+$/.exec(text)?.[1] },
    { kind: 'host', value: host },
  ];
  for (const { kind, value } of candidates) {
    const parsed = value === undefined ? undefined : parse(kind, value);
    if (parsed !== undefined && 'value' in parsed) return { kind, value: parsed.value };
  }
  return undefined;
}

const textOfDetail = (detail: Fault['detail']): Text =>
  typeof detail === 'string' ? { en: detail, nl: detail } : detail;
