import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { readEvents } from '../events/read-events.js';
import { judgeEvent, validateBatch } from '../events/validate-event.js';
import type { Profile } from '../origins/origin.js';

export interface ValidationReport {
  /** Lines for people. */
  lines: string[];
  /** MUSTs that were broken, and files that are no events. */
  faults: number;
  warnings: number;
  /** A line for each file that could not be read. */
  unreadable: string[];
}

/** Checks files against a profile. Each is an event or a batch in the JSON format of CloudEvents; `-` is standard input. */
export async function validateFiles(files: readonly string[], profile: Profile): Promise<ValidationReport> {
  const report: ValidationReport = { lines: [], faults: 0, warnings: 0, unreadable: [] };
  for (const file of files) {
    const body = await read(file);
    if (typeof body === 'string') {
      report.unreadable.push(visible(body));
      continue;
    }
    const isBatch = /^\ufeff?[ \t\r\n]*\[/.test(body.toString('utf8'));
    const headers = ['Content-Type', `application/cloudevents${isBatch ? '-batch' : ''}+json`];
    const message = readEvents({ headers, body }, { bytes: Infinity, events: Infinity });
    const judged =
      'code' in message
        ? [{ faults: message.faults, warnings: [] }]
        : [
            ...(isBatch ? [validateBatch(profile, { count: message.events.length, bytes: message.bytes })] : []),
            ...message.events.map((event) => judgeEvent(profile, event)),
          ];
    const faults = judged.flatMap((each) => each.faults);
    const warnings = judged.flatMap((each) => each.warnings);
    report.lines = report.lines.concat(
      visible(`${file}: ${faults.length === 0 ? 'valid' : 'not valid'}`),
      faults.map(({ pointer, rule, detail }) => visible(`  fault    ${pointer || '/'}  ${rule}: ${detail}`)),
      warnings.map(({ pointer, rule, detail }) => visible(`  warning  ${pointer || '/'}  ${rule}: ${detail}`)),
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

/** What stands in a file, or is its name, must not steer a terminal or write lines of its own. */
function visible(line: string): string {
  return line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
