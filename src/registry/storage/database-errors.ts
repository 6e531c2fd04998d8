import { RegistryError } from '../../base/errors.js';
import { storageTexts } from '../../base/texts/storage.js';

/** Postgres cancelled this transaction in favour of another one. It can be retried. */
function isVictim(error: unknown): boolean {
  return ['40001', '40P01'].includes(sqlState(error) ?? '') || prismaCode(error) === 'P2034';
}

/** The five-character code of a Postgres error; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  return adapted(error)?.originalCode ?? /^[0-9A-Z]{5}$/.exec((error as { code?: string }).code ?? '')?.[0];
}

interface Adapted {
  originalCode?: string;
  /** Prisma's own name for an error without a Postgres code. */
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
 * The codes of a Postgres that is starting, stopping, failing over, full, too slow, or refuses connections. The first
 * characters are enough.
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
/** Errors of the operating system, and of pg, which has no codes. */
const unavailableTexts =
  /E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|Connection terminated|connection timeout|timeout exceeded when trying to connect|Can't reach database|not queryable/i;

export const diskFull = 'disk full';

/** Why the database responds but accepts no change; undefined for any other error. */
export function refusalOfWrite(error: unknown): 'disk full' | 'read only' | undefined {
  const state = sqlState(error);
  return state === '53100' ? diskFull : state === '25006' ? 'read only' : undefined;
}

/** Whether an error is about the database and not about the statement. */
export function isOutage(error: unknown): boolean {
  return (
    error instanceof RegistryError && (error.code === 'database_unavailable' || error.code === 'database_read_only')
  );
}

/**
 * An unreachable database is not a bug: the API returns 503, and the client can retry. If the response to a commit was
 * lost, the change may or may not have been made.
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
    // If a name has several addresses, the message is empty and only the code helps.
    unavailableTexts.test(`${prismaCode(error)} ${(error as { message?: string }).message}`);
  if (!isUnavailable) return error;
  const options = { cause: error, retryAfterSeconds: 5 };
  return new RegistryError('database_unavailable', storageTexts.unavailable, options);
}

const maxTries = 5;

/** Retries when Postgres picked this transaction as the victim of a deadlock or of a concurrent transaction. */
export async function unlessVictim<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isVictim(error) || attempt === maxTries) throw asUnavailable(error);
    }
  }
}
