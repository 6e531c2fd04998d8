import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

/** Archives whose bytes depend on the commit alone. */
async function archive(file, root, command) {
  const [program, ...args] = command;
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: root,
    encoding: 'buffer',
    maxBuffer: 268_435_456,
  });
  await writeFile(file, gzipSync(stdout));
}

/** Everything that `docker build - < FILE` needs: the Dockerfile, and what .dockerignore lets in. */
export async function writeContext(file, root) {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  const paths = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  await archive(file, root, ['git', 'archive', '--format=tar', 'HEAD', 'Dockerfile', '.dockerignore', ...paths]);
}

/** As `helm package` makes it. Needs GNU tar: the chart links to files outside of it, which git would not follow. */
export async function writeChart(file, root, date) {
  const chart = join(root, 'docs', 'operate', 'chart');
  const ignored = (await readFile(join(chart, '.helmignore'), 'utf8')).split('\n').filter((line) => line !== '');
  await archive(file, chart, [
    ...['tar', '--create', '--dereference', '--format=ustar', `--mtime=${date.toISOString()}`, '--sort=name'],
    ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--transform=s,^\\.,assent,'],
    ...['.helmignore', ...ignored].map((each) => `--exclude=./${each.replace(/\/$/, '')}`),
    '.',
  ]);
}
