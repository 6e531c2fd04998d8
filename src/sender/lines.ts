import { putOrRemove, type Replica } from '../matching/replica.js';
import type { GrantState, OriginState, State, Subject, SubscriptionState } from '../matching/state.js';

/** Where a replica stands: what comes after the cursor is what it does not know. */
export interface Checkpoint {
  cursor: string;
  /** The position of the change log, as answers of the registry tell it. */
  revision: string;
}

type StateLine =
  | { kind: 'origin'; state: OriginState }
  | { kind: 'subscription'; state: SubscriptionState }
  | { kind: 'grant'; state: GrantState };

/** A line of a snapshot. The last one is `end`; without it the snapshot was cut. */
export type SnapshotLine = StateLine | ({ kind: 'end' } & Checkpoint);

/** A change as the feed tells it: what became of its subject, null where that is gone. */
export interface ChangeLine extends Checkpoint {
  /** `grant.revoked` is about a grant. */
  kind: string;
  /** RFC 3339. */
  at: string;
  origin: string;
  sink?: string;
  subscription?: string;
  state: State | null;
}

/** A replica of the kit has one tenant: that of its token. */
export const ownTenant = '';

/** Undefined for a kind that this version does not know. */
export function subjectOfLine(line: SnapshotLine | ChangeLine): Subject | undefined {
  if ('cursor' in line && line.kind === 'end') return undefined;
  return 'cursor' in line ? subjectOfChange(line as ChangeLine) : subjectOfState(line);
}

function subjectOfState({ kind, state }: StateLine): Subject | undefined {
  switch (kind) {
    case 'origin':
      return { kind, tenant: ownTenant, origin: state.name };
    case 'subscription':
      return { kind, origin: state.origin, id: state.id };
    case 'grant':
      return { kind, origin: state.origin, sink: state.sink };
    default:
      return undefined;
  }
}

function subjectOfChange({ kind, origin, sink, subscription }: ChangeLine): Subject | undefined {
  const subject = kind.slice(0, kind.indexOf('.'));
  if (subject === 'origin') return { kind: 'origin', tenant: ownTenant, origin };
  if (subject === 'subscription' && subscription) return { kind: 'subscription', origin, id: subscription };
  return subject === 'grant' && sink ? { kind: 'grant', origin, sink } : undefined;
}

/** What cannot be put, since a later version of the registry wrote it, is reported, and stops nobody from following. */
export function putLine(replica: Replica, line: SnapshotLine | ChangeLine, onFault: (error: unknown) => void): void {
  const subject = subjectOfLine(line);
  if (subject !== undefined && 'state' in line) putOrRemove(replica, subject, line.state, onFault);
}
