import { createServer } from 'node:http';
import { cpSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { DestinationStream } from 'pino';
import supertest from 'supertest';
import { createToken } from '../../src/tools/cli/login/create-token.js';
import { readConfig } from '../../src/registry/app/config.js';
import { createLog } from '../../src/registry/http/log.js';
import type { Scope } from '../../src/base/contract/principal.js';
import { createService, type Service } from '../../src/registry/app/service.js';
import { startDnsServer, type DnsServer } from './dns-server.js';
import { freePort } from './postgres.mjs';
import { startReceiver, type Receiver } from './receiver.js';

/**
 * A whole registry for one test file: its own database, a real HTTPS webhook, a DNS server under which every name of
 * `*.hooks.test` is that webhook, and clients with tokens. Every response is checked against the contract.
 */
export interface Registry {
  service: Service;
  env: NodeJS.ProcessEnv;
  url: string;
  operationsUrl: string;
  receiver: Receiver;
  dns: DnsServer;
  /** Every log line, as written. */
  logs: string[];
  as(
    scopes: Scope | Scope[],
    who?: { tenant?: string; subscriber?: string; person?: string; claims?: Record<string, unknown> },
  ): Promise<Client>;
  /** Rows of the database, for what the API does not show. */
  sql<T>(text: string, ...values: unknown[]): Promise<T[]>;
  /** Stops only the service, so that another one can start on its database. */
  stopService(): Promise<void>;
  stop(): Promise<void>;
}

export type Client = ReturnType<typeof supertest.agent>;

export interface RegistrySettings {
  env?: Record<string, string>;
  /** If false, no handshake starts on its own: tests drain the worker. */
  start?: boolean;
  /** Nothing is loaded into its memory. */
  unloaded?: boolean;
  /** Offers no callback. */
  withoutPublicUrl?: boolean;
  /** The callback URLs lead to this registry, over real HTTP, instead of to an unused name. */
  reachable?: boolean;
  /** More ports that sinks may have. */
  sinkPorts?: number[];
  /** The registry whose database, receiver and keys this one shares. At the same time only on a real server. */
  beside?: Registry;
}

/** The database that the present test file runs on: jest.config.js. */
const databaseNow = () => (globalThis as { testDatabase?: 'postgres' | 'embedded' | 'citus' }).testDatabase;

export const isServer = () => databaseNow() === 'postgres' || databaseNow() === 'citus';

export async function startRegistry(settings: RegistrySettings = {}): Promise<Registry> {
  const { receiver, dns, env, dismantle } = settings.beside
    ? { ...settings.beside, env: { ...settings.beside.env }, dismantle: async () => undefined }
    : await surroundings(settings);
  Object.assign(env, settings.env);
  const logs: string[] = [];
  const log = createLog('debug', { write: (line: string) => void logs.push(line) } satisfies DestinationStream);
  const service = await createService({ config: readConfig(env), log, checkAnswers: true });
  const started = settings.start === false ? undefined : await service.start();
  if (started === undefined && !settings.unloaded) await service.follow();
  const server = started?.url ?? createServer(service.listener);
  let stopped: Promise<void> | undefined;
  const stopService = () => (stopped ??= service.stop());

  return {
    service,
    env,
    url: started?.url ?? '',
    operationsUrl: started?.operationsUrl ?? '',
    receiver,
    dns,
    logs,
    async as(scopes, { tenant = 'gemeente', subscriber = 'zaaksysteem', person, claims = {} } = {}) {
      const request = { tenant, subscriber, person, scopes: [scopes].flat(), minutes: 60, claims };
      const token = await createToken(request, env);
      return supertest.agent(server).set('Authorization', `Bearer ${token}`);
    },
    sql: (text, ...values) => service.database.client.$queryRawUnsafe(text, ...values),
    stopService,
    async stop() {
      await stopService();
      await dismantle();
    },
  };
}

/** Everything around a registry: webhook, DNS, data folder, database, and the settings that lead to them. */
async function surroundings({ withoutPublicUrl, reachable, sinkPorts = [] }: RegistrySettings) {
  const receiver = await startReceiver();
  const dns = await startDnsServer();
  dns.fallback = (name) => (name.endsWith('.hooks.test') ? ['127.0.0.1'] : undefined);
  const folder = await mkdtemp(join(tmpdir(), 'assent-test-'));
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, receiver.ca);
  const database = await copyDatabase(folder);
  const port = reachable ? await freePort() : 0;
  const publicUrl = reachable ? `http://127.0.0.1:${port}` : 'https://assent.test';
  const env: NodeJS.ProcessEnv = {
    ASSENT_DATA: folder,
    ...(database.url === undefined ? {} : { DATABASE_URL: database.url }),
    ASSENT_PORT: String(port),
    ASSENT_OPERATIONS_PORT: '0',
    ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
    ASSENT_SINK_PORTS: [443, receiver.port, ...sinkPorts].join(),
    ASSENT_SINK_CA_FILE: caFile,
    ASSENT_DNS_SERVERS: dns.address,
    ASSENT_HANDSHAKE_DEADLINE_MS: '10000',
    ASSENT_HANDSHAKE_RETRY_MS: '20',
    ASSENT_HANDSHAKE_ATTEMPTS: '3',
    ASSENT_HANDSHAKES_PER_HOST: '100000',
    ASSENT_HANDSHAKES_PER_TENANT: '100000',
    ASSENT_POLL_MS: '50',
    ...(withoutPublicUrl ? {} : { ASSENT_PUBLIC_URL: publicUrl }),
  };
  const dismantle = async () => {
    await Promise.all([receiver.stop(), dns.stop()]);
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return { receiver, dns, env, dismantle };
}

export async function copyDatabase(folder: string): Promise<{ url: string | undefined; drop: () => Promise<void> }> {
  if (!isServer()) {
    // A thousand small files: takes a third of the time of `cp`.
    cpSync(join(process.env['ASSENT_TEST_FOLDER'] ?? '', 'database'), join(folder, 'database'), { recursive: true });
    return { url: undefined, drop: async () => undefined };
  }
  const name = `assent_${randomUUID().replaceAll('-', '')}`;
  const server = process.env[databaseNow() === 'citus' ? 'TEST_CITUS_URL' : 'ASSENT_TEST_SERVER'] ?? '';
  const execute = async (statement: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  if (databaseNow() === 'citus') {
    const url = new URL(server);
    url.searchParams.set('schema', name);
    return { url: url.href, drop: () => execute(`drop schema ${name} cascade`) };
  }
  await execute(`create database ${name} template ${process.env['ASSENT_TEST_TEMPLATE']}`);
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    drop: () => execute(`drop database ${name} with (force)`),
  };
}
