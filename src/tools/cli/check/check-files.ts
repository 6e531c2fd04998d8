import type { Fault } from '../../../base/errors.js';
import type { Mode } from '../../../events/cloud-event.js';
import type { ReadEvent } from '../../../events/draft.js';
import { type EventRequest, type MessageLimits, readEvents } from '../../../events/read-events.js';
import { judgeEvent, checkBatch } from '../../../events/check-event.js';
import type { Profile } from '../../../consent/origin.js';
import { visible } from '../printable.js';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

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
    ...(mode === 'batched' ? [checkBatch(profile, { count: events.length, bytes })] : []),
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

export interface FilesReport {
  /** Lines for people. */
  lines: string[];
  /** MUSTs that were broken, and files that are no events. */
  faults: number;
  warnings: number;
  /** A line for each file that could not be read. */
  unreadable: string[];
}

/** Checks files against a profile. Each is an event or a batch in the JSON format of CloudEvents; `-` is standard input. */
export async function checkFiles(files: readonly string[], profile: Profile): Promise<FilesReport> {
  const report: FilesReport = { lines: [], faults: 0, warnings: 0, unreadable: [] };
  for (const file of files) {
    const body = await read(file);
    if (typeof body === 'string') {
      report.unreadable.push(visible(body));
      continue;
    }
    const isBatch = /^\ufeff?[ \t\r\n]*\[/.test(body.toString('utf8'));
    const headers = ['Content-Type', `application/cloudevents${isBatch ? '-batch' : ''}+json`];
    const { faults, warnings } = judgeMessage({ headers, body }, profile, { bytes: Infinity, events: Infinity });
    report.lines = report.lines.concat(
      visible(`${file}: ${faults.length === 0 ? 'valid' : 'not valid'}`),
      breachLines({ faults, warnings }),
    );
    report.faults += faults.length;
    report.warnings += warnings.length;
  }
  return report;
}

/** The content, or a line that says why there is none. */
async function read(file: string): Promise<Buffer | string> {
  try {
    return file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    return `${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`;
  }
}
