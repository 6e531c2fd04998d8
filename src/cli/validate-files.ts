import { readFile } from 'node:fs/promises';
import { readEvents } from '../events/read-events.js';
import type { ProfileName } from '../events/rule.js';
import { judgeEvent, validateBatch } from '../events/validate-event.js';

export interface ValidationReport {
  /** Lines for people. */
  lines: string[];
  /** MUSTs that were broken, and files that are no events. */
  faults: number;
  warnings: number;
}

/** Holds files against a profile: each one event, or a batch of them, in the JSON format of CloudEvents. */
export async function validateFiles(files: readonly string[], profile: ProfileName): Promise<ValidationReport> {
  const report: ValidationReport = { lines: [], faults: 0, warnings: 0 };
  for (const file of files) {
    const body = await readFile(file);
    const isBatch = /^\s*\[/.test(body.toString('utf8', 0, 1_024).replace('\ufeff', ''));
    const headers = ['Content-Type', `application/cloudevents${isBatch ? '-batch' : ''}+json`];
    const read = readEvents({ headers, body }, { bytes: Infinity, events: Infinity });
    const judged =
      'code' in read
        ? [{ faults: read.faults, warnings: [] }]
        : [
            ...(isBatch ? [validateBatch(profile, { count: read.events.length, bytes: read.bytes })] : []),
            ...read.events.map((event) => judgeEvent(profile, event)),
          ];
    const faults = judged.flatMap((each) => each.faults);
    const warnings = judged.flatMap((each) => each.warnings);
    report.lines.push(
      `${file}: ${faults.length === 0 ? 'valid' : 'not valid'}`,
      ...faults.map(({ pointer, rule, detail }) => `  fault    ${pointer || '/'}  ${rule}: ${detail}`),
      ...warnings.map(({ pointer, rule, detail }) => `  warning  ${pointer || '/'}  ${rule}: ${detail}`),
    );
    report.faults += faults.length;
    report.warnings += warnings.length;
  }
  return report;
}
