import type { Pair } from '../../consent/grant.js';
import { openStates } from '../../consent/handshake.js';
import { Prisma } from './generated/client.js';

// Statements that write many rows at once. The rows travel as one JSON value, and Postgres reads it by the types that the
// columns of the table have. So the text of a statement depends on the table and the columns, and not on the rows.

type Table = Prisma.ModelName;

/** Times may be text, bytes are `bytesAsText`, and JSON is whatever JSON.stringify takes. */
export type TableRow<Name extends Table> = {
  readonly [Column in keyof Stored<Name>]?: Stored<Name>[Column] extends string | number | boolean | string[] | null
    ? Stored<Name>[Column] | undefined
    : unknown;
};

type Stored<Name extends Table> = Prisma.TypeMap['model'][Name]['payload']['scalars'];

/** As rows of the table, to select from: `from ${recordset('grant', pairs)} p`. A column that a row lacks is null. */
export function recordset<Name extends Table>(table: Name, rows: ReadonlyArray<TableRow<Name>>): Prisma.Sql {
  return Prisma.sql`jsonb_populate_recordset(null::${named(table)}, ${JSON.stringify(rows)}::jsonb)`;
}

/** Pairs as rows with `tenant`, `origin` and `sink`. */
export function recordsetOfPairs(pairs: ReadonlyArray<Omit<Pair, 'tenant'> & { tenant?: string }>): Prisma.Sql {
  return recordset(
    'grant',
    pairs.map(({ tenant, origin, sink }) => ({ tenant, origin, sink })),
  );
}

/**
 * Inserts the columns that the rows have; there must be one row at least. In a row without one of them, it is null and
 * not the default of the column. `order by`, `on conflict` and `returning` may follow.
 */
export function insertRows<Name extends Table>(table: Name, rows: ReadonlyArray<TableRow<Name>>): Prisma.Sql {
  const columns = Prisma.join(columnsOf(rows).map(named));
  return Prisma.sql`insert into ${named(table)} (${columns}) select ${columns} from ${recordset(table, rows)} r`;
}

/**
 * Updates the columns that the rows have, in the rows `t` of the table with the same key. `also` follows the assignments,
 * and more conditions and `returning` may follow the statement.
 */
export function updateRows<Name extends Table>(
  table: Name,
  key: ReadonlyArray<keyof TableRow<Name> & string>,
  rows: ReadonlyArray<TableRow<Name>>,
  also = Prisma.empty,
): Prisma.Sql {
  const columns = columnsOf(rows).filter((column) => !(key as readonly string[]).includes(column));
  const assignments = Prisma.join(columns.map((column) => Prisma.sql`${named(column)} = r.${named(column)}`));
  return Prisma.sql`
    update ${named(table)} t set ${assignments} ${also} from ${recordset(table, rows)} r
    where ${Prisma.join(
      key.map((column) => Prisma.sql`t.${named(column)} = r.${named(column)}`),
      ' and ',
    )}`;
}

/** What every change of a row with a version does; for `updateRows`. */
export const written = Prisma.sql`, version = t.version + 1, updatedat = now()`;

/** How JSON has a value of the type bytea. */
export function bytesAsText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

function columnsOf(rows: readonly object[]): string[] {
  return [...new Set(rows.flatMap(Object.keys))];
}

/** A name of the schema, never a value. */
function named(name: string): Prisma.Sql {
  return Prisma.raw(`"${name}"`);
}

/** To compare the state of a handshake with: `state in ${openStatesSql}`. Constants, as indexes have them. */
export const openStatesSql = Prisma.raw(`(${openStates.map((state) => `'${state}'`).join(', ')})`);
