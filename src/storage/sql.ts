import { Prisma } from './generated/client.js';

/** Rows as objects. Prepared once for each connection, so the text has no values in it. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<Row[]>;

/**
 * Statements as templates, in a transaction or each by itself. Planned anew each time: a plan that was made while a table
 * was small would read all of it when it is large.
 */
export interface Sql {
  $queryRaw<Rows>(text: TemplateStringsArray, ...values: unknown[]): Promise<Rows>;
  /** Returns how many rows were written. */
  $executeRaw(text: TemplateStringsArray, ...values: unknown[]): Promise<number>;
}

/** Of a driver: one statement. */
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
