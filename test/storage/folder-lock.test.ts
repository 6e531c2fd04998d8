import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../../src/storage/folder-lock.js';

const lockModule = new URL('../../dist/storage/folder-lock.js', import.meta.url).href;
/** Says that it is ready, locks when it is told to, says what came of it, and lives until it is told to end. */
const contender = `
  const { lockFolder } = await import(process.argv[1]);
  console.log('ready');
  process.stdin.once('data', () =>
    lockFolder(process.argv[2]).then(() => console.log('mine'), (error) => console.log(error.message)));`;

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'assent-lock-'));
});
afterEach(() => rm(parent, { recursive: true }));

/** What each of many processes says that want the folder at once. */
async function contend(folder: string, count: number): Promise<{ winners: number[]; others: string[] }> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', contender, lockModule, folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const line = async (child: (typeof children)[number]) =>
    String((await once(child.stdout, 'data'))[0] as Buffer).trim();
  await Promise.all(children.map(line));
  const answers = children.map(line);
  for (const child of children) child.stdin.write('go\n');
  const said = await Promise.all(answers);
  const ends = children.map((child) => once(child, 'exit'));
  for (const child of children) child.stdin.end();
  await Promise.all(ends);
  const winners = children.flatMap(({ pid }, place) => (said[place] === 'mine' ? [pid ?? 0] : []));
  return { winners, others: said.filter((text) => text !== 'mine') };
}

test('of many processes that want a folder at once, one gets it, and the others are told which', async () => {
  const { winners, others } = await contend(join(parent, 'database'), 12);
  expect(winners).toHaveLength(1);
  for (const text of others) expect(text).toContain(`in use by process ${winners[0]}.`);
});

test('of many processes that find a lock whose owner died, one takes it over and leaves no other lock', async () => {
  const dead = spawnSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).stdout.trim();
  for (let round = 0; round < 3; round += 1) {
    const folder = join(parent, `database-${round}`);
    await writeFile(`${folder}.lock`, dead);
    const { winners, others } = await contend(folder, 12);
    expect([winners.length, others.length]).toEqual([1, 11]);
    expect(await readFile(`${folder}.lock`, 'utf8')).toBe(String(winners[0]));
    expect((await readdir(parent)).filter((name) => name.startsWith(`database-${round}`))).toEqual([
      `database-${round}.lock`,
    ]);
  }
});

test('a lock that was cut off while it was written is taken over', async () => {
  const folder = join(parent, 'database');
  await writeFile(`${folder}.lock`, '');
  expect((await contend(folder, 1)).winners).toHaveLength(1);
});

test('of two in the same process that want a folder the first gets it, and whoever comes after it has let go', async () => {
  const folder = join(parent, 'replica');
  await writeFile(`${folder}.lock`, String(process.pid));
  const attempts = await Promise.allSettled([lockFolder(folder), lockFolder(`${parent}/./replica`)]);
  expect(attempts.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await (attempts[0] as PromiseFulfilledResult<() => Promise<void>>).value();
  await (
    await lockFolder(folder)
  )();
  expect(await readdir(parent)).toEqual([]);
});
