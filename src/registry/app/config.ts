import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, SetupError } from '../../base/errors.js';
import { acceptedAlgorithms } from '../tokens/authenticate.js';
import { usualClaims } from '../tokens/claims.js';
import { isName, isReserved } from '../../base/formats/name.js';
import { createAddressRules } from '../../outbound/address.js';
import { everyLocalPort } from '../../outbound/sink.js';
import { faultOfProxyUrl, networksWithoutWay } from '../../outbound/egress-proxy.js';
import { limits } from '../../base/limits.js';
import { faultOfPostgresUrl } from '../storage/open-database.js';
import { usualBudget } from '../../matching/match/work.js';

/**
 * The whole configuration. It comes from the environment, is checked as a whole at startup, and does not change later.
 * The documentation lists every name with its default; test/registry/app/config.test.ts checks that.
 */
const text = z.string('must be a text').trim().min(1, 'must not be empty');
const flag = z.enum(['true', 'false'], 'must be true or false').transform((value) => value === 'true');
/** Number() would accept "0x50", "1e3" and a space. */
const whole = (from: number, to: number) =>
  z
    .string()
    .refine(
      (value) => /^\d{1,9}$/.test(value) && Number(value) >= from && Number(value) <= to,
      `must be a whole number from ${from} to ${to}`,
    )
    .transform(Number);
const list = z
  .string()
  .transform((value) => value.split(',').map((part) => part.trim()))
  .transform((parts) => parts.filter((part) => part !== ''));
const network = z.string().refine((value) => {
  try {
    return createAddressRules({ allowedNetworks: [value], deniedNetworks: [] });
  } catch {
    return false;
  }
}, 'must be networks like 10.0.0.0/8 or fd00::/8');
const sinkPort = z
  .string()
  .refine(
    (value) => value === everyLocalPort || whole(1, 65_535).safeParse(value).success,
    `must be ${everyLocalPort} or a whole number from 1 to 65535`,
  )
  .transform((value) => (value === everyLocalPort ? value : Number(value)));
/** An invalid port would crash the process inside c-ares. */
const dnsServer = z.string().refine((value) => {
  const [, v6, v4 = v6, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(value) ?? [];
  if (v6 === undefined ? !isIPv4(v4 ?? '') : !isIPv6(v6)) return isIP(value) !== 0;
  return Number(port) >= 1 && Number(port) <= 65_535;
}, 'must be addresses like 192.0.2.53 or 192.0.2.53:5353 or [2001:db8::53]:53');
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
/** Not what the registry serves: nothing would tell a request below such a path from one without it. */
const publicPath = /^\/(?!(?:v1|access|assets|console|docs|guides|openapi\.json|\.well-known)(?:\/|$))[\w.~%/-]*$/;
/** In the normal form, which is safe in a header. */
const publicUrl = httpUrl
  .refine((value) => {
    const { username, password, href } = URL.canParse(value) ? new URL(value) : new URL('about:blank');
    // The parser reports an empty query as none, but keeps its question mark in the URL.
    return username + password === '' && !/[?#]/.test(href);
  }, 'must have no user name, password, query or fragment: callback URLs are built from it')
  .refine(
    (value) => !URL.canParse(value) || publicPath.test(new URL(value).pathname),
    'must have a path of letters, digits and -._~% that the registry does not serve itself: leave out /v1, /console and the like',
  )
  .transform((value) => new URL(value).href);

/** RFC 9116, section 2.5.3. */
const contactUri = z
  .string()
  .regex(/^(?:mailto:[!-~]+@[!-~]+|https:\/\/[!-~]+|tel:[!-~]+)$/, 'must be URIs like mailto:security@example.com');

const proxyUrl = z.string().superRefine((value, context) => {
  const fault = faultOfProxyUrl(value);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

const postgresUrl = z.string().superRefine((value, context) => {
  const message = faultOfPostgresUrl(value);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const tenantName = z
  .string('must be a text')
  .refine((value) => isName(value), 'must be a name of 1 to 200 visible characters in Unicode form NFKC')
  .refine((value) => !isReserved(value), 'is a reserved name');

const one = text.transform((value) => [value]);
const textOrTexts = 'must be a text or a list of texts';
const texts = z.union([one, z.array(text).min(1, 'must not be empty')], textOrTexts);
/** An empty list switches it off. */
const textsOrNone = z.union([one, z.array(text)], textOrTexts);

/** The console never asks for sink credentials. */
const consoleScope = 'openid assent:subscribe assent:deliver assent:admin assent:block assent:audit';

const issuer = z.strictObject(
  {
    issuer: text,
    audience: texts,
    jwks: httpUrl,
    algorithms: z
      .array(z.enum(acceptedAlgorithms, `must be one of ${acceptedAlgorithms.join(', ')}`), 'must be a list')
      .min(1, 'must not be empty')
      .default(['PS256', 'ES256']),
    tenant: tenantName.optional(),
    tenants: z.array(tenantName, 'must be a list').min(1, 'must not be empty').optional(),
    tokentypes: texts.default([...usualClaims.tokentypes]),
    audienceclaims: texts.default([...usualClaims.audienceclaims]),
    scopeclaims: texts.default([...usualClaims.scopeclaims]),
    scopeprefix: text.default(usualClaims.scopeprefix),
    tenantclaims: texts.default([...usualClaims.tenantclaims]),
    clientclaims: texts.default([...usualClaims.clientclaims]),
    clientprefix: text.default(usualClaims.clientprefix),
    subscriberclaims: texts.optional(),
    personclaims: textsOrNone.default([...usualClaims.personclaims]),
    nameclaims: textsOrNone.default([...usualClaims.nameclaims]),
    consoleclient: text.optional(),
    consolescope: text.default(consoleScope),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `has no member ${keys.join(', ')}`
        : 'must be an object with issuer, audience and jwks',
  },
);

const json = z.string().transform((value, context) => {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

/** `lost` instead of a key: the operator knows that nothing decrypts what it encrypted. */
const credentialKey = z.string().transform((value, context) => {
  const [, id, encoded] = /^([A-Za-z0-9_-]{1,40}):([A-Za-z0-9_-]+)$/.exec(value) ?? [];
  if (id !== undefined && encoded === 'lost') return { id, key: undefined };
  const key = Buffer.from(encoded ?? '', 'base64url');
  if (id !== undefined && key.length === 32) return { id, key: new Uint8Array(key) };
  context.addIssue({
    code: 'custom',
    message: 'must be entries like 2026-11:<32 bytes in base64url>, or 2026-11:lost',
  });
  return z.NEVER;
});

const variables = {
  // With a typo, any other value would mean development, where the service trusts its own tokens.
  NODE_ENV: z
    .enum(['development', 'test', 'production'], 'must be development, test or production')
    .default('development'),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_REPLICA_URL: postgresUrl.optional(),
  ASSENT_EMBEDDED_DATABASE: flag.optional(),
  ASSENT_DATA: text.default('.assent'),
  ASSENT_HOST: text.default('127.0.0.1'),
  PORT: whole(0, 65_535).optional(),
  ASSENT_PORT: whole(0, 65_535).default(3000),
  ASSENT_OPERATIONS_HOST: text.default('127.0.0.1'),
  ASSENT_OPERATIONS_PORT: whole(0, 65_535).default(3001),
  ASSENT_PUBLIC_URL: publicUrl.optional(),
  ASSENT_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'], 'must be debug, info, warn, error or silent')
    .default('info'),
  ASSENT_ISSUERS: json.pipe(z.array(issuer, 'must be a list of issuers')).default([]),
  ASSENT_DEVELOPMENT_ISSUER: flag.optional(),
  ASSENT_CLOCK_TOLERANCE_SECONDS: whole(0, 60).default(5),
  ASSENT_CREDENTIAL_KEYS: list.pipe(z.array(credentialKey)).default([]),
  ASSENT_ALLOWED_NETWORKS: list.pipe(z.array(network)).default([]),
  ASSENT_DENIED_NETWORKS: list.pipe(z.array(network)).default([]),
  ASSENT_SINK_PORTS: list.pipe(z.array(sinkPort).min(1, 'must name at least one port')).default([443, 8443]),
  ASSENT_SINK_CA_FILE: text.optional(),
  ASSENT_DNS_SERVERS: list.pipe(z.array(dnsServer)).default([]),
  ASSENT_EGRESS_PROXY: proxyUrl.optional(),
  ASSENT_EGRESS_PROXY_CA_FILE: text.optional(),
  ASSENT_EGRESS_NO_PROXY: list.pipe(z.array(network)).default([]),
  ASSENT_OPERATOR: text.max(100, 'must have at most 100 characters').optional(),
  ASSENT_CONTACT: text.regex(/^[ -~]+$/, 'must be ASCII: it is sent in a header').optional(),
  ASSENT_SECURITY_CONTACT: list.pipe(z.array(contactUri)).default([]),
  ASSENT_SECURITY_POLICY: z.url({ protocol: /^https$/, error: 'must be an https URL' }).optional(),
  ASSENT_HANDSHAKE_DEADLINE_MS: whole(100, 60_000).default(10_000),
  ASSENT_HANDSHAKE_ATTEMPTS: whole(1, 20).default(7),
  ASSENT_HANDSHAKE_RETRY_MS: whole(10, 3_600_000).default(5_000),
  ASSENT_HANDSHAKES_IN_FLIGHT: whole(1, 1_000).default(200),
  ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: whole(1, 1_000).default(2),
  ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: whole(1, 1_000).default(20),
  ASSENT_HANDSHAKES_PER_HOST: whole(1, 1_000_000).default(60),
  ASSENT_HANDSHAKES_PER_TENANT: whole(1, 1_000_000).default(600),
  ASSENT_HANDSHAKES_DUE_PER_TENANT: whole(1, 999_999_999).default(100_000),
  ASSENT_SUBSCRIPTIONS_PER_TENANT: whole(1, 999_999_999).default(1_000_000),
  ASSENT_PRICE_PER_SUBSCRIBER: whole(0, 999_999_999).default(50_000),
  ASSENT_PRICE_PER_TENANT: whole(0, 999_999_999).default(500_000),
  ASSENT_MATCH_STEPS: whole(1_000_000, 999_999_999).default(usualBudget),
  ASSENT_REQUIRE_VERIFIED_ORIGINS: flag.default(false),
  ASSENT_CALLBACK_SECONDS: whole(10, 86_400).default(3_600),
  ASSENT_POLL_MS: whole(20, 60_000).default(1_000),
  ASSENT_MESSAGE_BYTES: whole(65_536, 16_777_216).default(limits.message.bytes),
  ASSENT_MESSAGE_EVENTS: whole(1, 1_000).default(limits.message.events),
  ASSENT_FEED_RETENTION_HOURS: whole(1, 87_600).default(168),
  ASSENT_FEED_HEARTBEAT_SECONDS: whole(1, 300).default(15),
  ASSENT_FEED_STALL_SECONDS: whole(1, 300).default(30),
  ASSENT_FEED_READERS: whole(1, 1_000_000).default(2_000),
  ASSENT_FEED_READERS_PER_TENANT: whole(1, 1_000_000).default(200),
  ASSENT_RETENTION_DAYS: whole(1, 3_650).default(90),
  ASSENT_AUDIT_DAYS: whole(1, 36_500).default(730),
  ASSENT_STOP_SECONDS: whole(1, 300).default(12),
};

const schema = z.object(variables);
type Name = keyof typeof variables;

/** Every name with its default, as written in the environment (empty if there is none), for the test of the docs. */
export const settings = Object.entries(variables).map(([name, variable]) => ({
  name,
  default: [variable.parse(undefined) ?? []]
    .flat()
    .map((value: unknown) => String(value))
    .join(),
  /** Such as "1 to 300"; empty if it is no number. */
  range: /from (\d+ to \d+)$/.exec(variable.safeParse('?').error?.issues[0]?.message ?? '')?.[1] ?? '',
}));

/** Faults between settings. They are found even if another setting is invalid. */
function contradictions(present: Readonly<Record<string, string>>): string[] {
  /** Also undefined for an invalid setting, which is reported elsewhere. */
  const valueOf = <N extends Name>(name: N) =>
    variables[name].safeParse(present[name]).data as z.output<(typeof variables)[N]> | undefined;
  const servers = ['DATABASE_URL', 'DATABASE_REPLICA_URL'].filter((name) => name in present);
  const hasServer = servers.length > 0;
  const embedded = valueOf('ASSENT_EMBEDDED_DATABASE');
  const issuers = valueOf('ASSENT_ISSUERS');
  const keys = valueOf('ASSENT_CREDENTIAL_KEYS');
  const [port, operationsPort] = [valueOf(portSetting(present)), valueOf('ASSENT_OPERATIONS_PORT')];
  const isOneHost = valueOf('ASSENT_HOST') === valueOf('ASSENT_OPERATIONS_HOST');
  const production = present['NODE_ENV'] === 'production';
  const [steps, price] = [valueOf('ASSENT_MATCH_STEPS'), valueOf('ASSENT_PRICE_PER_TENANT')];
  const events = valueOf('ASSENT_MESSAGE_EVENTS');
  const proxy = valueOf('ASSENT_EGRESS_PROXY');
  const [allowed, noProxy] = [valueOf('ASSENT_ALLOWED_NETWORKS'), valueOf('ASSENT_EGRESS_NO_PROXY')];
  const stuck = proxy && allowed && noProxy ? networksWithoutWay(allowed, noProxy) : [];
  const rules: Array<[isBroken: boolean | undefined, name: Name, message: string]> = [
    [
      steps !== undefined && price !== undefined && events !== undefined && steps < price * events,
      'ASSENT_MATCH_STEPS',
      'is less than ASSENT_PRICE_PER_TENANT times ASSENT_MESSAGE_EVENTS: the API would refuse full batches of ordinary events',
    ],
    [
      production && !hasServer && embedded !== true,
      'DATABASE_URL',
      'is required in production; set ASSENT_EMBEDDED_DATABASE=true to use the embedded database',
    ],
    [hasServer && embedded === true, 'ASSENT_EMBEDDED_DATABASE', `contradicts ${servers[0]}; set only one of them`],
    [
      servers.length > 1,
      'DATABASE_REPLICA_URL',
      'contradicts DATABASE_URL; set only one of them: a process that follows a replica writes nothing',
    ],
    [
      !production && !hasServer && embedded === false,
      'ASSENT_EMBEDDED_DATABASE',
      'is false and there is no DATABASE_URL; set one of them',
    ],
    [
      production && issuers?.length === 0 && valueOf('ASSENT_DEVELOPMENT_ISSUER') !== true,
      'ASSENT_ISSUERS',
      'is required in production: without an issuer no client can have a token',
    ],
    [issuers && repeats(issuers.map(({ issuer }) => issuer)), 'ASSENT_ISSUERS', 'names one issuer twice'],
    [
      issuers?.some(({ tenant, tenants }) => tenant !== undefined && tenants !== undefined),
      'ASSENT_ISSUERS',
      'has an issuer with both tenant and tenants; set only one of them',
    ],
    [
      production && keys?.every(({ key }) => key === undefined),
      'ASSENT_CREDENTIAL_KEYS',
      'is required in production: it encrypts secrets',
    ],
    [keys && repeats(keys.map(({ id }) => id)), 'ASSENT_CREDENTIAL_KEYS', 'names one key id twice'],
    [
      production && valueOf('ASSENT_PUBLIC_URL')?.startsWith('http:'),
      'ASSENT_PUBLIC_URL',
      'must be https, as callback URLs must be (webhook specification, section 4.1.3)',
    ],
    [
      isOneHost && port === operationsPort && port !== 0,
      'ASSENT_OPERATIONS_PORT',
      `is the same as ${portSetting(present)}`,
    ],
    [
      stuck.length > 0,
      'ASSENT_EGRESS_NO_PROXY',
      `must have ${stuck.join(', ')} of ASSENT_ALLOWED_NETWORKS: the proxy gets public addresses only, because the others mean something else where it is`,
    ],
    [
      !('ASSENT_EGRESS_PROXY' in present) && noProxy !== undefined && noProxy.length > 0,
      'ASSENT_EGRESS_NO_PROXY',
      'is set without ASSENT_EGRESS_PROXY',
    ],
    [
      'ASSENT_EGRESS_PROXY_CA_FILE' in present && !/^https:/i.test(present['ASSENT_EGRESS_PROXY'] ?? ''),
      'ASSENT_EGRESS_PROXY_CA_FILE',
      'is for an https URL in ASSENT_EGRESS_PROXY only',
    ],
  ];
  return rules.flatMap(([isBroken, name, message]) => (isBroken ? [`${name} ${message}`] : []));
}

/** Platforms set `PORT`; `ASSENT_PORT` takes precedence. */
function portSetting(present: Readonly<Record<string, string>>): 'PORT' | 'ASSENT_PORT' {
  return 'PORT' in present && !('ASSENT_PORT' in present) ? 'PORT' : 'ASSENT_PORT';
}

function repeats(values: readonly string[]): boolean {
  return new Set(values).size < values.length;
}

export type Config = ReturnType<typeof readConfig>;

/** What the commands for a registry read (src/tools/cli/resources/registry.ts). A registry in the same shell leaves them alone. */
export const commandVariables: readonly string[] = ['ASSENT_URL', 'ASSENT_TOKEN'];

const moved: Readonly<Record<string, string>> = {
  ASSENT_TOKEN_TYPE: 'is "tokentypes" of an issuer in ASSENT_ISSUERS now',
  ASSENT_TENANT_CLAIM: 'is "tenantclaims" of an issuer in ASSENT_ISSUERS now',
  ASSENT_SUBSCRIBER_CLAIM: 'is "subscriberclaims" of an issuer in ASSENT_ISSUERS now',
};

/**
 * Throws a ConfigurationError that lists every fault of the environment, one per line. Unknown ASSENT_ names are faults too:
 * they are typos.
 */
export function readConfig(env: NodeJS.ProcessEnv) {
  const present = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  const unknown = Object.keys(present).filter(
    (name) => name.startsWith('ASSENT_') && !(name in variables) && !commandVariables.includes(name),
  );
  const parsed = schema.safeParse(present);
  const ca = readAuthority(present['ASSENT_SINK_CA_FILE']);
  const proxyCa = readAuthority(present['ASSENT_EGRESS_PROXY_CA_FILE']);
  const faults = [
    ...unknown.map((name) => `${name} ${moved[name] ?? 'is not a setting'}`),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${String(path[0])}${detail(path)} ${message}`),
    ...contradictions(present),
    ...(ca.fault === undefined ? [] : [`ASSENT_SINK_CA_FILE cannot be read: ${ca.fault}`]),
    ...(proxyCa.fault === undefined ? [] : [`ASSENT_EGRESS_PROXY_CA_FILE cannot be read: ${proxyCa.fault}`]),
  ];
  if (faults.length > 0 || !parsed.success) {
    throw new ConfigurationError(faults);
  }
  const values = parsed.data;
  const production = values.NODE_ENV === 'production';
  return Object.freeze({
    production,
    logLevel: values.ASSENT_LOG_LEVEL,
    dataFolder: resolve(values.ASSENT_DATA),
    publicUrl: values.ASSENT_PUBLIC_URL?.replace(/\/+$/, ''),
    operator: values.ASSENT_OPERATOR,
    contact: values.ASSENT_CONTACT,
    credentialKeys: values.ASSENT_CREDENTIAL_KEYS.flatMap(({ id, key }) => (key === undefined ? [] : [{ id, key }])),
    lostCredentialKeys: values.ASSENT_CREDENTIAL_KEYS.flatMap(({ id, key }) => (key === undefined ? [id] : [])),
    requireVerifiedOrigins: values.ASSENT_REQUIRE_VERIFIED_ORIGINS,
    matchSteps: values.ASSENT_MATCH_STEPS,
    pollMs: values.ASSENT_POLL_MS,
    stopMs: values.ASSENT_STOP_SECONDS * 1_000,
    database: { url: values.DATABASE_URL, replicaUrl: values.DATABASE_REPLICA_URL },
    api: { host: values.ASSENT_HOST, port: values[portSetting(present)] ?? values.ASSENT_PORT },
    operations: { host: values.ASSENT_OPERATIONS_HOST, port: values.ASSENT_OPERATIONS_PORT },
    security: { contacts: values.ASSENT_SECURITY_CONTACT, policy: values.ASSENT_SECURITY_POLICY },
    tokens: {
      issuers: values.ASSENT_ISSUERS,
      developmentIssuer: values.ASSENT_DEVELOPMENT_ISSUER ?? !production,
      clockToleranceSeconds: values.ASSENT_CLOCK_TOLERANCE_SECONDS,
    },
    outbound: {
      allowedNetworks: values.ASSENT_ALLOWED_NETWORKS,
      deniedNetworks: values.ASSENT_DENIED_NETWORKS,
      ports: values.ASSENT_SINK_PORTS,
      ca: ca.pem,
      dnsServers: values.ASSENT_DNS_SERVERS,
      proxy:
        values.ASSENT_EGRESS_PROXY === undefined
          ? undefined
          : { url: values.ASSENT_EGRESS_PROXY, ca: proxyCa.pem, noProxy: values.ASSENT_EGRESS_NO_PROXY },
    },
    handshake: {
      deadlineMs: values.ASSENT_HANDSHAKE_DEADLINE_MS,
      attempts: values.ASSENT_HANDSHAKE_ATTEMPTS,
      retryMs: values.ASSENT_HANDSHAKE_RETRY_MS,
      callbackSeconds: values.ASSENT_CALLBACK_SECONDS,
      maxInFlight: values.ASSENT_HANDSHAKES_IN_FLIGHT,
      inFlight: {
        perHost: values.ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST,
        perTenant: values.ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT,
      },
      duePerTenant: values.ASSENT_HANDSHAKES_DUE_PER_TENANT,
      perMinute: { perHost: values.ASSENT_HANDSHAKES_PER_HOST, perTenant: values.ASSENT_HANDSHAKES_PER_TENANT },
    },
    subscriptions: {
      perTenant: values.ASSENT_SUBSCRIPTIONS_PER_TENANT,
      prices: { perSubscriber: values.ASSENT_PRICE_PER_SUBSCRIBER, perTenant: values.ASSENT_PRICE_PER_TENANT },
    },
    message: { bytes: values.ASSENT_MESSAGE_BYTES, events: values.ASSENT_MESSAGE_EVENTS },
    feed: {
      heartbeatMs: values.ASSENT_FEED_HEARTBEAT_SECONDS * 1_000,
      stallMs: values.ASSENT_FEED_STALL_SECONDS * 1_000,
      readers: values.ASSENT_FEED_READERS,
      readersPerTenant: values.ASSENT_FEED_READERS_PER_TENANT,
    },
    retention: {
      days: values.ASSENT_RETENTION_DAYS,
      feedHours: values.ASSENT_FEED_RETENTION_HOURS,
      auditDays: values.ASSENT_AUDIT_DAYS,
    },
  });
}

/** The database server alone: what migrates needs no issuer and no keys. Throws a SetupError. */
export function readDatabaseUrl(env: NodeJS.ProcessEnv): string {
  const { url } = readConfig({ DATABASE_URL: env['DATABASE_URL'] }).database;
  if (url !== undefined) return url;
  throw new SetupError('DATABASE_URL is required. An embedded database is migrated by its process when it starts.');
}

function detail(path: readonly PropertyKey[]): string {
  return path.length > 1 ? ` (${path.slice(1).map(String).join('.')})` : '';
}

/** Node silently accepts a file without a certificate, and every handshake would fail later. */
function readAuthority(path: string | undefined): { pem?: string; fault?: string } {
  if (path === undefined) return {};
  try {
    const pem = readFileSync(path.trim(), 'utf8');
    const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    certificates.forEach((certificate) => new X509Certificate(certificate));
    return certificates.length > 0 ? { pem } : { fault: 'it contains no PEM certificate' };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}
