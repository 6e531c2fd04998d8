import { join } from 'node:path';
import type { Database } from './database.js';
import type { OnRoom } from '../../base/files/disk-room.js';
import { openEmbedded } from './embedded-database.js';
import { openServer } from './server-database.js';

interface DatabaseSettings {
  databaseUrl: string | undefined;
  /** A standby, which is only read; used instead of `databaseUrl`. */
  replicaUrl?: string | undefined;
  dataFolder: string;
  /** Changes nothing on a server, not even to create a schema. */
  readsOnly?: boolean;
  /** Called when the disk of an embedded database is full, so that it is read-only, and when it has space again. */
  onRoom?: OnRoom;
}

/**
 * How to write a Postgres URL that nobody can read as it was meant; undefined for one without a fault. It repeats nothing of
 * the URL, which has a password.
 */
export function faultOfPostgresUrl(text: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return 'must be a postgres:// URL';
  // Also where the host or the rest of a password would be taken for the path or the query.
  const authority = /^[^/]*\/\/[^/?#]*/.exec(text)?.[0] ?? '';
  if (/@(?::\d*)?$/.test(authority)) {
    return 'has no host: for a Unix socket write postgres://USER:PASSWORD@localhost/DATABASE?host=/FOLDER/OF/THE/SOCKET';
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isCut =
    url === undefined ||
    url.hash !== '' ||
    url.pathname.includes('@') ||
    (url.pathname === '' && url.search.includes('@'));
  if (!isCut && isDecodable(url.username) && isDecodable(url.password)) return undefined;
  return 'cannot be read: write each special character of the user and the password percent-encoded, such as %23 for #, %2F for / and %25 for %';
}

function isDecodable(text: string): boolean {
  try {
    return typeof decodeURIComponent(text) === 'string';
  } catch {
    return false;
  }
}

/** SetupError if the database cannot be reached or opened. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { databaseUrl, replicaUrl, dataFolder, readsOnly = false, onRoom = () => undefined } = settings;
  if (databaseUrl !== undefined) return openServer(databaseUrl, 'DATABASE_URL', readsOnly);
  if (replicaUrl !== undefined) return openServer(replicaUrl, 'DATABASE_REPLICA_URL', true);
  return openEmbedded(join(dataFolder, 'database'), onRoom);
}
