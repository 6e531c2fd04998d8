import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { install, type Missing, type Tools } from '../../support/foreign-tools.js';
import { freePort } from '../../support/postgres.mjs';

/** How the receivers of one language are installed and started: all of them in one process. */
interface Language extends Tools {
  /** Of its table in the documentation. */
  heading?: string;
  /** From a block of the documentation to the file that it becomes. */
  shown: Record<string, string>;
  build?: string[];
  start: string[];
}

export const languages: readonly Language[] = [
  {
    name: 'Node.js',
    folder: 'node',
    shown: { express: 'shown/express.mjs', fastify: 'shown/fastify.mjs', hono: 'shown/hono.mjs' },
    tool: ['npm', '--version'],
    install: ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'],
    start: [process.execPath, 'serve.mjs'],
  },
  {
    name: 'Python',
    folder: 'python',
    shown: { flask: 'shown/flask.py', fastapi: 'shown/fastapi.py', django: 'shown/django.py' },
    tool: ['python3', '-m', 'pip', '--version'],
    install: [
      ...'python3 -m pip install --quiet --no-compile --no-deps'.split(' '),
      '--target',
      'packages',
      '-r',
      'requirements.txt',
    ],
    start: ['python3', 'serve.py'],
    env: { PYTHONPATH: 'packages' },
  },
  {
    name: 'Go',
    folder: 'go',
    shown: { go: 'webhook.go' },
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    // Half of the time is for compiling; what is compiled here runs for a second.
    build: [
      'go',
      'build',
      '-tags=nomsgpack',
      '-gcflags=all=-N -l -dwarf=false',
      '-ldflags=-s -w',
      '-o',
      'receivers',
      '.',
    ],
    start: ['./receivers'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  },
  {
    name: 'Java',
    folder: 'java',
    shown: { java: 'Webhook.java' },
    tool: ['javac', '-version'],
    install: ['javac', '-version'],
    build: ['javac', '-d', '.', 'Serve.java', 'Webhook.java'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-cp', '.', 'Serve'],
  },
  proxy('nginx', { nginx: 'shown/nginx.conf' }, ['nginx', '-v']),
  proxy('Caddy', { caddy: 'shown/Caddyfile' }, ['caddy', 'version']),
  proxy('HAProxy', { haproxy: 'shown/haproxy.cfg' }, ['haproxy', '-v']),
];

/** Unpacked, not installed, so the place of the libraries is given. */
const unpacked = (...packages: string[]) => [
  'sh',
  '-c',
  `apt-get download -qq ${packages.join(' ')} && for each in *.deb; do dpkg-deb -x "$each" . || exit 1; done`,
];
const ofRuby = 'usr/lib/ruby/vendor_ruby:usr/lib/ruby/3.1.0:usr/lib/$M/ruby/3.1.0';

/** What takes minutes to install, or is no package of a language. */
export const heavyLanguages: readonly Language[] = [
  {
    name: 'Spring',
    folder: 'spring',
    shown: {},
    tool: ['mvn', '--version'],
    install: 'mvn -q -B -Dmaven.repo.local=repository dependency:copy-dependencies -DoutputDirectory=lib'.split(' '),
    build: ['javac', '-parameters', '-cp', 'lib/*', '-d', '.', 'Serve.java'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-cp', 'lib/*:.', 'receivers.Serve'],
  },
  {
    name: 'PHP',
    folder: 'php',
    shown: {},
    tool: ['dpkg-deb', '--version'],
    install: unpacked(
      'php8.2-cli',
      'php8.2-common',
      'libsodium23',
      'libargon2-1',
      'libedit2',
      'libxml2',
      'libbsd0',
      'libicu72',
    ),
    start: [process.execPath, 'main.mjs'],
  },
  {
    name: 'Sinatra',
    folder: 'ruby',
    shown: {},
    tool: ['dpkg-deb', '--version'],
    install: unpacked(
      ...['ruby3.1', 'libruby3.1', 'libyaml-0-2', 'ruby-sinatra', 'ruby-rack', 'ruby-rack-protection'],
      ...['ruby-mustermann', 'ruby-ruby2-keywords', 'ruby-tilt', 'ruby-webrick'],
    ),
    start: [
      'sh',
      '-c',
      `M=$(ls usr/lib | grep linux-gnu); for each in usr/share/rubygems-integration/all/gems/*/lib; do GEMS=$GEMS:$each; done
      LD_LIBRARY_PATH=usr/lib/$M RUBYLIB=${ofRuby}$GEMS exec usr/bin/ruby3.1 --disable-gems serve.rb`,
    ],
  },
];

/** Nothing is installed: a proxy is a program of the machine. */
function proxy(name: string, shown: Record<string, string>, tool: string[]): Language {
  const start = [process.execPath, 'main.mjs', name.toLowerCase()];
  return { name, heading: name, folder: 'proxies', shown, tool, install: tool, start };
}

/** What runs: addresses by the name of the framework, as it comes and after its owner followed the advice. */
export interface Receivers {
  name: string;
  /** Of its table in the documentation. */
  heading: string;
  plain: Record<string, string>;
  advised: Record<string, string>;
  /** Sends 100 (Continue) unasked before each response. Not every language has a server that can. */
  continuing?: string;
  /** The programs behind `advised`, as they were written. */
  source: string;
  stop(): Promise<void>;
}

/** Installs and starts what can be had here, in folders that are gone afterwards; `blocks` are those of the page. */
export async function startReceivers(
  blocks: ReadonlyMap<string, string>,
  chosen = languages,
): Promise<Array<Receivers | Missing>> {
  const started = await Promise.allSettled(chosen.map((language) => startLanguage(language, blocks)));
  const failed = started.find((each) => each.status === 'rejected');
  const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  if (failed === undefined) return running;
  for (const language of running) if ('stop' in language) await language.stop();
  throw failed.reason;
}

async function startLanguage(language: Language, blocks: ReadonlyMap<string, string>): Promise<Receivers | Missing> {
  const { name, heading = `Frameworks in ${name}`, build, start } = language;
  const port = String(await freePort());
  const tools = await install({ ...language, folder: fileURLToPath(new URL(language.folder, import.meta.url)) });
  if ('missing' in tools) return tools;
  const { folder, execute, remove } = tools;
  const sources: string[] = [];
  for (const [block, file] of Object.entries(language.shown)) {
    const code = blocks.get(block);
    if (code === undefined) throw new Error(`The documentation shows no code with the name ${block}`);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), code);
    sources.push(code);
  }
  for (const file of await readdir(folder)) {
    if (/^(?:advised|main|serve)\./i.test(file)) sources.push(await readFile(join(folder, file), 'utf8'));
  }

  if (build !== undefined) await execute(build);
  const [command = '', ...args] = start;
  const env = { ...tools.env, PORT: port };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  return {
    name,
    heading,
    ...(await firstLine(child)),
    source: sources.join('\n'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        // With its group: a proxy is a child of what started it.
        process.kill(-(child.pid ?? 0), 'SIGKILL');
        await ended;
      }
      await remove();
    },
  };
}

/** Where they listen, once they do. */
async function firstLine(child: ChildProcess): Promise<Pick<Receivers, 'plain' | 'advised' | 'continuing'>> {
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const lines = createInterface({ input: child.stdout! });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}: ${complaints}`)));
  ended.catch(() => undefined);
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  return JSON.parse(line);
}
