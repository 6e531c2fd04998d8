import { Prisma } from './generated/client.js';

/** Returns rows as objects. Prepared once for each connection, so the text must not contain values. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/**
 * Statements as templates, inside or outside a transaction. Postgres plans them each time: a plan for a small table
 * would scan all of it when it is large.
 */
export interface Sql {
  $queryRaw<Rows>(text: TemplateStringsArray, ...values: unknown[]): Promise<Rows>;
  /** Returns how many rows were written. */
  $executeRaw(text: TemplateStringsArray, ...values: unknown[]): Promise<number>;
}

/** Runs one statement with a driver. */
export type Run = (text: string, values: unknown[]) => Promise<{ rows: unknown[]; rowCount: number | null }>;

export function sqlOn(run: Run): Sql {
  const ask = (text: TemplateStringsArray, values: unknown[]) => {
    const statement = Prisma.sql(text, ...values);
    return run(statement.text, statement.values);
  };
  return {
    $queryRaw: async <Rows>(text: TemplateStringsArray, ...values: unknown[]) => (await ask(text, values)).rows as Rows,
    $executeRaw: async (text, ...values) => (await ask(text, values)).rowCount ?? 0,
  };
}
