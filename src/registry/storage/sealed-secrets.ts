import type { Logger } from 'pino';
import { SetupError } from '../../base/errors.js';
import { beforeAllIds } from '../../base/files/ids.js';
import type { Database } from './database.js';
import { registryTenant, type Vault } from './vault.js';

/** What a secret is, for operators. */
const kinds = {
  sink_credential: 'sink credentials',
  signing_secret: 'signing secrets',
  origin_key: 'private keys of origins',
  client_certificate: 'keys of client certificates',
  registry_key: 'keys that sign grants',
} as const;
type Kind = keyof typeof kinds;

interface SealedTable {
  table: string;
  /** SQL. */
  tenant: string;
  columns: Readonly<Record<string, Kind>>;
}

/** Where secrets are. The owner of a secret is its table and the id of its row. */
export const sealedTables: readonly SealedTable[] = [
  {
    table: 'subscription',
    tenant: 'tenant',
    columns: {
      sinkcredential: 'sink_credential',
      previouscredential: 'sink_credential',
      signingsecret: 'signing_secret',
      previoussigningsecret: 'signing_secret',
    },
  },
  { table: 'origin_key', tenant: 'tenant', columns: { privatekey: 'origin_key' } },
  { table: 'client_certificate', tenant: 'tenant', columns: { privatekey: 'client_certificate' } },
  { table: 'registry_key', tenant: `'${registryTenant}'`, columns: { privatekey: 'registry_key' } },
];

/** A condition for rows with a secret. The index subscription_secret_idx has it. */
export const hasSecret = ({ columns }: SealedTable) =>
  Object.keys(columns)
    .map((column) => `${column} is not null`)
    .join(' or ');

/** How many secrets of a kind the current key encrypted, an older key, and a key that is not configured. */
interface SecretCount {
  current: number;
  older: number;
  missing: number;
}
type SecretCounts = Readonly<Record<Kind, SecretCount>>;

const pageSize = 10_000;

/** Decrypts nothing: a secret names its key, by id and fingerprint. `missing` has ids of keys that are not configured. */
async function countSecrets({ query }: Pick<Database, 'query'>, { beginnings }: Pick<Vault, 'beginnings'>) {
  const counts = Object.fromEntries(
    Object.keys(kinds).map((kind) => [kind, { current: 0, older: 0, missing: 0 }]),
  ) as Record<Kind, SecretCount>;
  const missing = new Set<string>();
  for (const sealed of sealedTables) {
    const names = Object.keys(sealed.columns);
    const ofColumns = names.map(
      (
        name,
      ) => `select '${name}' as "column", count(*) filter (where ${name} ^@ $2)::int as current, count(${name})::int as stored,
        count(*) filter (where ${name} ^@ any($3::text[]))::int as known,
        min(${name}) filter (where not ${name} ^@ any($3::text[])) as lost, max(id::text) as last from page`,
    );
    for (let after: string | null = beforeAllIds; after !== null;) {
      const rows: Array<{
        column: string;
        current: number;
        known: number;
        stored: number;
        lost: string | null;
        last: string | null;
      }> = await query(
        `with page as materialized (
           select id, ${names.join(', ')} from ${sealed.table} where id > $1::uuid and (${hasSecret(sealed)})
           order by id limit ${pageSize}
         ) ${ofColumns.join(' union all ')}`,
        [after, beginnings[0], beginnings],
      );
      for (const { column, current, known, stored, lost } of rows) {
        const count = counts[sealed.columns[column] as Kind];
        count.current += current;
        count.older += known - current;
        count.missing += stored - known;
        if (lost !== null) missing.add(keyIdOf(lost));
      }
      after = rows[0]?.last ?? null;
    }
  }
  return { counts, missing };
}

/** The id of the key in the header of a JWE. Operators choose it, and it is no secret. */
function keyIdOf(sealed: string): string {
  try {
    const header = Buffer.from(sealed.slice(0, sealed.indexOf('.')), 'base64url').toString();
    return String((JSON.parse(header) as { kid?: unknown }).kid);
  } catch {
    return 'unknown';
  }
}

const list = new Intl.ListFormat('en');
const sumOf = (counts: SecretCounts, key: keyof SecretCount) =>
  Object.values(counts).reduce((sum, each) => sum + each[key], 0);
const missingIn = (counts: SecretCounts) =>
  Object.entries(counts)
    .filter(([, { missing }]) => missing > 0)
    .map(([kind, { missing }]) => `${missing} ${kinds[kind as Kind]}`);

export interface SecretWatchSettings {
  database: Pick<Database, 'query'>;
  vault: Pick<Vault, 'beginnings'>;
  log: Logger;
  /** Where the keys come from: a setting or a file. */
  source: string;
  /** The ids of keys that the operator has lost for good. */
  lostKeys: readonly string[];
  onCount: (counts: SecretCounts) => void;
}

const recountMs = 3_600_000;

/** How many of the stored secrets this process can decrypt, without decrypting them. */
export class SecretWatch {
  readonly #settings: SecretWatchSettings;
  #counts: SecretCounts | undefined;
  #countedAt = -Infinity;
  #isDoubted = false;

  constructor(settings: SecretWatchSettings) {
    this.#settings = settings;
  }

  /** At startup. SetupError if secrets are stored and no key decrypts one of them: this is the key of another database. */
  async begin(): Promise<void> {
    const { counts, missing } = await this.count();
    const isOpened = sumOf(counts, 'current') + sumOf(counts, 'older') > 0;
    const { source, lostKeys } = this.#settings;
    const needed = [...missing].filter((id) => !lostKeys.includes(id)).map((id) => JSON.stringify(id));
    if (isOpened || needed.length === 0) return;
    throw new SetupError(
      `${source}: no key here decrypts a secret of the database, which has ${list.format(missingIn(counts))}. ` +
        `Add the key ${list.format(needed)}. If it is lost, see docs/operate/security.md#credentials-and-their-keys.`,
    );
  }

  /** Counts again at the next look: a secret could not be decrypted. */
  doubt(): void {
    this.#isDoubted = true;
  }

  /** Counts again each hour, after a doubt, and until everything can be decrypted. */
  async look(): Promise<void> {
    const isDue = performance.now() - this.#countedAt >= recountMs;
    if (isDue || this.#isDoubted || this.warnings().length > 0) await this.count();
  }

  async count() {
    const { database, vault, log, onCount } = this.#settings;
    this.#isDoubted = false;
    const counted = await countSecrets(database, vault);
    const before = this.warnings().join();
    this.#counts = counted.counts;
    this.#countedAt = performance.now();
    onCount(counted.counts);
    const [warning] = this.warnings();
    if (warning !== undefined && warning !== before) log.error({ keys: [...counted.missing] }, warning);
    if (warning === undefined && before !== '') log.info('all secrets can be decrypted again');
    return counted;
  }

  /** For operators: which kinds, and how many. */
  warnings(): string[] {
    const missing = this.#counts === undefined ? [] : missingIn(this.#counts);
    return missing.length === 0
      ? []
      : [`No key in ${this.#settings.source} decrypts ${list.format(missing)}: what needs them waits.`];
  }
}
