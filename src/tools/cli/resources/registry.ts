import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createClient, type Client } from '../../../kits/client/index.js';
import { UsageError } from '../../../base/errors.js';
import { developmentCommands, findAddress, usualUrl } from '../../../registry/tokens/development-registry.js';
import type { Io, Options, TextOption, Values } from '../command.js';
import { readCredentials, type Login } from '../login/credentials-file.js';
import type { Row } from './table.js';

export const urlOption: TextOption = {
  type: 'string',
  value: 'URL',
  help: 'Where the registry is. Default: ASSENT_URL, your login, the one of this folder, or http://127.0.0.1:3000',
};

/** The options of every command that asks a registry. */
export const connectionOptions: Options = {
  url: urlOption,
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'A file with the token. Default: ASSENT_TOKEN, or the login for the registry',
  },
  json: { type: 'boolean', help: 'Print JSON, a line for each entry of a list' },
};

/** A token that expires this soon is renewed first. */
const renewBeforeMs = 30_000;

/** The URL of a registry without `/v1`, as it is the key of its login. Throws UsageError. */
export function registryUrlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`--url or ASSENT_URL must be an http or https URL: ${text}`);
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

export interface RegistryAddress {
  url: string;
  token: () => Promise<string | undefined>;
}

/** Where the registry is, and the token for it. */
export async function registryAddressOf(values: Values, { env }: Io): Promise<RegistryAddress> {
  const file = values['token-file'];
  const named = typeof values['url'] === 'string' ? values['url'] : '';
  // A token that was set for one registry is not for another.
  const isOther = named !== '' && env['ASSENT_URL'] && registryUrlOf(named) !== registryUrlOf(env['ASSENT_URL']);
  const ownToken = isOther ? '' : (env['ASSENT_TOKEN'] ?? '').trim();
  const credentials = file !== undefined || ownToken !== '' ? undefined : await readCredentials(env);
  const found = named || env['ASSENT_URL'] || credentials?.latest || (await developmentUrlOf(env));
  const url = registryUrlOf(found);
  return {
    url,
    async token() {
      if (typeof file === 'string') return readToken(file);
      if (ownToken !== '') return ownToken;
      const login = credentials?.registries[url];
      return login === undefined ? undefined : renewed(env, url, login);
    },
  };
}

const dataFolderOf = (env: NodeJS.ProcessEnv) => resolve(env['ASSENT_DATA'] || '.assent');

/** Where the registry of this data folder runs; if none does, where one listens that nobody configured. */
export const developmentUrlOf = async (env: NodeJS.ProcessEnv): Promise<string> =>
  (await findAddress(dataFolderOf(env))) ?? usualUrl;

/** What to do without a token, or with one that is not accepted. */
export async function signInHint(values: Values, io: Io): Promise<string> {
  const { url } = await registryAddressOf(values, io);
  const dataFolder = dataFolderOf(io.env);
  if (url !== (await findAddress(dataFolder))) return 'Set ASSENT_TOKEN, or sign in with "assent login".';
  const { token } = developmentCommands(dataFolder, undefined);
  const scopes = 'assent:admin,assent:subscribe,assent:deliver';
  return `This registry issues tokens itself. Run: export ASSENT_TOKEN=$(${token} --scope ${scopes})`;
}

async function readToken(file: string): Promise<string> {
  return (
    await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`--token-file ${file} cannot be read: ${error.code}`);
    })
  ).trim();
}

async function renewed(env: NodeJS.ProcessEnv, url: string, login: Login): Promise<string> {
  const { refreshtoken, expiresat = Infinity, token } = login;
  if (refreshtoken === undefined || expiresat - Date.now() > renewBeforeMs) return token;
  const { refreshLogin } = await import('../login/login.js');
  return (await refreshLogin(env, url, login)).token;
}

export async function openRegistry(values: Values, io: Io): Promise<Client> {
  return createClient({ ...(await registryAddressOf(values, io)), userAgent: 'assent-cli' });
}

/** What the client can do, with the paths of the table. */
export interface LooseClient {
  send(method: string, path: string, init: Init): Promise<{ data: unknown; etag: string | undefined }>;
  pages(path: string, init: Init): AsyncGenerator<{ data: Row[]; next: string | undefined }, void>;
}

export interface Init {
  params: { path?: Row; query: Row; header?: Record<string, string> };
  body?: unknown;
}

export const loose = (client: Client): LooseClient => ({
  send: (method, path, init) =>
    (client[method.toUpperCase() as 'GET'] as unknown as (path: string, init: Init) => ReturnType<LooseClient['send']>)(
      path,
      init,
    ),
  pages: (...asked) => (client as unknown as LooseClient).pages(...asked),
});
