import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '../../../src/base/files/folder-lock.js';

const lockModule = new URL('../../../dist/base/files/folder-lock.js', import.meta.url).href;
/** Reports that it is ready, locks on command, reports the result, and runs until it is ended. */
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

/** The results of many processes that lock the folder at the same time. */
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

test('of many processes that lock a folder at the same time, one succeeds, and the others name it', async () => {
  const { winners, others } = await contend(join(parent, 'database'), 12);
  expect(winners).toHaveLength(1);
  for (const text of others) expect(text).toContain(`in use by process ${winners[0]}.`);
});

test('of many processes that find a lock whose owner has died, one takes it over and leaves no other lock', async () => {
  const dead = spawnSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).stdout.trim();
  for (let round = 0; round < 3; round += 1) {
    const folder = join(parent, `database-${round}`);
    await writeFile(`${folder}.lock`, dead);
    const { winners, others } = await contend(folder, 12);
    expect([winners.length, others.length]).toEqual([1, 11]);
    const [owner, life] = (await readFile(`${folder}.lock`, 'utf8')).split(' ');
    expect(owner).toBe(String(winners[0]));
    const left = (await readdir(parent)).filter((name) => name.startsWith(`database-${round}`) && name !== life);
    expect(left).toEqual([`database-${round}.lock`]);
  }
});

describe('if process ids mean nothing, as between containers', () => {
  const unshare = ['--pid', '--fork', '--mount-proc'];
  const canUnshare = spawnSync('unshare', [...unshare, 'true']).status === 0;
  /** Process 1 of its own container, like the other one. */
  const contained = (folder: string) =>
    spawn('unshare', [...unshare, process.execPath, '--input-type=module', '-e', contender, lockModule, folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  const line = async ({ stdout }: ReturnType<typeof contained>) => String((await once(stdout, 'data'))[0]).trim();

  (canUnshare ? test : test.skip)('one gets it, and the next as soon as that has died', async () => {
    const folder = join(parent, 'database');
    const said: string[] = [];
    const [first, second, third] = [contained(folder), contained(folder), contained(folder)];
    for (const each of [first, second, third]) expect(await line(each)).toBe('ready');
    for (const [each, before] of [[first], [second], [third, first]] as const) {
      if (before !== undefined) {
        before.stdin.end();
        await once(before, 'exit');
      }
      each.stdin.write('go\n');
      said.push(await line(each));
    }
    const ends = [second, third].map((each) => once(each, 'exit'));
    for (const each of [second, third]) each.stdin.end();
    await Promise.all(ends);
    expect(said).toEqual(['mine', expect.stringContaining('is in use by process 1.'), 'mine']);
  });

  test('if the socket was deleted, the process id decides', async () => {
    const folder = join(parent, 'database');
    const release = await lockFolder(folder);
    const [, life = ''] = (await readFile(`${folder}.lock`, 'utf8')).split(' ');
    await rm(join(parent, life));
    const { winners, others } = await contend(folder, 1);
    expect([winners.length, others.length]).toEqual([0, 1]);
    await release();
  });

  test('a path that is too long for a socket is locked too', async () => {
    const folder = join(parent, 'a'.repeat(120));
    const { winners, others } = await contend(folder, 4);
    expect([winners.length, others.length]).toEqual([1, 3]);
  });
});

test('a lock that was only partly written is taken over', async () => {
  const folder = join(parent, 'database');
  await writeFile(`${folder}.lock`, '');
  expect((await contend(folder, 1)).winners).toHaveLength(1);
});

test('in one process only the first lock of a folder succeeds, and another one after its release', async () => {
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
