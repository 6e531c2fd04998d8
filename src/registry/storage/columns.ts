import { isDeepStrictEqual } from 'node:util';

/** One column for each member of an entity, or it does not compile. A null in the database is an undefined member. */
type Columns<Entity, Row> = { readonly [Member in keyof Entity]-?: Column<Entity[Member], Row> };

/** If the type of the column is not that of the member, `read` must be there. */
type Column<Value, Row> = {
  [Name in keyof Row & string]: {
    readonly column: Name;
    /** Its name in the API, if that is not the name of the column. */
    readonly member?: string;
    /** Audit records have every member that does not say this. */
    readonly audited?: false;
    readonly write?: (value: Value) => unknown;
  } & (OrUndefined<Row[Name]> extends Value
    ? { readonly read?: (stored: Row[Name]) => Value }
    : { readonly read: (stored: Row[Name]) => Value });
}[keyof Row & string];

type OrUndefined<Stored> = Exclude<Stored, null> | (null extends Stored ? undefined : never);

/** By their names in the API, with times as text. */
type Members<Entity, Table> = {
  [Member in keyof Table & keyof Entity as NameOf<Table[Member]>]: Presented<Entity[Member]>;
};
type NameOf<Of> = Of extends { member: infer Name extends string }
  ? Name
  : Of extends { column: infer Name extends string }
    ? Name
    : never;
type Presented<Value> = Value extends Date ? string : Value;

interface Entry {
  member: string;
  column: string;
  name: string;
  isAudited: boolean;
  read: (stored: unknown) => unknown;
  write: (value: unknown) => unknown;
}

/** The members of an entity in the database, in the API and in audit records: all of it follows from one table. */
class StoredMembers<Entity, Row, Table> {
  readonly #entries: readonly Entry[];

  constructor(table: Columns<Entity, Row>) {
    this.#entries = Object.entries(table as Record<string, Partial<Entry> & { column: string; audited?: false }>).map(
      ([member, { column, member: name = column, audited, read = trusted, write = unchanged }]) => {
        return { member, column, name, isAudited: audited !== false, read, write };
      },
    );
  }

  read(row: Row): Entity {
    const stored = row as Record<string, unknown>;
    return this.#object(({ member, column, read }) => [member, read(stored[column])]) as Entity;
  }

  /** As `insertRows` and `updateRows` take it. */
  write(entity: Entity): Partial<Row> {
    const values = entity as Record<string, unknown>;
    return this.#object(({ member, column, write }) => [column, write(values[member])]);
  }

  present<Of extends Record<keyof Entity, unknown>>(entity: Of): Members<Of, Table> {
    const values = entity as Record<string, unknown>;
    return this.#object(({ member, name }) => [name, presented(values[member])]) as Members<Of, Table>;
  }

  /** Null is a member without a value. */
  audited(entity: Entity): Audited {
    const values = entity as Record<string, unknown>;
    const audited = this.#entries.filter(({ isAudited }) => isAudited);
    return Object.fromEntries(audited.map(({ member, name }) => [name, values[member] ?? null]));
  }

  #object(entryOf: (entry: Entry) => [string, unknown]): object {
    return Object.fromEntries(this.#entries.map(entryOf));
  }
}

/** `storedMembers<Entity, Row>()({ member: { column } })` */
export function storedMembers<Entity, Row>() {
  return <const Table extends Columns<Entity, Row>>(table: Table) => new StoredMembers<Entity, Row, Table>(table);
}

/** Reads what the database checks, or only this program writes. */
export function trusted<Value>(stored: unknown): Value {
  return (stored ?? undefined) as Value;
}

const unchanged = (value: unknown) => value;
const presented = (value: unknown) => (value instanceof Date ? value.toISOString() : value);

/** Members that changed, by their names in the API; null is a member without a value. */
export type Changed = Record<string, { before: unknown; after: unknown }>;

type Audited = Readonly<Record<string, unknown>>;

/** Undefined if nothing changed. The order of the members of an object is no change. */
export function changedMembers(before: Audited, after: Audited): Changed | undefined {
  const changed: Changed = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[name] === after[name]) continue;
    const [was, is] = [asJson(before[name]), asJson(after[name])];
    if (!isDeepStrictEqual(was, is)) changed[name] = { before: was, after: is };
  }
  return Object.keys(changed).length === 0 ? undefined : changed;
}

/** As the database returns it: no undefined members, and times as text. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null)) as unknown;
}
