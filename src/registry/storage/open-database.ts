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

/** SetupError if the database cannot be reached or opened. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { databaseUrl, replicaUrl, dataFolder, readsOnly = false, onRoom = () => undefined } = settings;
  if (databaseUrl !== undefined) return openServer(databaseUrl, 'DATABASE_URL', readsOnly);
  if (replicaUrl !== undefined) return openServer(replicaUrl, 'DATABASE_REPLICA_URL', true);
  return openEmbedded(join(dataFolder, 'database'), onRoom);
}
