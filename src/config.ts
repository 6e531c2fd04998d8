import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/**
 * The whole configuration. It comes from the environment, is checked at start as a whole, and does not change afterwards.
 * The README lists every name; the descriptions there and the checks here must agree, which test/config.test.ts holds.
 */
const text = z.string().trim().min(1);
const flag = z.enum(['true', 'false']).transform((value) => value === 'true');
const whole = (from: number, to: number) => z.coerce.number().int().min(from).max(to);
const list = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ''));
const network = z.string().refine((value) => {
  const [address = '', bits = ''] = value.split('/');
  if (!ipaddr.isValid(address) || !/^\d{1,3}$/.test(bits)) return false;
  return Number(bits) <= (ipaddr.parse(address).kind() === 'ipv4' ? 32 : 128);
}, 'must be networks like 10.0.0.0/8 or fd00::/8');
const httpUrl = z.url({ protocol: /^https?$/ });

const issuer = z.strictObject({
  issuer: text,
  audience: z.union([text.transform((value) => [value]), z.array(text).min(1)]),
  jwks: httpUrl,
  algorithms: z
    .array(z.enum(['PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519', 'RS256']))
    .min(1)
    .default(['PS256', 'ES256']),
});

const json = z.string().transform((value, context) => {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

const credentialKey = z.string().transform((value, context) => {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,40}):([A-Za-z0-9_-]+)$/.exec(value) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64url');
  if (id !== undefined && key.length === 32) return { id, key: new Uint8Array(key) };
  context.addIssue({ code: 'custom', message: 'must be entries like 2026-11:<32 bytes in base64url>' });
  return z.NEVER;
});

const variables = {
  NODE_ENV: z.string().default('development'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  ASSENT_EMBEDDED_DATABASE: flag.optional(),
  ASSENT_DATA: text.default('.assent'),
  ASSENT_HOST: text.default('127.0.0.1'),
  ASSENT_PORT: whole(0, 65_535).default(3000),
  ASSENT_OPERATIONS_HOST: text.default('127.0.0.1'),
  ASSENT_OPERATIONS_PORT: whole(0, 65_535).default(3001),
  ASSENT_PUBLIC_URL: httpUrl.optional(),
  ASSENT_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  ASSENT_ISSUERS: json.pipe(z.array(issuer)).default([]),
  ASSENT_DEVELOPMENT_ISSUER: flag.optional(),
  ASSENT_TOKEN_TYPE: text.default('at+jwt'),
  ASSENT_TENANT_CLAIM: text.default('tenant'),
  ASSENT_SUBSCRIBER_CLAIM: text.default('client_id'),
  ASSENT_CLOCK_TOLERANCE_SECONDS: whole(0, 60).default(5),
  ASSENT_CREDENTIAL_KEYS: list.pipe(z.array(credentialKey)).default([]),
  ASSENT_ALLOWED_NETWORKS: list.pipe(z.array(network)).default([]),
  ASSENT_DENIED_NETWORKS: list.pipe(z.array(network)).default([]),
  ASSENT_SINK_PORTS: list
    .pipe(
      z
        .array(
          z
            .string()
            .regex(/^\d{1,5}$/, 'must be port numbers')
            .transform(Number),
        )
        .min(1),
    )
    .default([443, 8443]),
  ASSENT_SINK_CA_FILE: text.optional(),
  ASSENT_DNS_SERVERS: list.default([]),
  ASSENT_CONTACT: text.optional(),
  ASSENT_HANDSHAKE_DEADLINE_MS: whole(100, 60_000).default(10_000),
  ASSENT_HANDSHAKE_ATTEMPTS: whole(1, 20).default(7),
  ASSENT_HANDSHAKE_RETRY_MS: whole(10, 3_600_000).default(5_000),
  ASSENT_HANDSHAKES_IN_FLIGHT: whole(1, 1_000).default(200),
  ASSENT_HANDSHAKES_PER_HOST: whole(1, 1_000_000).default(60),
  ASSENT_HANDSHAKES_PER_TENANT: whole(1, 1_000_000).default(600),
  ASSENT_CALLBACK_SECONDS: whole(10, 86_400).default(3_600),
  ASSENT_POLL_MS: whole(20, 60_000).default(1_000),
  ASSENT_RETENTION_DAYS: whole(1, 3_650).default(90),
  ASSENT_AUDIT_DAYS: whole(1, 36_500).default(730),
  ASSENT_STOP_SECONDS: whole(1, 300).default(12),
};

const schema = z.object(variables).superRefine((env, context) => {
  const fault = (name: keyof typeof variables, message: string) =>
    context.addIssue({ code: 'custom', path: [name], message });
  const production = env.NODE_ENV === 'production';
  if (production && env.DATABASE_URL === undefined && env.ASSENT_EMBEDDED_DATABASE !== true) {
    fault('DATABASE_URL', 'is required in production; ASSENT_EMBEDDED_DATABASE=true asks for the embedded database');
  }
  if (env.DATABASE_URL !== undefined && env.ASSENT_EMBEDDED_DATABASE === true) {
    fault('ASSENT_EMBEDDED_DATABASE', 'contradicts DATABASE_URL; set one of them');
  }
  if (production && env.ASSENT_ISSUERS.length === 0 && env.ASSENT_DEVELOPMENT_ISSUER !== true) {
    fault('ASSENT_ISSUERS', 'is required in production: nobody could have a token');
  }
  if (production && env.ASSENT_CREDENTIAL_KEYS.length === 0) {
    fault('ASSENT_CREDENTIAL_KEYS', 'is required in production: sink credentials are encrypted with it');
  }
  if (new Set(env.ASSENT_CREDENTIAL_KEYS.map(({ id }) => id)).size < env.ASSENT_CREDENTIAL_KEYS.length) {
    fault('ASSENT_CREDENTIAL_KEYS', 'names one key id twice');
  }
  if (new Set(env.ASSENT_ISSUERS.map((entry) => entry.issuer)).size < env.ASSENT_ISSUERS.length) {
    fault('ASSENT_ISSUERS', 'names one issuer twice');
  }
  if (production && env.ASSENT_PUBLIC_URL?.startsWith('http:')) {
    fault('ASSENT_PUBLIC_URL', 'must be https: callbacks are (webhook specification, section 4.1.3)');
  }
});

export type Config = ReturnType<typeof readConfig>;

/** Every fault of the environment at once, as lines for people. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Throws a ConfigurationError that names every fault. Unknown ASSENT_ names are faults too: they are typing errors. */
export function readConfig(env: NodeJS.ProcessEnv) {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const unknown = Object.keys(present).filter((name) => name.startsWith('ASSENT_') && !(name in variables));
  const parsed = schema.safeParse(present);
  const ca = parsed.data?.ASSENT_SINK_CA_FILE === undefined ? undefined : readText(parsed.data.ASSENT_SINK_CA_FILE);
  const faults = [
    ...unknown.map((name) => `${name} is not a setting`),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${String(path[0])}${detail(path)} ${message}`),
    ...(ca instanceof Error ? [`ASSENT_SINK_CA_FILE cannot be read: ${ca.message}`] : []),
  ];
  if (faults.length > 0 || !parsed.success || ca instanceof Error) {
    throw new ConfigurationError(
      `The configuration has ${faults.length} fault(s):\n${faults.map((f) => `  ${f}`).join('\n')}`,
    );
  }
  const values = parsed.data;
  const production = values.NODE_ENV === 'production';
  return Object.freeze({
    production,
    databaseUrl: values.DATABASE_URL,
    dataFolder: resolve(values.ASSENT_DATA),
    host: values.ASSENT_HOST,
    port: values.ASSENT_PORT,
    operationsHost: values.ASSENT_OPERATIONS_HOST,
    operationsPort: values.ASSENT_OPERATIONS_PORT,
    publicUrl: values.ASSENT_PUBLIC_URL?.replace(/\/+$/, ''),
    logLevel: values.ASSENT_LOG_LEVEL,
    issuers: values.ASSENT_ISSUERS,
    developmentIssuer: values.ASSENT_DEVELOPMENT_ISSUER ?? !production,
    tokenType: values.ASSENT_TOKEN_TYPE,
    tenantClaim: values.ASSENT_TENANT_CLAIM,
    subscriberClaim: values.ASSENT_SUBSCRIBER_CLAIM,
    clockToleranceSeconds: values.ASSENT_CLOCK_TOLERANCE_SECONDS,
    credentialKeys: values.ASSENT_CREDENTIAL_KEYS,
    allowedNetworks: values.ASSENT_ALLOWED_NETWORKS,
    deniedNetworks: values.ASSENT_DENIED_NETWORKS,
    sinkPorts: values.ASSENT_SINK_PORTS,
    sinkCa: ca,
    dnsServers: values.ASSENT_DNS_SERVERS,
    contact: values.ASSENT_CONTACT,
    handshakeDeadlineMs: values.ASSENT_HANDSHAKE_DEADLINE_MS,
    handshakeAttempts: values.ASSENT_HANDSHAKE_ATTEMPTS,
    handshakeRetryMs: values.ASSENT_HANDSHAKE_RETRY_MS,
    handshakesInFlight: values.ASSENT_HANDSHAKES_IN_FLIGHT,
    handshakesPerHost: values.ASSENT_HANDSHAKES_PER_HOST,
    handshakesPerTenant: values.ASSENT_HANDSHAKES_PER_TENANT,
    callbackSeconds: values.ASSENT_CALLBACK_SECONDS,
    pollMs: values.ASSENT_POLL_MS,
    retentionDays: values.ASSENT_RETENTION_DAYS,
    auditDays: values.ASSENT_AUDIT_DAYS,
    stopMs: values.ASSENT_STOP_SECONDS * 1_000,
  });
}

function detail(path: readonly PropertyKey[]): string {
  return path.length > 1 ? ` (${path.slice(1).map(String).join('.')})` : '';
}

function readText(path: string): string | Error {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return error as Error;
  }
}
