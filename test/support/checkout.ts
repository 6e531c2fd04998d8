import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, symlinkSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A clean repository with one commit: this checkout as it is, built. The caller deletes it. */
export async function makeCheckout(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-checkout-'));
  const isOther = (path: string) => /\/node_modules$|\/dist\/(?:packages|release)$/.test(path);
  for (const name of readdirSync(root).filter((each) => !['.git', '.assent', 'node_modules'].includes(each))) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: (path) => !isOther(path) });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  // .gitignore names the folder, not a link.
  appendFileSync(join(folder, '.git', 'info', 'exclude'), 'node_modules\n');
  commit(folder, 'all');
  return folder;
}

export function commit(folder: string, message: string): void {
  git(folder, 'add', '--all');
  git(
    folder,
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.com',
    'commit',
    '--quiet',
    '--allow-empty',
    '-m',
    message,
  );
}

function git(folder: string, ...args: string[]): void {
  execFileSync('git', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
