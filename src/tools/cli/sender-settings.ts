// The settings of the commands that run a sender, `notify` and `egress`.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigurationError, UsageError } from '../../base/errors.js';
import type { Scope } from '../../base/contract/principal.js';
import { readConfig, type Config } from '../../registry/app/config.js';
import { readCallers } from '../egress/read-callers.js';

/** The settings that a sender shares with the registry: how webhooks are reached, the log, and the key for development. */
const shared = [
  'NODE_ENV',
  'ASSENT_DATA',
  'ASSENT_LOG_LEVEL',
  'ASSENT_ALLOWED_NETWORKS',
  'ASSENT_DENIED_NETWORKS',
  'ASSENT_SINK_PORTS',
  'ASSENT_SINK_CA_FILE',
  'ASSENT_DNS_SERVERS',
  'ASSENT_EGRESS_PROXY',
  'ASSENT_EGRESS_PROXY_CA_FILE',
  'ASSENT_EGRESS_NO_PROXY',
  'ASSENT_DEVELOPMENT_ISSUER',
] as const;

export const sharedSettings = (env: NodeJS.ProcessEnv, more: readonly string[] = []): NodeJS.ProcessEnv =>
  Object.fromEntries([...shared, ...more].map((name) => [name, env[name]]));

/** What the names of its own settings begin with. */
export type SenderPrefix = 'EGRESS' | 'NOTIFY';

/** What a token must permit, and what a token endpoint is asked for if no setting names it. */
export const senderScopes: Readonly<Record<SenderPrefix, readonly Scope[]>> = {
  EGRESS: ['assent:deliver', 'assent:credentials', 'assent:sign'],
  NOTIFY: ['assent:deliver', 'assent:credentials'],
};

const file = z.string().transform((path, context) => {
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch (error) {
    context.addIssue({ code: 'custom', message: `cannot be read: ${(error as Error).message}` });
    return z.NEVER;
  }
});

const callers = z.string().transform((text, context) => {
  const read = readCallers(text);
  if (read.ok) return read.entries;
  for (const message of read.faults) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** Where a process gets its token. Without the prefix. */
const ofToken = {
  TOKEN_FILE: file.optional(),
  TOKEN_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  CLIENT_ID: z.string().optional(),
  CLIENT_SECRET: z.string().optional(),
  TOKEN_SCOPE: z.string().optional(),
  TOKEN_AUDIENCE: z.string().optional(),
};
const notifyVariables = { ...ofToken, REGISTRY_CA_FILE: file.optional() };
const egressVariables = {
  CALLERS: callers.optional(),
  CALLERS_FILE: file
    .transform(({ text }) => text)
    .pipe(callers)
    .optional(),
  ORIGIN_CLAIM: z.string().default('origin'),
  ...notifyVariables,
};

/** Every name, for the tests of the docs. */
export const egressSettings = Object.keys(egressVariables).map((name) => `EGRESS_${name}`);
export const notifySettings = Object.keys(notifyVariables).map((name) => `NOTIFY_${name}`);

export interface TokenSettings {
  file: string | undefined;
  endpoint: { url: string; id: string; secret: string; scope: string; audience: string } | undefined;
}

interface SenderSettings {
  config: Config;
  /** What it shares with the registry, as it was given. */
  given: NodeJS.ProcessEnv;
  token: TokenSettings;
  /** PEM. */
  registryCa: string | undefined;
}

type Present = Readonly<Record<string, string>>;

/** Those that begin with the prefix, without it. An empty one is absent, but for a scope: none is asked for then. */
function presentOf(prefix: SenderPrefix, env: NodeJS.ProcessEnv): Present {
  // Kubernetes sets the first for a service that is called egress, systemd the last for a unit that notifies it.
  const ofOthers = /^(?:(?:SERVICE|PORT)(?:_|$)|SOCKET$)/;
  const named = Object.entries(env).flatMap(([name, value]) =>
    name.startsWith(`${prefix}_`) ? [[name.slice(prefix.length + 1), value] as const] : [],
  );
  return Object.fromEntries(
    named.flatMap(([name, value]) =>
      value !== undefined && (value !== '' || name === 'TOKEN_SCOPE') && !ofOthers.test(name) ? [[name, value]] : [],
    ),
  );
}

/** Throws a ConfigurationError with every fault. An unknown name is one: it is a typo. */
function readSettings<Values extends z.output<z.ZodObject<typeof notifyVariables>>>(
  prefix: SenderPrefix,
  variables: z.ZodType<Values>,
  env: NodeJS.ProcessEnv,
  { more = [], rules = () => [] }: { more?: readonly string[]; rules?: (present: Present) => string[] } = {},
): SenderSettings & { values: Values } {
  const present = presentOf(prefix, env);
  const given = sharedSettings(env, more);
  const parsed = variables.safeParse(present);
  const faults = [
    ...(parsed.error?.issues ?? []).flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((name) => `${prefix}_${name} is not a setting`)
        : [`${prefix}_${issue.path.map(String).join('.')} ${issue.message}`],
    ),
    ...rules(present),
    ...contradictionsOf(prefix, present, env),
  ];
  let config: Config | undefined;
  try {
    // What production demands of a registry does not apply here.
    config = readConfig({ ...given, NODE_ENV: undefined });
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    faults.unshift(...error.faults);
  }
  if (faults.length > 0 || !parsed.success || config === undefined) throw new ConfigurationError(faults);
  const { data: values } = parsed;
  return { config, given, values, token: tokenOf(prefix, values), registryCa: values.REGISTRY_CA_FILE?.text };
}

function contradictionsOf(prefix: SenderPrefix, present: Present, env: NodeJS.ProcessEnv): string[] {
  const has = (name: string) => name in present;
  const isOwnIssuer = env['NODE_ENV'] !== 'production' || env['ASSENT_DEVELOPMENT_ISSUER'] === 'true';
  const rules: Array<[isBroken: boolean, name: string, message: string]> = [
    [has('TOKEN_FILE') && has('TOKEN_URL'), 'TOKEN_URL', `contradicts ${prefix}_TOKEN_FILE; set only one of them`],
    [
      has('TOKEN_URL') && !(has('CLIENT_ID') && has('CLIENT_SECRET')),
      'TOKEN_URL',
      `needs ${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET`,
    ],
    [
      !isOwnIssuer && !has('TOKEN_FILE') && !has('TOKEN_URL'),
      'TOKEN_FILE',
      `is required in production, or ${prefix}_TOKEN_URL`,
    ],
  ];
  return rules.flatMap(([isBroken, name, message]) => (isBroken ? [`${prefix}_${name} ${message}`] : []));
}

function tokenOf(prefix: SenderPrefix, values: z.output<z.ZodObject<typeof ofToken>>): TokenSettings {
  const { TOKEN_URL: url, CLIENT_ID: id = '', CLIENT_SECRET: secret = '', TOKEN_AUDIENCE: audience = '' } = values;
  const scope = values.TOKEN_SCOPE ?? senderScopes[prefix].join(' ');
  return {
    file: values.TOKEN_FILE?.path,
    endpoint: url === undefined ? undefined : { url, id, secret, scope, audience },
  };
}

/** Throws a ConfigurationError. */
export const readNotifySettings = (env: NodeJS.ProcessEnv) =>
  readSettings('NOTIFY', z.strictObject(notifyVariables), env);

/** Throws a ConfigurationError. */
export function readEgressSettings(env: NodeJS.ProcessEnv) {
  const more = ['ASSENT_ISSUERS', 'ASSENT_CLOCK_TOLERANCE_SECONDS', 'ASSENT_STOP_SECONDS'];
  const hasIssuers = Boolean(env['ASSENT_ISSUERS']);
  const variables = z.strictObject(egressVariables).transform(({ CALLERS, CALLERS_FILE, ...rest }, context) => {
    const callers = CALLERS ?? CALLERS_FILE;
    if (callers?.length !== 0 || hasIssuers) return { ...rest, callers: callers ?? [] };
    const place = CALLERS === undefined ? 'CALLERS_FILE' : 'CALLERS';
    context.addIssue({ code: 'custom', path: [place], message: 'must not be empty' });
    return z.NEVER;
  });
  const rules = ({ CALLERS: list, CALLERS_FILE: path }: Present) => [
    ...(list === undefined && path === undefined && !hasIssuers
      ? ['EGRESS_CALLERS is required, or EGRESS_CALLERS_FILE or ASSENT_ISSUERS: without them no caller is known']
      : []),
    ...(list !== undefined && path !== undefined
      ? ['EGRESS_CALLERS_FILE contradicts EGRESS_CALLERS; set only one of them']
      : []),
  ];
  return readSettings('EGRESS', variables, env, { more, rules });
}

/** Whether a setting says where the process gets its token. */
export function hasTokenSettings(prefix: SenderPrefix, env: NodeJS.ProcessEnv): boolean {
  const { TOKEN_FILE: path, TOKEN_URL: url } = presentOf(prefix, env);
  return path !== undefined || url !== undefined;
}

/** Only what its token needs. Throws a ConfigurationError. */
export const readTokenSettings = (prefix: SenderPrefix, env: NodeJS.ProcessEnv) =>
  readSettings(prefix, z.object(notifyVariables), env);

/** Of `--registry`: the URL of a registry, or several with commas. Throws a UsageError. */
export function registriesOf(text: string): URL[] {
  return text.split(',').map((part) => {
    const address = URL.canParse(part.trim()) ? new URL(part.trim()) : undefined;
    if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
      throw new UsageError('--registry must be an http or https URL, or several with commas.');
    }
    if (!address.pathname.endsWith('/')) address.pathname += '/';
    return address;
  });
}
