import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { install, type Tools } from '../../support/foreign-tools.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';
import { contract, later, startLaterVersion } from './later-version.js';

/**
 * Client generators at pinned versions. The client that each generates from the contract compiles and calls a registry.
 * If the tool or the package registry of a language is missing on this machine, that language is skipped with a reason.
 */
interface Language extends Tools {
  generators: Record<string, { generate: string[]; call: string[] }>;
  /** Compiles all generated clients. */
  build?: string[];
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const npx = (...command: string[]) => ['npx', '--no-install', ...command];

const languages: Language[] = [
  {
    name: 'TypeScript',
    folder: here('node'),
    tool: ['npm', '--version'],
    install: 'npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error'.split(' '),
    build: npx('tsc'),
    generators: {
      'openapi-typescript and openapi-fetch': {
        generate: npx('openapi-typescript', contract, '-o', 'types.ts'),
        call: [process.execPath, 'out/call-fetch.js'],
      },
      '@hey-api/openapi-ts': {
        generate: npx('openapi-ts', '-i', contract, '-o', 'hey-api', '-c', '@hey-api/client-fetch', '--silent'),
        call: [process.execPath, 'out/call-hey-api.js'],
      },
    },
  },
  {
    name: 'Python',
    folder: here('python'),
    tool: ['python3', '-m', 'pip', '--version'],
    install: 'python3 -m pip install --quiet --no-compile --target packages -r requirements.txt'.split(' '),
    env: { PYTHONPATH: 'packages' },
    generators: {
      'openapi-python-client': {
        generate: [
          ...'python3 -m openapi_python_client generate --meta none --output-path client --config config.yaml'.split(
            ' ',
          ),
          '--path',
          contract,
        ],
        call: ['python3', 'call.py'],
      },
    },
  },
  {
    name: 'Go',
    folder: here('go'),
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    build: ['go', 'build', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w', '-o', 'call', '.'],
    // The same flags as for the other Go programs, so that the standard library compiles once.
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
    generators: {
      'oapi-codegen': {
        generate: [
          ...[
            'go',
            'run',
            '-gcflags=all=-N -l -dwarf=false',
            '-ldflags=-s -w',
            'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen',
          ],
          ...['-config', 'generate.yaml', contract],
        ],
        call: ['./call'],
      },
    },
  },
];
const installed = await Promise.all(
  languages.map(async (language) => ({ ...language, tools: await install(language) })),
);

const type = 'com.example.generated';
const secret = 'a-shared-secret';
let registry: Registry;
let laterVersion: Awaited<ReturnType<typeof startLaterVersion>>;
let call: Record<string, string>;
let expected: object;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  const tenant = await createTenant(registry);
  const consenting = (path: string, rate: string) => {
    registry.receiver.consent(path, { rate });
    return registry.receiver.sink(path);
  };
  const [limited, free] = [consenting('/limited', '120'), consenting('/free', '*')];
  const sinkcredential = { credentialtype: 'PLAIN', identifier: 'assent', secret };
  const scopes = ['assent:deliver' as const, 'assent:credentials' as const];
  const token = await createToken({ tenant: 'gemeente', subscriber: 'mailroom', scopes, minutes: 60 }, registry.env);
  const before = await fetch(`${registry.url}/v1/changes`, { headers: { authorization: `Bearer ${token}` } });
  const { cursor } = (await before.json()) as { cursor: string };
  await tenant.register(limited, { types: [type], sinkcredential });
  await tenant.register(free, { types: [type] });
  await registry.service.follow();
  laterVersion = await startLaterVersion(registry.url);
  call = { REGISTRY: `${laterVersion.url}/v1`, TOKEN: token, TYPE: type, CURSOR: cursor };
  expected = {
    sinks: expect.arrayContaining([
      [limited, 120, secret, later],
      [free, '*', null, later],
    ]),
    grants: expect.arrayContaining([
      [limited, 120, later],
      [free, '*', later],
    ]),
    changes: expect.arrayContaining([later]),
  };
});
afterAll(async () => {
  for (const { tools } of installed) if ('remove' in tools) await tools.remove();
  laterVersion.stop();
  await registry.stop();
});

describe.each(installed)('in $name', ({ tools, generators, build }) => {
  if ('missing' in tools) {
    test.skip(`not run: ${tools.missing}`, () => undefined);
    return;
  }

  beforeAll(async () => {
    for (const { generate } of Object.values(generators)) {
      // A generator leaves out what it cannot read, with a warning.
      expect(await tools.execute(generate)).not.toMatch(/unable to process|removal of|could not find reference/i);
    }
    if (build) await tools.execute(build);
  });

  test.each(Object.entries(generators))(
    'the client of %s compiles, and reads matches, rates, credentials, grants and changes with values that a later version adds',
    async (_, generator) => {
      expect(JSON.parse(await tools.execute(generator.call, call))).toEqual(expected);
    },
  );
});
