import type { Origin } from '../../consent/origin.js';
import type { TableRow } from '../storage/rows.js';
import { definitionMembers, type Definition, type Subscription } from './columns.js';
import type { AuditedCredential, PresentCredential, RequestedCredential, SealedCredential } from './credential.js';

/** What a client wants a subscription to be. The origin is the one that it names, or the default of the tenant. */
export interface Replacement {
  definition: Definition;
  origin: Origin;
  credential: RequestedCredential;
  sealed: SealedCredential | undefined;
}

/** What a replacement does. */
export interface Plan {
  /** The columns to write. The others keep their values. */
  row: TableRow<'subscription'>;
  /** Whether the present credential becomes the previous one. */
  overlaps: boolean;
  /** As audit records compare it. */
  credential: AuditedCredential | undefined;
  isOtherOrigin: boolean;
  /** Then it is a new generation: no handshake for the old pair counts. */
  isOtherPair: boolean;
  generation: number;
  /** Its end had passed, and it gets another one. */
  isExtended: boolean;
  /** What its filters count, before and after. A subscription that has ended counts nothing. */
  price: { before: number; after: number };
  /** Whether it joins or leaves a pair, or needs another answer of the webhook. Then the pairs are locked. */
  locksPairs: boolean;
  question: 'none' | 'other pair' | 'other rate' | 'unless covered';
}

export function planOf(present: Subscription, requested: Replacement, now: Date): Plan {
  const { definition, origin } = requested;
  const isOtherOrigin = origin.name !== present.origin;
  const isOtherPair = isOtherOrigin || definition.sink !== present.sink;
  const isOtherRate = definition.requestedRate !== present.requestedRate;
  const staysEnded = present.isEnded && definition.expiresAt?.getTime() === present.expiresAt?.getTime();
  const isExtended = present.isEnded && !staysEnded;
  const isQuiet = present.suspension !== undefined || staysEnded;
  const asked = isOtherPair ? 'other pair' : isOtherRate ? 'other rate' : isExtended ? 'unless covered' : 'none';
  const generation = present.generation + (isOtherPair ? 1 : 0);
  const { columns, overlaps, credential } = rotationOf(present, requested, now);
  return {
    row: {
      id: present.id,
      origin: origin.name,
      generation,
      ...definitionMembers.write(definition),
      ...(staysEnded ? {} : { endedat: null }),
      ...columns,
    },
    overlaps,
    credential,
    isOtherOrigin,
    isOtherPair,
    generation,
    isExtended,
    price: { before: isExtended ? 0 : present.price, after: staysEnded ? 0 : definition.price },
    locksPairs: isOtherPair || isOtherRate || isExtended,
    question: isQuiet ? 'none' : asked,
  };
}

/** The credential after a replacement, and the previous one, which never moves to another host. */
function rotationOf(
  present: Subscription,
  { definition, credential: requested, sealed }: Replacement,
  now: Date,
): Pick<Plan, 'overlaps' | 'credential'> & { columns: TableRow<'subscription'> } {
  const { credential } = present;
  // A client that repeats a rotation because the response got lost must not lose the overlap.
  const isSame = sealed !== undefined && sealed.info.fingerprint === credential?.fingerprint;
  const isKept = requested.kind === 'kept' || isSame;
  const isOtherHost = new URL(definition.sink).host !== new URL(present.sink).host;
  const previous = isOtherHost ? undefined : previousOf(credential, requested, isKept, now);
  const until = previous === undefined ? null : new Date(previous.until);
  const info = isKept ? credential : sealed?.info;
  return {
    columns: {
      ...(isKept
        ? {}
        : { sinkcredential: sealed?.text, credentialinfo: sealed && { ...sealed.info, setat: now.toISOString() } }),
      ...(previous === undefined ? { previouscredential: null, previousinfo: null } : {}),
      previousuntil: until,
    },
    overlaps: previous !== undefined && !isKept,
    credential: info && { ...info, previous },
  };
}

/** The one of the last rotation, or the one that is replaced now; undefined if senders may not use it any longer. */
function previousOf(
  present: PresentCredential | undefined,
  requested: RequestedCredential,
  isKept: boolean,
  now: Date,
): { fingerprint: string; until: string } | undefined {
  if (present === undefined || requested.kind === 'absent' || requested.overlapSeconds === 0) return undefined;
  const { overlapSeconds } = requested;
  const until =
    overlapSeconds === undefined ? undefined : new Date(now.getTime() + overlapSeconds * 1_000).toISOString();
  const old = isKept ? present.previous : present;
  const end = until ?? (isKept ? present.previous?.until : undefined);
  return old === undefined || end === undefined ? undefined : { fingerprint: old.fingerprint, until: end };
}
