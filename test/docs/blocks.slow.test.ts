import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { pageNames, parsePage, readPage, root, type Fence } from './markdown.js';
import { startPlayground, type Playground } from './run-page.js';
import { createStableTexts, withoutTimes, withoutVarying } from './stable-text.js';

/**
 * Runs every block that a page marks `bash run`, and compares what came back with the block behind it: `json response`
 * or `text response`.
 *
 * UPDATE_DOCS=1 npm test -- test/docs/blocks
 *
 * writes into the pages what came back. DOCS_PAGE=docs/admins/ runs only pages whose path begins so.
 */
const isUpdate = Boolean(process.env['UPDATE_DOCS']);

/** Pages that run one after another beside one registry, since none shows what those before it changed. Another page has its own. */
const together = [
  [
    'README.md',
    'docs/senders/authzen.md',
    'docs/senders/egress.md',
    'docs/senders/gateways.md',
    'docs/senders/kit.md',
    'docs/senders/feed.md',
    'docs/consumers/try-your-webhook.md',
    'docs/senders/http.md',
    'docs/admins/subscription-rules.md',
    'docs/admins/incident.md',
  ],
  ['docs/admins/audit.md', 'docs/admins/origins.md', 'docs/quickstart.md'],
];

interface Block {
  commands: string;
  answer: Fence | undefined;
  /** A cell of a table that shows ways to do a thing side by side. The page does not show what it prints. */
  isCell?: true;
}

function blocksOf(page: string): Block[] {
  const { fences } = parsePage(page);
  const blocks = fences.flatMap((fence, index): Block[] => {
    if (fence.info !== 'bash run') return [];
    const rest = fences.slice(index + 1);
    const end = rest.findIndex(({ info }) => info.startsWith('bash'));
    const mine = end === -1 ? rest : rest.slice(0, end);
    return [{ commands: fence.text, answer: mine.find(({ info }) => /^(?:json|text) response$/.test(info)) }];
  });
  return [...blocks, ...cellsOf(page)];
}

/** The commands of a table with these columns, one column after the other, with what the reader takes from lists. */
function cellsOf(page: string): Block[] {
  const rows = page.split('\n').filter((line) => line.startsWith('| '));
  const head = rows.findIndex((line) => /\| command line +\| curl +\|$/.test(line));
  if (head === -1) return [];
  const end = rows.findIndex((line, at) => at > head + 1 && /^\| (?:`|-)/.test(line));
  const table = rows.slice(head + 2, end === -1 ? undefined : end).map((line) => line.split(' | ').slice(-2));
  return [0, 1].flatMap((column) =>
    table.map((cells): Block => {
      const command = /`(.+)`/.exec(cells[column] ?? '')?.[1] ?? 'false';
      const npx = command.startsWith('assent ') ? 'npx ' : '';
      return { commands: `${beforeCell}${npx}${command}`, answer: undefined, isCell: true };
    }),
  );
}

const beforeCell = `
id() { node -p 'const [one] = [JSON.parse(fs.readFileSync(0))].flat(); one ? one.id : ""'; }
ID=$(curl -s $API/blocks -H "$AUTH" | id); SUB=$(curl -s $API/subscriptions -H "$AUTH" | id)
GRANT=$(curl -s $API/grants?sink=$WEBHOOK/agreed -H "$AUTH" | id)
[ -n "$ID" ] || GRANT=$(curl -s $API/grants -H "$AUTH" --json '{"origin":"'$ORIGIN'","sink":"'$WEBHOOK'/agreed",
  "allowedrate":1,"agreement":"1","expiresat":"'$(date -u -d '+1 day' +%FT%TZ)'"}' | id)
`;

const pages = pageNames
  .filter((name) => name.startsWith(process.env['DOCS_PAGE'] ?? ''))
  .filter((name) => blocksOf(readPage(name)).length > 0);

interface Outcome {
  /** What the page has to show, by block, or nothing that can be shown. */
  answers: string[];
  failure: string | undefined;
}
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  const listed = together
    .map((group) => group.filter((page) => pages.includes(page)))
    .filter(({ length }) => length > 0);
  const alone = pages.filter((page) => !together.flat().includes(page)).map((page) => [page]);
  await Promise.all(listed.map(follow));
  for (const group of alone) await follow(group);
  if (!isUpdate) return;
  for (const page of pages) {
    const outcome = outcomes.get(page);
    if (outcome && outcome.failure === undefined) await update(page, outcome);
  }
  await promisify(execFile)(join(root, 'node_modules/.bin/prettier'), ['--write', ...pages], { cwd: root });
});

async function follow(group: string[]): Promise<void> {
  const playground = await startPlayground();
  try {
    for (const page of group) outcomes.set(page, await runPage(page, playground));
  } finally {
    await playground.stop();
  }
}

async function runPage(page: string, { startedAt, run }: Playground): Promise<Outcome> {
  const commands = blocksOf(readPage(page)).map((block) => block.commands);
  const { outputs, failure } = await run(commands);
  return { answers: outputs.map(createStableTexts(startedAt, commands.join('\n')).show), failure };
}

/** As it is compared: JSON by its value, anything else by its lines. */
function comparable(info: string, text: string, stable: (text: string) => string): unknown {
  if (!info.startsWith('json')) return stable(text.trim());
  try {
    return JSON.parse(stable(JSON.stringify(JSON.parse(text))));
  } catch {
    return `not JSON: ${text}`;
  }
}

async function update(name: string, { answers }: Outcome): Promise<void> {
  const page = readPage(name);
  const changes = blocksOf(page).map(({ answer }, index) => [answer, answers[index]] as const);
  let updated = page;
  for (const [fence, text] of changes.sort(([one], [other]) => (other?.start ?? 0) - (one?.start ?? 0))) {
    if (fence === undefined || text === undefined) continue;
    const [shown, actual] = [fence.text, text].map((each) => comparable(fence.info, each, withoutTimes));
    // What only differs in its times stays.
    if (isDeepStrictEqual(shown, actual)) continue;
    const written = text.trim();
    updated = `${updated.slice(0, fence.start)}${written}\n${updated.slice(fence.end)}`;
  }
  if (updated !== page) await writeFile(join(root, name), updated);
}

describe.each(pages)('%s', (page) => {
  const blocks = blocksOf(readPage(page));
  /** As it is now: an update has changed it. */
  const now = () => blocksOf(readPage(page));

  test('its commands succeed', () => {
    expect(outcomes.get(page)).toMatchObject({ failure: undefined });
  });

  test.each(blocks.map(({ commands }, index) => [index + 1, firstLine(commands)] as const))(
    'block %i (%s) prints what the page shows',
    (number) => {
      const output = outcomes.get(page)?.answers[number - 1];
      const { answer, isCell } = now()[number - 1]!;
      if (isCell) {
        expect(output).toMatch(/\S/);
        return expect(output).not.toContain('"title":');
      }
      if (answer === undefined) return expect(output).toBe('');
      const [shown, actual] = [answer.text, output ?? ''].map((text) => comparable(answer.info, text, withoutVarying));
      expect(actual).toEqual(shown);
    },
  );
});

test('in this folder, npx finds the command line', async () => {
  const { stdout } = await promisify(execFile)('npx', ['--no-install', 'assent', '--version'], { cwd: root });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('the README and the guides have commands that run', () => {
  if (process.env['DOCS_PAGE'] !== undefined) return;
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/quickstart.md']));
});

function firstLine(commands: string): string {
  return (
    commands
      .trim()
      .split('\n')
      .at(commands.startsWith(beforeCell) ? -1 : 0) ?? ''
  );
}
