import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { isScalar, parseDocument, visit } from 'yaml';
import { compileCesql } from '../../../src/matching/cesql/evaluate.js';
import type { CesqlValue } from '../../../src/matching/cesql/expression.js';
import { parseCesql } from '../../../src/matching/cesql/parser.js';

/** The conformance cases of the CloudEvents specification, cesql/cesql_tck; its README explains the members. */
interface Case {
  name: string;
  expression: string;
  result?: CesqlValue;
  error?: string;
  event?: Record<string, CesqlValue>;
  eventOverrides?: Record<string, CesqlValue>;
}

const folder = process.env.CESQL_TCK ?? fileURLToPath(new URL('../../../../shared/specs/cesql_tck', import.meta.url));
const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.yaml')) : [];
const anyEvent = { specversion: '1.0', id: 'id', source: 'https://example.com/source', type: 'com.example.created' };

/** Expressions such as TRUE and -10 have no quotes and are meant as text. */
function readCases(file: string): Case[] {
  const document = parseDocument(readFileSync(join(folder, file), 'utf8'));
  visit(document, {
    Pair: (_key, { key, value }) => {
      if (isScalar(key) && key.value === 'expression' && isScalar(value)) value.value = value.source;
    },
  });
  return (document.toJS() as { tests: Case[] }).tests;
}

function outcome({ expression, event = anyEvent, eventOverrides = {} }: Case) {
  const parsed = parseCesql(expression, {}, { functions: 'any' });
  // A parse error has a value too, that of a type which is not known (sections 3.2 and 3.3).
  if ('fault' in parsed) return { value: false, error: 'parse' };
  return compileCesql(parsed.expression)(new Map(Object.entries({ ...event, ...eventOverrides })));
}

if (files.length === 0) {
  test.skip(`the CESQL conformance cases are not in ${folder}; CESQL_TCK names the folder that has them`, () => {});
}

for (const file of files) {
  describe(`conformance: ${file}`, () => {
    const tests = readCases(file);

    test.each(tests.map((one) => [one.name, one.expression, one] as const))('%s: %s', (_name, _expression, one) => {
      expect(outcome(one)).toEqual({ value: one.result ?? false, error: one.error });
    });

    test('no expression that is refused at once is expected to evaluate without an error', () => {
      const refused = tests.filter(({ expression }) => 'fault' in parseCesql(expression));
      for (const { error } of refused) expect(['parse', 'missingFunction']).toContain(error);
    });
  });
}
