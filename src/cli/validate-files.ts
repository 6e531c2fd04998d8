import { readFile } from 'node:fs/promises';
import { readEvents } from '../events/read-events.js';
import type { ProfileName } from '../events/rule.js';
import { judgeEvent, validateBatch } from '../events/validate-event.js';
import { UsageError } from './create-token.js';

export interface ValidationReport {
  /** Lines for people. */
  lines: string[];
  /** MUSTs that were broken, and files that are no events. */
  faults: number;
  warnings: number;
}

/**
 * Holds files against a profile: each one event, or a batch of them, in the JSON format of CloudEvents. UsageError for a
 * file that cannot be read.
 */
export async function validateFiles(files: readonly string[], profile: ProfileName): Promise<ValidationReport> {
  const report: ValidationReport = { lines: [], faults: 0, warnings: 0 };
  for (const file of files) {
    const body = await read(file);
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
      `${file}: ${faults.length === 0 ? 'valid' : 'not valid'}`,
      faults.map(({ pointer, rule, detail }) => `  fault    ${pointer || '/'}  ${rule}: ${detail}`),
      warnings.map(({ pointer, rule, detail }) => `  warning  ${pointer || '/'}  ${rule}: ${detail}`),
    );
    report.faults += faults.length;
    report.warnings += warnings.length;
  }
  return report;
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
