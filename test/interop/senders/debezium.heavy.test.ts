import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { configurationOf } from '../../support/egress-stand.js';
import { freePort, startPostgres } from '../../support/postgres.mjs';
import { run, testBroker, type Running, type WebhookName } from './broker.js';

/** Debezium Server with the sink of docs/senders/brokers/debezium.md, on a Postgres of its own: a server and a table for each webhook. */
const java = await findJava(21);
await testBroker({
  name: 'Debezium Server',
  folder: await mkdtemp(join(tmpdir(), 'assent-debezium-')),
  tool: [java ?? 'java-21', '-version'],
  install: [
    ...'mvn -q -B -Dmaven.repo.local=repository dependency:unpack -DoutputDirectory=.'.split(' '),
    '-Dartifact=io.debezium:debezium-server-dist:3.6.1.Final:tar.gz',
  ],
  after503: 'at its own time',
  async start({ folder, webhooks, secret }) {
    const postgres = await startPostgres(['fsync = off', 'wal_level = logical']);
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    const servers = new Map<WebhookName, Running>();

    async function startServer(webhook: WebhookName): Promise<Running> {
      await database.query(`create table ${webhook} (number int primary key generated always as identity)`);
      const place = join(folder, webhook);
      await mkdir(join(place, 'config'), { recursive: true });
      const { hostname, port } = new URL(postgres.url);
      const source = {
        'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
        'plugin.name': 'pgoutput',
        'slot.name': webhook,
        'publication.name': webhook,
        'publication.autocreate.mode': 'filtered',
        'table.include.list': `public.${webhook}`,
        'topic.prefix': 'shop',
        'offset.storage.file.filename': 'offsets.dat',
        'offset.flush.interval.ms': '0',
        'database.hostname': hostname,
        'database.port': port,
        'database.user': 'postgres',
        'database.password': 'postgres',
        'database.dbname': 'postgres',
      };
      const properties = [
        configurationOf('debezium', 'properties sink', { url: webhooks[webhook].url, secret }),
        ...Object.entries(source).map(([name, value]) => `debezium.source.${name}=${value}`),
        'quarkus.log.console.json=false',
        'quarkus.http.host=127.0.0.1',
        `quarkus.http.port=${await freePort()}`,
      ];
      await writeFile(join(place, 'config/application.properties'), properties.join('\n'));
      const programs = join(folder, 'debezium-server');
      const runner = (await readdir(programs)).find((name) => name.endsWith('-runner.jar')) ?? '';
      await symlink(join(programs, 'lib'), join(place, 'lib'));
      const options = ['-XX:TieredStopAtLevel=1', '--add-opens=java.base/java.lang=ALL-UNNAMED'];
      const path = [join(programs, runner), 'lib/*'].join(':');
      return run([java ?? '', ...options, '-cp', path, 'io.debezium.server.Main'], {
        folder: place,
        ready: 'Processing messages',
      });
    }

    return {
      async send(webhook) {
        if (!servers.has(webhook)) servers.set(webhook, await startServer(webhook));
        await database.query(`insert into ${webhook} default values`);
      },
      // It sends the same event again and again.
      hasRefused: (webhook) =>
        (
          servers
            .get(webhook)
            ?.output()
            .match(/Failed to (?:publish|send) event/g) ?? []
        ).length > 1,
      async stop() {
        for (const server of servers.values()) await server.stop();
        await database.end();
        await postgres.stop();
      },
    };
  },
});

/** A Java of this version or later. */
async function findJava(version: number): Promise<string | undefined> {
  const installed = await readdir('/usr/lib/jvm').catch(() => []);
  const homes = [process.env['JAVA_HOME'], ...installed.map((name) => `/usr/lib/jvm/${name}`)];
  const programs = ['java', ...homes.filter((home) => home !== undefined).map((home) => join(home, 'bin/java'))];
  return programs.find((program) => {
    const { stderr } = spawnSync(program, ['-version'], { encoding: 'utf8' });
    return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0) >= version;
  });
}
