import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createToken } from '../../../src/tools/cli/login/create-token.js';
import { install, type Installed } from '../../support/foreign-tools.js';
import { startRegistry, type Registry } from '../../support/registry.js';
import { createTenant } from '../../support/tenant.js';
import { later, startLaterVersion } from './later-version.js';

/**
 * openapi-generator, from Maven. A program in Java and the same one in TypeScript take the steps of a consumer with what
 * it generates. What fails today is expected here by name, so that the test fails once the contract mends it.
 */
interface Generated {
  name: string;
  /** The arguments of the generator. */
  generate: string[];
  env?: Record<string, string>;
  /** Which files the compiler refuses. */
  errors?: string[];
  /** The steps that fail. If it is `null`, none can be taken, because there is no compiled program. */
  fails?: Record<string, unknown> | null;
}

const failure = (text: string) => ({ failure: expect.stringContaining(text) });
// Spring's library makes an empty class of a union of a number and a string.
const unreadableRate = failure('Cannot construct instance of `org.openapitools.client.model.Rate`');

const clients: Generated[] = [
  {
    name: 'java, library native',
    generate: ['java', '--library', 'native'],
    // `ClaimValues` is a union with an array: the generated code says `List<ClaimValue>.class`, which is no Java.
    errors: ['ClaimValues.java'],
    fails: null,
  },
  {
    // Without a mapping of `Rate`, no rate can be read: a text can be a number, so two parts of the union match.
    name: 'java, library native, with both unions mapped',
    generate: [
      ...['java', '--library', 'native', '--schema-mappings', 'ClaimValues=Object,Rate=Object'],
      ...['--additional-properties', 'supportUrlQuery=false'],
    ],
  },
  {
    name: 'java, library restclient',
    generate: ['java', '--library', 'restclient'],
    fails: {
      // Its mapper writes `null` for each member that is absent, and the registry refuses `null`.
      register: failure('{"pointer":"/requestedrate","rule":"type"'),
      read: unreadableRate,
      'send back': unreadableRate,
      pages: unreadableRate,
      'unknown value': unreadableRate,
    },
  },
  {
    name: 'java, library restclient, with Rate mapped and a mapper that leaves null out',
    generate: ['java', '--library', 'restclient', '--schema-mappings', 'Rate=Object'],
    env: { INCLUDE: 'NON_NULL' },
  },
  {
    name: 'typescript-fetch',
    generate: ['typescript-fetch'],
    // `ClaimValues` imports what a union of texts and numbers does not have. And what is read is no request by its type:
    // the kind of a credential is an open value in a response, and an enum in a request. The compiler writes JavaScript
    // all the same.
    errors: ['ClaimValues.ts TS2305', 'call.ts TS2322'],
  },
];

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const tools = await install({
  name: 'Java and TypeScript, by openapi-generator',
  folder: here('openapi-generator'),
  tool: ['mvn', '--version'],
  install: [...'mvn -q -B -Dmaven.repo.local=repository dependency:copy-dependencies -DoutputDirectory=lib'.split(' ')],
});
const java = ['java', '-XX:TieredStopAtLevel=1'];

/** Generates into a folder of its own, and compiles. Returns what the compiler refuses, and how to call the program. */
async function build({ folder, execute }: Installed, [generator = '', ...settings]: string[], index: number) {
  const jars = (await readdir(join(folder, 'lib'))).map((jar) => join('lib', jar));
  const isGenerator = (jar: string) => jar.includes('openapi-generator');
  const output = generator === 'java' ? `java-${index}` : generator;
  const only = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false';
  const inputs = ['-i', 'openapi.json', '-g', generator, '-o', output, '--global-property', only, ...settings];
  await execute([...java, '-jar', jars.find(isGenerator)!, 'generate', ...inputs]);

  const path = jars.filter((jar) => !isGenerator(jar)).join(':');
  const library = join(settings[1] ?? '', 'Library.java');
  const javac = `javac -nowarn -proc:none -Xmaxerrs 1000 -cp ${path} -d ${output} Main.java ${library}`;
  const compile = generator === 'java' ? `${javac} $(find ${output}/src/main -name '*.java')` : here(tsc);
  const said = await execute(['sh', '-c', compile]).catch((error: Error) => error.message);
  const errors = [...said.matchAll(/(\w+\.(?:java|ts))[:(][\d,)]+: error( TS\d+)?/g)].map(
    ([, file, code]) => file + (code ?? ''),
  );
  const call = generator === 'java' ? [...java, '-cp', `${path}:${output}`, 'Main'] : [process.execPath, 'out/call.js'];
  return { errors: [...new Set(errors)].sort(), call };
}
const tsc = '../../../node_modules/.bin/tsc';

let registry: Registry;
let laterVersion: Awaited<ReturnType<typeof startLaterVersion>>;

beforeAll(async () => {
  registry = await startRegistry({ reachable: true });
  await createTenant(registry);
  laterVersion = await startLaterVersion(registry.url);
  registry.receiver.consent('/hook', { rate: '120' });
  if ('missing' in tools) return;
  const contract = await fetch(`${registry.url}/openapi.json`);
  await writeFile(join(tools.folder, 'openapi.json'), await contract.text());
});
afterAll(async () => {
  if ('remove' in tools) await tools.remove();
  laterVersion.stop();
  await registry.stop();
});

/** Three subscriptions of a subscriber of its own, with a member of each kind. */
async function registerThree(subscriber: string) {
  const client = await registry.as('assent:subscribe', { subscriber });
  const request = {
    sink: registry.receiver.sink('/hook'),
    protocol: 'HTTP',
    filters: [{ prefix: { type: 'com.example.' } }],
    config: { unit: 'metre' },
    protocolsettings: { contentmode: 'binary' },
    requestedrate: 60,
    expiresat: new Date(Date.now() + 86_400_000).toISOString(),
  };
  const ids: string[] = [];
  for (const type of ['com.example.a', 'com.example.b', 'com.example.c']) {
    const asked = client.post('/v1/subscriptions').set('Prefer', 'wait=10');
    ids.push(((await asked.send({ ...request, types: [type] }).expect(201)).body as { id: string }).id);
  }
  const read = async () =>
    (await client.get(`/v1/subscriptions/${ids[0]}`).expect(200)).body as Record<string, unknown>;
  return { ids, sink: request.sink, read };
}

describe('with openapi-generator', () => {
  if ('missing' in tools) {
    test.skip(`not run: ${tools.missing}`, () => undefined);
    return;
  }

  test.each(clients)(
    'the client of $name registers, reads an active subscription, sends it back changed, follows pages, and reads unknown values and problems, except for what is named above',
    async (client) => {
      const { errors, call } = await build(tools, client.generate, clients.indexOf(client));
      expect(errors).toEqual(client.errors ?? []);
      if (client.fails === null) return;

      const who = { tenant: 'gemeente', subscriber: `subscriber-${clients.indexOf(client)}` };
      const { ids, sink, read } = await registerThree(who.subscriber);
      const before = await read();
      const token = await createToken({ ...who, scopes: ['assent:subscribe'], minutes: 60 }, registry.env);
      const urls = { REGISTRY: `${registry.url}/v1`, LATER: `${laterVersion.url}/v1` };
      const own = { TOKEN: token, TYPE: 'com.example.d', SINK: sink, ID: ids[0]!, ...client.env };
      const told = await tools.execute(call, { ...urls, ...own });
      expect(JSON.parse(told.slice(told.indexOf('{')))).toEqual({
        register: 'active',
        read: ['active', 120],
        'send back': 'changed',
        pages: expect.arrayContaining(ids),
        'unknown value': later,
        problem: 'subscription_not_found',
        ...client.fails,
      });
      // What it did not change is as it was.
      delete before.statusdetails;
      const changed = client.fails?.['send back'] ? {} : { subject: 'changed', updatedat: expect.any(String) };
      expect(await read()).toMatchObject({ ...before, ...changed });
    },
  );
});
