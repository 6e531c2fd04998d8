import { eventLimits } from '../events/read-events.js';
import { createPermissionLane, createPermissionsLane, permissionHeaders } from '../grants/permission-lane.js';
import { faultOfSinkText } from '../handshake/sink.js';
import type { Operation, OperationId } from '../http/contract.js';
import type { LaneRoute } from '../http/lane.js';
import { createExplain } from '../matching/explain-match.js';
import { createMatchLane } from '../matching/match-lane.js';
import type { Database } from '../storage/database.js';
import { createCredentialReader } from '../subscriptions/credential-reader.js';
import type { CredentialVault } from '../subscriptions/credential-vault.js';
import type { Following } from './following.js';

export interface HotRouteSettings {
  database: Database;
  following: Following;
  vault: CredentialVault;
  operationOf: (id: OperationId) => Operation;
}

/** Bytes, where the contract names no limit. */
export const bodyLimit = 65_536;

/** What delivery systems ask before every event, answered from memory. */
export function createHotRoutes({ database, following, vault, operationOf }: HotRouteSettings): LaneRoute[] {
  const { follower, age } = following;
  const memory = { replica: () => follower.replica(), age };
  return [
    {
      operation: operationOf('matchEvent'),
      bodyLimit: eventLimits.bytes,
      handle: createMatchLane({
        ...memory,
        explain: createExplain(database),
        position: () => follower.position(),
        waitFor: (position, timeoutMs) => follower.waitFor(position, timeoutMs),
        credentials: createCredentialReader({ database, vault }),
      }),
    },
    {
      operation: operationOf('getPermission'),
      bodyLimit: 0,
      headers: permissionHeaders,
      ...createPermissionLane({ ...memory, faultOfSink: faultOfSinkText }),
    },
    {
      operation: operationOf('getPermissions'),
      bodyLimit: operationOf('getPermissions').bodyLimit ?? bodyLimit,
      headers: permissionHeaders,
      handle: createPermissionsLane(memory, operationOf('getPermissions')),
    },
  ];
}
