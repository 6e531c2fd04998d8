import type { Problem } from '../../app/api.js';
import { fromLocalTime, t, type Text, toLocalTime } from '../../app/text.js';
import { registerTexts as texts } from '../../texts/register.js';
import type { ApiSubscription } from './use-subscription.js';

/** What the form has: text, as it was typed. */
export interface SubscriptionDraft {
  sink: string;
  origin: string;
  source: string;
  /** One on each line. */
  types: string;
  subject: string;
  /** JSON, as are `protocolsettings` and `config`. */
  filters: string;
  requestedrate: string;
  callback: string;
  /** As `datetime-local` has it: in the time zone of the browser. */
  expiresat: string;
  protocolsettings: string;
  config: string;
}

export type DraftMember = keyof SubscriptionDraft;
export type FieldFault = NonNullable<Problem['faults']>[number];
type Members = Partial<Record<DraftMember, unknown>>;

export const emptyDraft: SubscriptionDraft = {
  sink: '',
  origin: '',
  source: '',
  types: '',
  subject: '',
  filters: '',
  requestedrate: '',
  callback: 'offer',
  expiresat: '',
  protocolsettings: '',
  config: '',
};

export function draftOf(subscription: ApiSubscription): SubscriptionDraft {
  const json = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, undefined, 2));
  return {
    sink: subscription.sink,
    origin: subscription.origin,
    source: subscription.source ?? '',
    types: (subscription.types ?? []).join('\n'),
    subject: subscription.subject ?? '',
    filters: json(subscription.filters),
    requestedrate: subscription.requestedrate === undefined ? '' : String(subscription.requestedrate),
    callback: subscription.callback ?? 'offer',
    expiresat: toLocalTime(subscription.expiresat),
    protocolsettings: json(subscription.protocolsettings),
    config: json(subscription.config),
  };
}

/**
 * The members of a request, without empty ones, and the faults that need no registry to see. All other rules are the
 * registry's.
 */
export function readDraft(draft: SubscriptionDraft): { members: Members; faults: FieldFault[] } {
  const members: Members = {};
  const faults: FieldFault[] = [];
  const fault = (member: DraftMember, detail: Text) =>
    faults.push({ pointer: `/${member}`, rule: '', detail: t(detail) });
  const json = (member: DraftMember) => {
    try {
      members[member] = JSON.parse(draft[member]) as unknown;
    } catch (error) {
      fault(member, texts.notJson(error instanceof Error ? error.message : ''));
    }
  };
  const readers: Partial<Record<DraftMember, () => void>> = {
    sink() {
      members.sink = draft.sink.trim();
      if (!URL.canParse(draft.sink)) fault('sink', texts.notUrl);
      else if (new URL(draft.sink).protocol !== 'https:') fault('sink', texts.notHttps);
    },
    types: () => (members.types = draft.types.split('\n').filter((line) => line !== '')),
    filters() {
      json('filters');
      if (members.filters !== undefined && !Array.isArray(members.filters)) fault('filters', texts.notArray);
    },
    requestedrate() {
      members.requestedrate = Number(draft.requestedrate);
      if (!/^[1-9]\d*$/.test(draft.requestedrate)) fault('requestedrate', texts.notNumber);
    },
    expiresat: () => (members.expiresat = fromLocalTime(draft.expiresat) ?? draft.expiresat),
    protocolsettings: () => json('protocolsettings'),
    config: () => json('config'),
  };
  for (const member of Object.keys(draft) as DraftMember[]) {
    if (draft[member].trim() === '' || (member === 'callback' && draft.callback === 'offer')) continue;
    const read = readers[member];
    if (read === undefined) members[member] = draft[member].trim();
    else read();
  }
  return { members, faults };
}

export const draftChanges = (before: SubscriptionDraft, after: SubscriptionDraft): DraftMember[] =>
  (Object.keys(after) as DraftMember[]).filter((member) => before[member] !== after[member]);

/** A merge patch with what changed: null removes. */
export function patchOf(before: SubscriptionDraft, after: SubscriptionDraft): Record<string, unknown> {
  const { members } = readDraft(after);
  return Object.fromEntries(draftChanges(before, after).map((member) => [member, replacing(before, member, members)]));
}

/** A merge patch merges objects: members that are gone must be named. */
function replacing(before: SubscriptionDraft, member: DraftMember, members: Members): unknown {
  const value = members[member];
  if (member !== 'protocolsettings' && member !== 'config') return value ?? null;
  return merging(readDraft(before).members[member], value);
}

function merging(before: unknown, after: unknown): unknown {
  if (!isObject(after)) return after ?? null;
  if (!isObject(before)) return after;
  const gone = Object.keys(before).filter((name) => !(name in after));
  return {
    ...Object.fromEntries(Object.entries(after).map(([name, value]) => [name, merging(before[name], value)])),
    ...Object.fromEntries(gone.map((name) => [name, null])),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
