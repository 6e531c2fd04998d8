import { join } from 'node:path';
import type { Database } from './database.js';
import type { OnRoom } from './disk-room.js';
import { openEmbedded } from './embedded-database.js';
import { openServer } from './server-database.js';

export interface DatabaseSettings {
  databaseUrl: string | undefined;
  /** A standby, which is read and never written; in place of the other one. */
  replicaUrl?: string | undefined;
  dataFolder: string;
  /** The disk of an embedded database is full, so that it is only read; or has room again. */
  onRoom?: OnRoom;
}

/** SetupError for a database that cannot be reached or opened. */
export async function openDatabase(settings: DatabaseSettings): Promise<Database> {
  const { databaseUrl, replicaUrl, dataFolder, onRoom = () => undefined } = settings;
  if (databaseUrl !== undefined) return openServer(databaseUrl, false);
  return replicaUrl === undefined ? openEmbedded(join(dataFolder, 'database'), onRoom) : openServer(replicaUrl, true);
}
