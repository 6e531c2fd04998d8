import { UsageError } from '../../../base/errors.js';
import { createClient, type Schemas } from '../../../kits/client/index.js';
import { write, type Command, type Io, type Options, type Values } from '../command.js';
import type { IssuerChoice } from './login.js';
import { connectionOptions, registryAddressOf, urlOption } from '../resources/registry.js';

const group = 'This program';

const loginOptions: Options = {
  url: urlOption,
  issuer: {
    type: 'string',
    value: 'URL',
    help: 'The issuer. Default: the one that the registry names for its console',
  },
  'client-id': { type: 'string', value: 'ID', help: 'The client. Default: that of the console' },
  scope: { type: 'string', value: 'TEXT', help: 'The scopes, with spaces. Default: those of the console' },
};

export const loginCommand: Command = {
  summary: 'Signs in at the issuer of a registry, with a code that you confirm in a browser.',
  group,
  options: loginOptions,
  notes: `The token is kept in assent/credentials.json in your folder for configuration (XDG_CONFIG_HOME, or ~/.config),
    which only you can read. It is renewed when it expires, if the issuer gave a refresh token. Exit codes: 0 signed in;
    1 failed.`,
  examples: [
    'assent login --url https://assent.example.org',
    'assent login --issuer https://login.example.org --client-id assent-cli',
  ],
  async run(values, _files, io) {
    const { url: registry } = await registryAddressOf(values, io);
    const { login } = await import('./login.js');
    const { token } = await login(registry, await issuerOf(registry, values), io);
    const caller = await callerOf(registry, token).catch(() => undefined);
    await write(io.stdout, `Signed in to ${registry}${caller === undefined ? '' : asWhom(caller)}.\n`);
    return 0;
  },
};

export const logoutCommand: Command = {
  summary: 'Forgets the token of a registry, and revokes it at the issuer.',
  group,
  options: { url: urlOption },
  examples: ['assent logout', 'assent logout --url https://assent.example.org'],
  async run(values, _files, io) {
    const { url: registry } = await registryAddressOf(values, io);
    const { logout } = await import('./login.js');
    const isDone = await logout(io.env, registry);
    await write(io.stdout, isDone ? `Signed out of ${registry}.\n` : `There is no login for ${registry}.\n`);
    return 0;
  },
};

export const whoamiCommand: Command = {
  summary: 'Shows the registry and whom the token speaks for.',
  group,
  options: connectionOptions,
  examples: ['assent whoami', 'assent whoami --url https://assent.example.org --json'],
  async run(values, _files, io) {
    const { url: registry, token } = await registryAddressOf(values, io);
    const bearer = await token();
    if (bearer === undefined) return refuse(io, `There is no token for ${registry}. Set ASSENT_TOKEN, or sign in.\n`);
    const { scopes, expiresat, person, ...parties } = await callerOf(registry, bearer);
    const known = {
      registry,
      ...parties,
      person: person && nameOf(person),
      scope: scopes.join(' '),
      expires: expiresat,
    };
    const { detailsOf } = await import('../resources/table.js');
    await write(io.stdout, values['json'] ? `${JSON.stringify(known, null, 2)}\n` : detailsOf(known));
    return 0;
  },
};

async function refuse(io: Io, line: string): Promise<number> {
  await write(io.stderr, line);
  return 1;
}

type Caller = Schemas['Caller'];

/** As the registry reads the token. */
async function callerOf(registry: string, token: string): Promise<Caller> {
  const { data } = await createClient({ url: registry, token: () => token }).GET('/whoami');
  return data;
}

function asWhom({ tenant, client, person }: Caller): string {
  return ` as ${person === undefined ? client : `${nameOf(person)}, with ${client}`}, of ${tenant}`;
}

const nameOf = ({ id, name }: NonNullable<Caller['person']>) => (name === undefined ? id : `${name} (${id})`);

/** From the options, or what the page of the console says. */
async function issuerOf(registry: string, values: Values): Promise<IssuerChoice> {
  const [issuer, clientid, scope] = (['issuer', 'client-id', 'scope'] as const).map((name) =>
    typeof values[name] === 'string' ? values[name] : undefined,
  );
  if (issuer !== undefined && clientid !== undefined) return { issuer, clientid, scope: scope ?? usualScope };
  const published = (await issuersOf(registry)).filter((each) => issuer === undefined || each.issuer === issuer);
  const [found, other] = published;
  if (found === undefined)
    throw new UsageError('The registry names no issuer for its console. Use --issuer and --client-id.');
  if (other !== undefined) {
    throw new UsageError(`Choose one with --issuer: ${published.map((each) => each.issuer).join(', ')}`);
  }
  return { issuer: found.issuer, clientid: clientid ?? found.clientid, scope: scope ?? found.scope };
}

const usualScope = 'openid offline_access assent:subscribe assent:admin';

async function issuersOf(registry: string): Promise<IssuerChoice[]> {
  const response = await fetch(`${registry}/console`, { signal: AbortSignal.timeout(10_000) }).catch((error: Error) => {
    throw new Error(`${registry} does not respond: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  const settings = /<script type="application\/json" id="settings">(.*?)<\/script>/s.exec(await response.text())?.[1];
  if (!response.ok || settings === undefined) throw new Error(`${registry}/console does not say how to sign in.`);
  return (JSON.parse(settings) as { issuers: IssuerChoice[] }).issuers;
}
