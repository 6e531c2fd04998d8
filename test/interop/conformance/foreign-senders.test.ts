import { describe, expect, test } from '@jest/globals';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { conformanceSender } from '../../../src/tools/cli/conformance/conformance-sender.js';
import { senderCases } from '../../../src/tools/conformance/cases.js';
import { install } from '../../support/foreign-tools.js';

/** Senders that others wrote, at pinned versions, and the table of the documentation that says what they do. */
const page = await readFile(new URL('../../../docs/conformance-senders.md', import.meta.url), 'utf8');
const tools = await install({
  name: 'Python',
  folder: fileURLToPath(new URL('python', import.meta.url)),
  tool: ['python3', '-m', 'pip', '--version'],
  install: 'python3 -m pip install --quiet --no-compile --no-deps --target packages -r requirements.txt'.split(' '),
  env: { PYTHONPATH: 'packages' },
});

describe('cloudevents-python', () => {
  if ('missing' in tools) {
    test.skip(`not run: ${tools.missing}`, () => undefined);
    return;
  }
  const { folder, env, remove } = tools;

  test('its results are those of the documentation', async () => {
    const data = await mkdtemp(join(tmpdir(), 'assent-test-'));
    const trusted = { REQUESTS_CA_BUNDLE: join(data, 'conformance-localhost.pem') };
    const run = {
      cases: senderCases,
      profile: 'cloudevents',
      timeoutMs: 300_000,
      env: { ...env, ...trusted, PYTHONPATH: join(folder, 'packages'), ASSENT_DATA: data },
    } as const;
    const command = `python3 ${join(folder, 'send.py')} {url} {events}`;
    const { outcome } = await conformanceSender(run, { listen: 'localhost:0', command, manual: false, jwks: '' });
    const { results } = await outcome;
    await Promise.all([remove(), rm(data, { recursive: true })]);
    const of = (wanted: string) => results.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);
    expect(rowOf('cloudevents-python')).toEqual(['passed', 'failed', 'not_evaluable'].map(of));
  });
});

/** The cases of each column. */
function rowOf(name: string): string[][] {
  const row = page.split('\n').find((line) => line.startsWith('|') && line.includes(name)) ?? '';
  return row
    .split('|')
    .slice(2, 5)
    .map((cell) => cell.trim().split(/,\s*/));
}
