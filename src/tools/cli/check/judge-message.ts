import type { Fault } from '../../../base/errors.js';
import type { Mode } from '../../../events/cloud-event.js';
import type { ReadEvent } from '../../../events/draft.js';
import { readEvents, type EventRequest, type MessageLimits } from '../../../events/read-events.js';
import { judgeEvent, validateBatch } from '../../../events/validate-event.js';
import type { Profile } from '../../../consent/origin.js';
import { visible } from '../printable.js';

export interface JudgedMessage {
  /** Undefined if the message could not be read; `code` says why. */
  mode: Mode | undefined;
  code: string | undefined;
  events: ReadEvent[];
  /** MUSTs that were broken. */
  faults: Array<Fault<string>>;
  warnings: Array<Fault<string>>;
}

/** All events of a message, by the rules of a profile. */
export function judgeMessage(request: EventRequest, profile: Profile, max?: MessageLimits): JudgedMessage {
  const message = readEvents(request, max);
  if ('code' in message) {
    return { mode: undefined, code: message.code, events: [], faults: message.faults, warnings: [] };
  }
  const { mode, events, bytes } = message;
  const judged = [
    ...(mode === 'batched' ? [validateBatch(profile, { count: events.length, bytes })] : []),
    ...events.map((event) => judgeEvent(profile, event)),
  ];
  return {
    mode,
    code: undefined,
    events,
    faults: judged.flatMap((each) => each.faults),
    warnings: judged.flatMap((each) => each.warnings),
  };
}

export function breachLines({ faults, warnings }: Pick<JudgedMessage, 'faults' | 'warnings'>): string[] {
  return [
    ...faults.map(({ pointer, rule, detail }) => visible(`  fault    ${pointer || '/'}  ${rule}: ${detail}`)),
    ...warnings.map(({ pointer, rule, detail }) => visible(`  warning  ${pointer || '/'}  ${rule}: ${detail}`)),
  ];
}
