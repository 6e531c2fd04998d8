import type { Fault } from '../../base/errors.js';
import { parseOriginName } from '../../consent/origin.js';
import { canonicalNetwork } from '../../outbound/address.js';
import type { block as BlockRow } from '../storage/generated/client.js';
import type { BlockKind } from '../../base/texts/blocks.js';

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
    byOperator: row.byoperator,
  };
}

type Parsed = { value: string } | Omit<Fault, 'pointer'>;

/** The value in the form in which it is compared, or the rule that it breaks. */
export function parseBlockValue(kind: BlockKind, text: string): Parsed {
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
      const detail = 'Write a network as 203.0.113.0/24 or 2001:db8::/32, with the bits after the prefix zero.';
      return value === undefined ? { rule: 'format_wrong', detail } : { value };
    }
    case 'subscriber':
    case 'tenant':
      return { value: text };
  }
}

/** In the form in which subscriptions have it. Sinks that the outbound rules refuse today may be blocked as well. */
function parseSink(text: string): Parsed {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:')
    return { rule: 'not_https', detail: 'Write the sink as its subscriptions do: https://…' };
  return url.href === text ? { value: text } : { rule: 'not_canonical', detail: `Write it as ${url.href}` };
}

/** A name with a port, a path or a user, or with an empty label, is none. */
function parseHost(kind: 'host' | 'domain', text: string): Parsed {
  const isWritable = kind === 'host' ? /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)$/i : /^[^\s:/?#@[\]]+$/;
  const address = `https://${text}/`;
  const host = isWritable.test(text) && URL.canParse(address) ? new URL(address).hostname : '';
  const isEmptyLabel = host.split('.').includes('');
  if (isEmptyLabel || (kind === 'domain' && /^[\d.]+$/.test(host))) {
    const detail =
      kind === 'host' ? 'Write a host name or an address, without port.' : 'Write a domain, as example.com.';
    return { rule: 'host_malformed', detail };
  }
  return { value: host };
}
