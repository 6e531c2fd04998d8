import { putOrRemove, type Replica } from '../../matching/replica/replica.js';
import {
  subjectOfChange,
  subjectOfState,
  type State,
  type StateLine,
  type Subject,
} from '../../matching/replica/state.js';
import type { Checkpoint } from '../client/follow-changes.js';

/** A line of a snapshot. The last one is `end`; without it the snapshot is incomplete. */
export type SnapshotLine = StateLine | ({ kind: 'end' } & Checkpoint);

/** A change from the feed: its subject as it is now, or without `resource` if that is gone. */
export interface ChangeLine extends Checkpoint {
  /** `grant.revoked` is about a grant. */
  kind: string;
  /** RFC 3339. */
  at: string;
  /** Absent for a block. */
  origin?: string;
  sink?: string;
  subscription?: string;
  /** The id of a block. */
  block?: string;
  /** A code. */
  cause?: string;
  resource?: State;
}

/** A replica of the kit has one tenant: that of its token. */
export const ownTenant = '';

/** Undefined for a kind that this version does not know. */
export function subjectOfLine(line: SnapshotLine | ChangeLine): Subject | undefined {
  if ('cursor' in line && line.kind === 'end') return undefined;
  return 'cursor' in line ? subjectOfChange(line, ownTenant) : subjectOfState(line, ownTenant);
}

/** Reports a line that a newer registry wrote and this version cannot apply, and continues. */
export function putLine(replica: Replica, line: SnapshotLine | ChangeLine, onFault: (error: unknown) => void): void {
  const resource = 'resource' in line ? line.resource : undefined;
  putOrRemove(replica, subjectOfLine(line), resource ?? null, onFault);
}
