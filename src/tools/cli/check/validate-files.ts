import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Profile } from '../../../consent/origin.js';
import { breachLines, judgeMessage } from './judge-message.js';
import { visible } from '../printable.js';

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
