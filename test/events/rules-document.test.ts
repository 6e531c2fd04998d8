import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { RegistryError } from '../../src/base/errors.js';
import { messageFaults, readEvents } from '../../src/events/read-events.js';
import { allRules } from '../../src/events/check-event.js';
import { problemOf } from '../../src/base/problem.js';
import { batched, minimal, structured } from './message.js';

const page = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const text = page('../../docs/reference/event-rules.md');
const coverage = page('coverage.md');

/** The rows of the tables under a heading of coverage.md, cell by cell. */
function rowsUnder(heading: string): string[][] {
  const [, section = ''] = coverage.split(`\n## ${heading}\n`);
  return section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (?:rule|fault|section|---)/.test(line))
    .map((line) =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim()),
    );
}

test('the faults of a message return the status that the page says, all others with 400', () => {
  const event = JSON.stringify(minimal);
  const twice = ['Content-Type', 'application/cloudevents+json', 'Content-Type', 'application/cloudevents+json'];
  const examples = [
    structured(' '.repeat(1_001)),
    batched(`[${event}, ${event}]`),
    { headers: twice, body: Buffer.from(event) },
    structured(event, 'application/cloudevents+avro'),
    structured(event, 'application/cloudevents+json; charset=utf-16'),
    structured(event, 'application/json'),
    { ...structured(event), body: Buffer.of(0xff) },
    structured('{'),
    structured('['.repeat(300)),
    batched(event),
  ];
  const found = examples.map((request) => {
    const result = readEvents(request, { bytes: 1_000, events: 1 });
    return 'code' in result && [result.faults[0]?.rule, problemOf(new RegistryError(result.code, ''), '').status];
  });
  const [, section = ''] = text.split("\n## A message that can't be read\n");
  const told = section.replaceAll('\n', ' ').matchAll(/((?:`\w+`(?:, | and | ))+)return (\d+)/g);
  const statuses = new Map(
    [...told].flatMap(([, names = '', status]) => names.split(/\W+/).map((name) => [name, Number(status)])),
  );
  expect(found).toEqual(Object.keys(messageFaults).map((name) => [name, statuses.get(name) ?? 400]));
});

test('every normative sentence has a rule that exists or a reason, and every rule of a document has a sentence', () => {
  const rows = rowsUnder('Every normative sentence');
  const known = new Set([
    ...allRules.map(({ id }) => id),
    ...Object.keys(messageFaults),
    'cloudevents',
    'forwardingFloorBytes',
    'src/consent/judgement.ts',
    'src/registry/handshake',
  ]);
  const named = new Set<string>();
  for (const [section, sentence, answer] of rows) {
    expect([section, sentence, answer]).toEqual([
      expect.any(String),
      expect.stringMatching(/\.$/),
      expect.stringMatching(/./),
    ]);
    for (const [, name = ''] of (answer ?? '').matchAll(/`([^`]+)`/g)) {
      expect(known).toContain(name);
      named.add(name);
    }
  }
  const ofDocuments = allRules.map(({ id }) => id).filter((id) => !id.startsWith('cloudevents.'));
  for (const id of ofDocuments) expect(named).toContain(id);
  expect(rows.length).toBeGreaterThan(150);
});
