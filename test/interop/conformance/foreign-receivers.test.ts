import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import type { CaseResult } from '../../../src/tools/conformance/case.js';
import { startReceivers } from '../receivers/languages.js';
import { judgeReceiver } from '../../support/judge-receiver.js';

/**
 * What the kit finds in receivers that others wrote, as they come and with the advice of docs/consumers/receive.md. The
 * table of docs/conformance.md says it, and is compared with what runs here.
 */
const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const path = `${docs}conformance.md`;
const page = readFileSync(path, 'utf8');
const blocks = [...readFileSync(`${docs}consumers/receive.md`, 'utf8').matchAll(/^```\w+ (\w+)\n([\s\S]*?)^```$/gm)];
const languages = await startReceivers(new Map(blocks.map(([, name = '', code = '']) => [name, code])));
const rows = rowsOf(page.split('\n### Results\n')[1] ?? '');

/** With UPDATE_DOCS=1: the rows that are to be in the table. */
const seen = new Map<string, string>();

afterAll(async () => {
  for (const language of languages) if ('stop' in language) await language.stop();
  if (seen.size > 0) await updatePage();
});

describe.each(languages)('$name', (language) => {
  if ('missing' in language) {
    test.skip(`not run: ${language.missing}`, () => undefined);
    return;
  }
  const here = rows.filter(({ runsIn }) => runsIn === language.name);
  const runs = new Map<string, Promise<[string, string]>>();
  // They wait most of the time, so they wait together.
  beforeAll(async () => {
    for (const { name } of here) {
      runs.set(name, Promise.all([judged(language.plain[name]), judged(language.advised[name])]));
    }
    await Promise.all(runs.values());
  });

  test.each(here)('$name: what the table says', async ({ name, plain, advised }) => {
    const [asItComes, withAdvice] = await runs.get(name)!;
    if (process.env['UPDATE_DOCS']) seen.set(name, `| ${language.name} | ${name} | ${asItComes} | ${withAdvice} |`);
    else expect({ plain: asItComes, advised: withAdvice }).toEqual({ plain, advised });
  });
});

async function updatePage(): Promise<void> {
  const lines = page.split('\n').map((line) => seen.get(/^\| .*? \| (.*?) +\| /.exec(line)?.[1] ?? '') ?? line);
  await writeFile(path, await format(lines.join('\n'), { ...(await resolveConfig(path)), filepath: path }));
}

/** The cases that fail, and how many pass. */
async function judged(sink: string | undefined): Promise<string> {
  if (sink === undefined) return '-';
  // A receiver that keeps its headers back and never calls waits for it. The Go SDK calls at once.
  const results = await judgeReceiver(sink, { callMs: 5_000, quietMs: 1_000 });
  const failed = (level: CaseResult['level']) =>
    results.filter((each) => each.level === level && each.outcome === 'failed').map(({ id }) => id);
  const passed = results.filter(({ outcome }) => outcome === 'passed').length;
  const must = failed('must');
  const should = failed('should');
  return [
    `${passed}`,
    ...(must.length > 0 ? [`${must.join(', ')} fail`] : []),
    ...(should.length > 0 ? [`advice: ${should.join(', ')}`] : []),
  ].join('; ');
}

function rowsOf(section: string) {
  const lines = (section.split('\n#')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) => {
    const [runsIn = '', name = '', plain = '', advised = ''] = line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim());
    return { runsIn, name, plain, advised };
  });
}
