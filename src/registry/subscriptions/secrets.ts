import { timeOf } from '../../base/formats/timestamp.js';
import type { Query } from '../storage/database.js';
import { Prisma } from '../storage/generated/client.js';
import type { TableRow } from '../storage/rows.js';
import type { SealContext, Vault } from '../storage/vault.js';
import type { SigningSecret, SinkCredential } from './read-secrets.js';

// The secrets of a subscription: its `sinkcredential` and its `signingsecret`. Both are kept, replaced and ended by the
// same rules. Senders may use the previous one for a while after a new one is set, because a webhook and the registry
// rarely switch to a new secret at the same moment.

/** Where each is stored, by its member in the API. */
const columnsOf = {
  sinkcredential: {
    sealed: 'sinkcredential',
    info: 'credentialinfo',
    previous: 'previouscredential',
    previousInfo: 'previousinfo',
    until: 'previousuntil',
  },
  signingsecret: {
    sealed: 'signingsecret',
    info: 'signingsecretinfo',
    previous: 'previoussigningsecret',
    previousInfo: 'previoussigninginfo',
    until: 'previoussigninguntil',
  },
} as const;

export type SecretName = keyof typeof columnsOf;
export const secretNames = Object.keys(columnsOf) as SecretName[];

/** Metadata of a secret, stored next to it in plain text. It reveals nothing of the secret. */
export interface SecretInfo {
  /** RFC 3339; so is `expiresat`, the expiry of an access token. */
  setat: string;
  fingerprint: string;
  /** Of a credential. */
  credentialtype?: SinkCredential['credentialtype'];
  expiresat?: string;
}

/** The previous one is there while senders may still use it. */
type Present<Info extends SecretInfo> = Info & { previous?: Info & { until: string } };

export interface PresentSecrets {
  sinkcredential?: Present<SecretInfo & Required<Pick<SecretInfo, 'credentialtype'>>>;
  signingsecret?: Present<Omit<SecretInfo, 'credentialtype' | 'expiresat'>>;
}

/** As the audit record compares it: a repeated rotation sets the same secret again, and that is no change. */
export type AuditedSecret = Omit<SecretInfo, 'setat'> & { previous?: Earlier | undefined };
type Earlier = Pick<SecretInfo, 'fingerprint'> & { until: string };

/**
 * What a request does to a secret. `kept`: only what is stored about it was sent, so it stays. `isMade`: it was not sent,
 * but made for this request.
 */
export type RequestedSecret<Value extends object = object> =
  | { kind: 'absent' }
  | { kind: 'kept'; type?: SinkCredential['credentialtype']; overlapSeconds: number | undefined }
  | { kind: 'given'; value: Value; overlapSeconds: number | undefined; isMade?: boolean };

export interface RequestedSecrets {
  sinkcredential: RequestedSecret<SinkCredential>;
  signingsecret: RequestedSecret<SigningSecret>;
}

/** A secret to store. The writer adds the time of the database's clock. */
export interface SealedSecret {
  text: string;
  info: Omit<SecretInfo, 'setat'>;
}

/** Those that a request gives. */
export type SealedSecrets = Partial<Record<SecretName, SealedSecret>>;

export async function sealSecrets(
  vault: Pick<Vault, 'seal' | 'fingerprint'>,
  requested: RequestedSecrets,
  owner: SealContext,
): Promise<SealedSecrets> {
  const sealed: SealedSecrets = {};
  for (const name of secretNames) {
    const one = requested[name];
    if (one.kind !== 'given') continue;
    const { value } = one;
    const info = { ...infoOf(value), fingerprint: vault.fingerprint(value, owner) };
    sealed[name] = { text: await vault.seal(value, owner), info };
  }
  return sealed;
}

function infoOf(value: SinkCredential | SigningSecret): Pick<SecretInfo, 'credentialtype' | 'expiresat'> {
  if (!('credentialtype' in value)) return {};
  const { credentialtype } = value;
  const endsAt = credentialtype === 'PLAIN' ? undefined : value.accesstokenexpiresutc;
  return { credentialtype, ...(endsAt !== undefined && { expiresat: timeOf(endsAt).toISOString() }) };
}

/** The columns of a new subscription. */
export function newSecretColumns(sealed: SealedSecrets, setat: string): TableRow<'subscription'> {
  const entries = secretNames.flatMap((name) => {
    const one = sealed[name];
    return [
      [columnsOf[name].sealed, one?.text],
      [columnsOf[name].info, one && { ...one.info, setat }],
    ];
  });
  return Object.fromEntries(entries) as TableRow<'subscription'>;
}

/** The secrets of a stored row. `overlaps`: whether the previous one is still valid. */
export function presentSecrets(row: StoredSecrets, overlaps: Record<SecretName, boolean | null>): PresentSecrets {
  const present: Partial<Record<SecretName, object>> = {};
  for (const name of secretNames) {
    const { info, previousInfo, until: end } = columnsOf[name];
    if (row[info] === null) continue;
    const until = row[end]?.toISOString();
    const hasPrevious = overlaps[name] === true && until !== undefined;
    const previous = hasPrevious && { ...(row[previousInfo] as object), until };
    present[name] = { ...(row[info] as object), ...(previous && { previous }) };
  }
  return present as PresentSecrets;
}

type Columns = (typeof columnsOf)[SecretName];
type StoredSecrets = Record<Columns['info' | 'previousInfo'], unknown> & Record<Columns['until'], Date | null>;

/** What a replacement does to a secret. */
export interface Rotation {
  columns: TableRow<'subscription'>;
  /** Whether the present secret becomes the previous one. */
  overlaps: boolean;
  secret: AuditedSecret | undefined;
}

/** The secret after a replacement, and the previous one, which never moves to another host. */
export function rotationOf(
  name: SecretName,
  present: Present<SecretInfo> | undefined,
  requested: RequestedSecret,
  sealed: SealedSecret | undefined,
  isOtherHost: boolean,
  now: Date,
): Rotation {
  const columns = columnsOf[name];
  // A client that repeats a rotation because the response got lost must not lose the overlap.
  const isSame = sealed !== undefined && sealed.info.fingerprint === present?.fingerprint;
  const isKept = requested.kind === 'kept' || isSame;
  const previous = isOtherHost ? undefined : previousOf(present, requested, isKept, now);
  const info = isKept ? present : sealed?.info;
  return {
    columns: {
      ...(isKept
        ? {}
        : {
            [columns.sealed]: sealed?.text ?? null,
            [columns.info]: sealed ? { ...sealed.info, setat: now.toISOString() } : null,
          }),
      ...(previous === undefined ? { [columns.previous]: null, [columns.previousInfo]: null } : {}),
      [columns.until]: previous === undefined ? null : new Date(previous.until),
    },
    overlaps: previous !== undefined && !isKept,
    secret: info && { ...info, previous },
  };
}

/** The one of the last rotation, or the one that is replaced now; undefined if senders may not use it any longer. */
function previousOf(
  present: Present<SecretInfo> | undefined,
  requested: RequestedSecret,
  isKept: boolean,
  now: Date,
): Earlier | undefined {
  if (present === undefined || requested.kind === 'absent' || requested.overlapSeconds === 0) return undefined;
  const { overlapSeconds } = requested;
  const until =
    overlapSeconds === undefined ? undefined : new Date(now.getTime() + overlapSeconds * 1_000).toISOString();
  const old = isKept ? present.previous : present;
  const end = until ?? (isKept ? present.previous?.until : undefined);
  return old === undefined || end === undefined ? undefined : { fingerprint: old.fingerprint, until: end };
}

/** For `updateRows`: the present secrets of these names become the previous ones. */
export function copiedSecrets(names: readonly SecretName[]): Prisma.Sql {
  const assignments = names.map((name) => {
    const { sealed, info, previous, previousInfo } = columnsOf[name];
    return `, ${previous} = t.${sealed}, ${previousInfo} = t.${info}`;
  });
  return Prisma.raw(assignments.join(''));
}

/** Deletes previous secrets whose overlap has ended. */
export async function forgetPreviousSecrets(query: Query): Promise<void> {
  for (const { previous, previousInfo, until } of Object.values(columnsOf)) {
    await query(
      `update subscription set ${previous} = null, ${previousInfo} = null, ${until} = null where ${until} <= now()`,
      [],
    );
  }
}
