import type { Logger } from 'pino';
import type { EventLimits } from '../events/read-events.js';
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
  log: Logger;
  following: Following;
  vault: CredentialVault;
  operationOf: (id: OperationId) => Operation;
  bodyLimitOf: (operation: Operation) => number;
  eventLimits: EventLimits;
}

/** What delivery systems ask before every event, answered from memory. */
export function createHotRoutes(settings: HotRouteSettings): LaneRoute[] {
  const { database, log, following, vault, operationOf, bodyLimitOf, eventLimits } = settings;
  const { follower, age } = following;
  const [match, look, lookMany] = [
    operationOf('matchEvent'),
    operationOf('getPermission'),
    operationOf('getPermissions'),
  ];
  const memory = { replica: follower.replica, age };
  return [
    {
      operation: match,
      bodyLimit: bodyLimitOf(match),
      handle: createMatchLane({
        ...memory,
        explain: createExplain(database),
        position: follower.position,
        waitFor: follower.waitFor,
        credentials: createCredentialReader({ database, vault, log }),
        limits: eventLimits,
      }),
    },
    {
      operation: look,
      bodyLimit: 0,
      headers: permissionHeaders,
      ...createPermissionLane({ ...memory, faultOfSink: faultOfSinkText }),
    },
    {
      operation: lookMany,
      bodyLimit: bodyLimitOf(lookMany),
      headers: permissionHeaders,
      handle: createPermissionsLane(memory, lookMany),
    },
  ];
}
