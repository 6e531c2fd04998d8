import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

/** A .tar.gz of a folder in HEAD, or of some paths; the same bytes each time. The times in it are those of the commit. */
export async function archive(file, root, args) {
  const settings = { cwd: root, encoding: 'buffer', maxBuffer: 268_435_456 };
  const { stdout } = await promisify(execFile)('git', ['archive', '--format=tar', ...args], settings);
  await writeFile(file, gzipSync(stdout));
}

/** Everything that `docker build - < FILE` needs: the Dockerfile, and what .dockerignore lets in. */
export async function writeContext(file, root) {
  const lines = (await readFile(`${root}/.dockerignore`, 'utf8')).split('\n');
  const paths = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  await archive(file, root, ['HEAD', 'Dockerfile', '.dockerignore', ...paths]);
}
