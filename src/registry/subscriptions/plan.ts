import type { Origin } from '../../consent/origin.js';
import type { TableRow } from '../storage/rows.js';
import { definitionMembers, type Definition, type Subscription } from './columns.js';
import {
  rotationOf,
  secretNames,
  type AuditedSecret,
  type RequestedSecrets,
  type SealedSecrets,
  type SecretName,
} from './secrets.js';

/** What a client wants a subscription to be. The origin is the one that it names, or the default of the tenant. */
export interface Replacement {
  definition: Definition;
  origin: Origin;
  secrets: RequestedSecrets;
  sealed: SealedSecrets;
}

/** What a replacement does. */
export interface Plan {
  /** The columns to write. The others keep their values. */
  row: TableRow<'subscription'>;
  /** The secrets whose present one becomes the previous one. */
  overlapping: SecretName[];
  /** As audit records compare them. */
  secrets: Partial<Record<SecretName, AuditedSecret>>;
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
  const isOtherHost = new URL(definition.sink).host !== new URL(present.sink).host;
  const rotations = secretNames.map((name) => {
    const { secrets, sealed } = requested;
    return { name, ...rotationOf(name, present.secrets[name], secrets[name], sealed[name], isOtherHost, now) };
  });
  return {
    row: {
      id: present.id,
      origin: origin.name,
      generation,
      ...definitionMembers.write(definition),
      ...(staysEnded ? {} : { endedat: null }),
      ...Object.fromEntries(rotations.flatMap(({ columns }) => Object.entries(columns))),
    },
    overlapping: rotations.filter(({ overlaps }) => overlaps).map(({ name }) => name),
    secrets: Object.fromEntries(rotations.flatMap(({ name, secret }) => (secret ? [[name, secret]] : []))),
    isOtherOrigin,
    isOtherPair,
    generation,
    isExtended,
    price: { before: isExtended ? 0 : present.price, after: staysEnded ? 0 : definition.price },
    locksPairs: isOtherPair || isOtherRate || isExtended,
    question: isQuiet ? 'none' : asked,
  };
}
