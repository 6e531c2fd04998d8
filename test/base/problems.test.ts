import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { documentText, resolve, type OpenApiDocument } from '../../src/base/contract/document.js';
import { problems } from '../../src/base/problems.js';
import { pageNames, readPage } from '../docs/markdown.js';

// One table says which problems there are, with which status and when. The code, the contract and the pages follow it.

const root = fileURLToPath(new URL('../..', import.meta.url));
const document = JSON.parse(documentText()) as OpenApiDocument;
const table = new Map<string, number>(Object.entries(problems).map(([code, { status }]) => [code, status]));

const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !path.includes('generated'))
    .map((path) => ({ path: join(folder, path), text: readFileSync(join(root, folder, path), 'utf8') }));

/** Codes of the table that a text writes beside a status: `code` (400), or 400 `code`. */
const statedIn = (text: string) =>
  [...text.matchAll(/`([a-z_]+)`\s*\((\d{3})\)|\b(\d{3})\s+`([a-z_]+)`/g)]
    .map(([, one, first, second, other]) => ({ code: (one ?? other)!, status: Number(first ?? second) }))
    .filter(({ code }) => table.has(code));
const wrong = (stated: ReturnType<typeof statedIn>) =>
  stated.filter(({ code, status }) => table.get(code) !== status).map(({ code, status }) => `${code} ${status}`);

test('every problem of the table is returned somewhere', () => {
  const sources = filesIn('src', /\.tsx?$/).filter(({ path }) => !/^src\/(console|base\/problems)/.test(path));
  const named = (code: string) => sources.some(({ text }) => text.includes(`'${code}'`));
  expect([...table.keys()].filter((code) => !named(code))).toEqual([]);
});

test('a limit is 403 if waiting does not lift it, 429 if it does, and 413 or 431 if it is about size; nothing is 422', () => {
  const byStatus = (status: number) => [...table].filter(([, each]) => each === status).map(([code]) => code);
  expect([...new Set(table.values())].sort()).toEqual([
    400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 429, 431, 500, 501, 502, 503, 504,
  ]);
  expect(byStatus(429)).toEqual([
    'rate_used_up',
    'too_many_readers',
    'too_many_handshakes',
    'too_many_checks',
    'sink_held',
  ]);
  for (const [code, status] of table) {
    if (/_not_found$/.test(code)) expect([code, status]).toEqual([code, 404]);
    if (/_too_large$/.test(code)) expect([code, status]).toEqual([code, code.startsWith('headers') ? 431 : 413]);
    if (/^(invalid|callback_rate)_/.test(code)) expect([code, status]).toEqual([code, 400]);
    if (/quota|too_expensive|_by_admin|revoked|blocked|not_allowed$|not_permitted/.test(code))
      expect([code, status]).toEqual([code, code === 'method_not_allowed' ? 405 : 403]);
  }
});

test('each says when it happens, and what, in sentences, and nothing twice', () => {
  const texts = Object.values(problems).flatMap(({ when, title }) => [when, title.en]);
  for (const text of texts) expect(text).toMatch(/^[A-Z`].*\.$/);
  expect(new Set(texts).size).toBe(texts.length);
});

test('the contract names each problem with the status of the table, in an operation that has it', () => {
  let count = 0;
  for (const item of Object.values(document.paths)) {
    for (const operation of [item.get, item.put, item.post, item.patch, item.delete]) {
      if (operation === undefined) continue;
      const stated = statedIn(operation.description ?? '');
      count += stated.length;
      expect([operation.operationId, wrong(stated)]).toEqual([operation.operationId, []]);
      // The responses of a callback may be pages, and are declared together.
      const { description: others = '' } = resolve(document, operation.responses['default'] ?? { description: '' });
      const undeclared = stated.filter(
        ({ status }) => status < 429 && !(status in operation.responses) && !others.includes(String(status)),
      );
      expect([operation.operationId, undeclared]).toEqual([operation.operationId, []]);
      for (const [status, response] of Object.entries(operation.responses)) {
        const { description } = resolve(document, response);
        const codes = [...description.matchAll(/`([a-z_]+)`/g)]
          .map(([, code]) => code!)
          .filter((code) => table.has(code));
        const misplaced = codes.filter((code) => /^[45]/.test(status) && table.get(code) !== Number(status));
        expect([operation.operationId, status, misplaced]).toEqual([operation.operationId, status, []]);
      }
    }
  }
  expect(count).toBeGreaterThan(20);
});

test('the pages name each problem with the status of the table', () => {
  const pages = pageNames.map((path) => ({ path, text: readPage(path) }));
  expect(pages.flatMap(({ text }) => statedIn(text)).length).toBeGreaterThan(8);
  expect(pages.flatMap(({ path, text }) => wrong(statedIn(text)).map((each) => `${path}: ${each}`))).toEqual([]);
});
