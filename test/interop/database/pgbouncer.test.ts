import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../../../src/registry/storage/open-database.js';
import { install } from '../../support/foreign-tools.js';
import { freePort, startPostgres, type Postgres } from '../../support/postgres.mjs';
import { until } from '../../support/until.js';

const installed = await install({
  name: 'PgBouncer',
  folder: fileURLToPath(new URL('pgbouncer', import.meta.url)),
  tool: ['apt-get', '--version'],
  install: ['sh', 'install.sh'],
});
const describeHere =
  'missing' in installed
    ? (name: string, tests: () => void) => describe.skip(`${name}: ${installed.missing}`, tests)
    : describe;
afterAll(async () => {
  if ('remove' in installed) await installed.remove();
});

/** Shares sessions among clients; `more` are lines of its configuration. Returns the URL of the database through it. */
async function startPgBouncer(databaseUrl: string, more: string) {
  if ('missing' in installed) throw new Error(installed.missing);
  const { folder } = installed;
  const [database, port] = [new URL(databaseUrl), await freePort()];
  const settings = `[databases]
* = host=127.0.0.1 port=${database.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
${more}
`;
  const file = join(folder, `${port}.ini`);
  await writeFile(file, settings, { mode: 0o644 });
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const [command = '', ...args] = [...user, join(folder, 'usr/sbin/pgbouncer'), file];
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, LD_LIBRARY_PATH: folder } });
  const ended = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
  database.port = String(port);
  return {
    url: database.href,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describeHere('PgBouncer', () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  test.each([
    ['as it comes', '', 'DATABASE_URL: unsupported startup parameter: options. If a pooler'],
    [
      'that ignores options',
      'ignore_startup_parameters = options',
      'DATABASE_URL: the settings of the session were lost on the way. If a pooler',
    ],
  ])('%s is refused at start: its sessions lose the settings that Assent needs', async (_, more, message) => {
    const pooler = await startPgBouncer(postgres.url, more);
    await expect(openDatabase({ databaseUrl: pooler.url, dataFolder: '' })).rejects.toThrow(message);
    await pooler.stop();
  });
});
