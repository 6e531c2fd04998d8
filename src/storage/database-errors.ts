import { RegistryError } from '../errors.js';
import { storageTexts } from '../texts/storage.js';

/** Another transaction goes on in place of this one, which may be tried again. */
export function isVictim(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '') || prismaCode(error) === 'P2034';
}

/** The five characters by which Postgres names an error; undefined if it is not one of Postgres. */
export function sqlState(error: unknown): string | undefined {
  return adapted(error)?.originalCode ?? /^[0-9A-Z]{5}$/.exec((error as { code?: string }).code ?? '')?.[0];
}

interface Adapted {
  originalCode?: string;
  /** Prisma's own name, for what Postgres has no code for. */
  kind?: string;
}

function adapted(error: unknown): Adapted | undefined {
  const { meta, cause } = error as { meta?: { driverAdapterError?: { cause?: Adapted } }; cause?: Adapted };
  return meta?.driverAdapterError?.cause ?? cause;
}

export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505' || prismaCode(error) === 'P2002';
}

function prismaCode(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}

/**
 * What Postgres says while it starts, stops, fails over, has no room, is too slow, or lets nobody into the database; the
 * first characters are enough.
 */
const unavailableStates = /^(?:08|28|3D|53|55000|57P|57014|58|25P0[34]|40001|40P01)/;
const unavailableKinds = [
  'ConnectionClosed',
  'DatabaseNotReachable',
  'SocketTimeout',
  'TlsConnectionError',
  'TooManyConnections',
];
const unavailableCodes = ['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034'];
/** Of the operating system, and of pg, which has no codes. */
const unavailableTexts =
  /E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|Connection terminated|connection timeout|timeout exceeded when trying to connect|Can't reach database|not queryable/i;

export const diskFull = 'disk full';

/** Why the database, which answers, takes no change; undefined for any other error. */
export function refusalOfWrite(error: unknown): 'disk full' | 'read only' | undefined {
  const state = sqlState(error);
  return state === '53100' ? diskFull : state === '25006' ? 'read only' : undefined;
}

/** Whether an error is about the database and not about what was asked of it. */
export function isOutage(error: unknown): boolean {
  return (
    error instanceof RegistryError && (error.code === 'database_unavailable' || error.code === 'database_read_only')
  );
}

/**
 * A database that cannot be reached is a state of the world, not a fault of the program: 503, and try again. Whether a
 * change was made cannot be known where the answer to a commit was lost.
 */
export function asUnavailable(error: unknown): unknown {
  const refusal = refusalOfWrite(error);
  if (refusal !== undefined) {
    const options = { cause: error, retryAfterSeconds: 30 };
    return new RegistryError('database_read_only', storageTexts.readOnly(refusal), options);
  }
  const isUnavailable =
    unavailableStates.test(sqlState(error) ?? '') ||
    unavailableKinds.includes(adapted(error)?.kind ?? '') ||
    unavailableCodes.includes(prismaCode(error) ?? '') ||
    // Where a name has several addresses, the message is empty and the code says it.
    unavailableTexts.test(`${prismaCode(error)} ${(error as { message?: string }).message}`);
  if (!isUnavailable) return error;
  const options = { cause: error, retryAfterSeconds: 5 };
  return new RegistryError('database_unavailable', storageTexts.unavailable, options);
}

const maxTries = 5;

/** Again where Postgres chose it as the victim of a deadlock, or of a transaction beside it. */
export async function unlessVictim<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isVictim(error) || attempt === maxTries) throw asUnavailable(error);
    }
  }
}
