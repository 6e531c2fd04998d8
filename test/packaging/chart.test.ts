import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { settings } from '../../src/registry/app/config.js';
import { commands } from '../../src/tools/cli/assent.js';
import { egressSettings, notifySettings, sharedSettings } from '../../src/tools/cli/sender-settings.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const chart = parse(read('docs/operate/chart/Chart.yaml'));
const values = parse(read('docs/operate/chart/values.yaml'));

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  definitions?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
}
const schema: Schema = JSON.parse(read('docs/operate/chart/values.schema.json'));
const at = (...path: string[]) =>
  path.reduce<Schema>((found, name) => found.properties?.[name] ?? (found.additionalProperties as Schema), schema);

/** Where each setting has its value, in what all processes share and in a place of its own. */
function placesOf(name: string, ...own: string[]): string[] {
  return [[], own].flatMap((path) =>
    ['settings', 'secrets', 'files'].flatMap((kind) =>
      at(...path, kind)?.properties?.[name] === undefined ? [] : [[...path, kind].join('.')],
    ),
  );
}

const once = ([place]: string[]) => (place === undefined ? 'missing' : [place]);

/** No value: the image or the chart decides. */
const decided: Readonly<Record<string, string>> = {
  NODE_ENV: 'the image is for production',
  PORT: 'ASSENT_PORT takes precedence',
  ASSENT_EMBEDDED_DATABASE: 'one process would own it',
  ASSENT_DATA: 'the image has a folder',
};

test('each setting of the registry has one named value in the chart, and no value is for a setting that does not exist', () => {
  const names = settings.map(({ name }) => name).filter((name) => !(name in decided));
  for (const name of names) {
    const places = placesOf(name, 'registry');
    expect([name, places]).toEqual([name, once(places)]);
  }
  const named = [[], ['registry']].flatMap((path) =>
    ['settings', 'secrets', 'files'].flatMap((kind) => Object.keys(at(...path, kind)?.properties ?? {})),
  );
  expect([...named].sort()).toEqual([...names].sort());
});

test('numbers have the same range in the chart as in the program', () => {
  const numbers = settings.filter(({ name, range }) => range !== '' && !(name in decided));
  for (const { name, range } of numbers) {
    const place = placesOf(name, 'registry')[0]?.split('.') ?? [];
    const { type, minimum, maximum } = at(...place, name);
    // A Service can't follow a port that the process picks.
    const [from = '', to] = name.endsWith('_PORT') ? ['1', '65535'] : range.split(' to ');
    const list = name === 'ASSENT_SINK_PORTS';
    expect([name, list ? 'list' : [type, minimum, maximum]]).toEqual([
      name,
      list ? 'list' : ['integer', Number(from), Number(to)],
    ]);
  }
});

/** How `assent egress` and `assent notify` are started. */
const processes = {
  egress: {
    place: ['egress'],
    own: egressSettings,
    options: commands['egress'],
    decided: {
      listen: 'the Service has the port',
      operations: 'the probes have the port',
      data: 'what it knows is in memory',
    },
  },
  notify: {
    place: ['notices', 'instances', 'any'],
    own: notifySettings,
    options: commands['notify'],
    decided: { tenant: 'its token is not for development', data: 'the volume has a place' },
  },
};

test.each(Object.entries(processes))(
  'each setting and option of assent %s has one named value in the chart',
  (_, each) => {
    for (const name of each.own) {
      const places = placesOf(name, ...each.place);
      expect([name, places]).toEqual([name, once(places)]);
    }
    // What it reads of the settings of a registry is in the part that all processes have.
    const shared = Object.keys(sharedSettings({})).filter((name) => name !== 'ASSENT_DEVELOPMENT_ISSUER');
    for (const name of shared.filter((name) => !(name in decided))) {
      const places: unknown[] = [expect.stringMatching(/^(?:settings|secrets|files)$/)];
      // Its callers' tokens are for it, not for the registry.
      if (name === 'ASSENT_ISSUERS' && each.place[0] === 'egress') places.push('egress.settings');
      expect([name, placesOf(name, ...each.place)]).toEqual([name, places]);
    }
    const options = 'options' in each.options! ? Object.keys(each.options.options) : [];
    for (const option of options.filter((name) => !(name in each.decided))) {
      const name = option.replace(/-(\w)/g, (_whole, letter: string) => letter.toUpperCase());
      expect(Object.keys(at(...each.place).properties ?? {})).toContain(name);
    }
  },
);

test('the values of the chart fit its schema, which refuses every unknown member', () => {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(schema);
  expect([validate(values), validate.errors]).toEqual([true, null]);
  const manifest = parse(read('docs/operate/chart/ci/manifest-values.yaml'));
  expect([validate(manifest), validate.errors]).toEqual([true, null]);
  for (const wrong of [
    { registry: { setings: {} } },
    { registry: { settings: { ASSENT_PROT: 3000 } } },
    { settings: { ASSENT_CREDENTIAL_KEYS: 'a key' } },
    { registry: { secrets: { DATABASE_URL: 'postgres://assent:secret@db.example/assent' } } },
    { image: { digest: 'sha256:short' } },
  ]) {
    expect([wrong, validate(wrong)]).toEqual([wrong, false]);
  }

  const open: string[] = [];
  const walk = (found: Schema, path: string) => {
    if (found.properties !== undefined && found.additionalProperties !== false) open.push(path);
    for (const [name, inner] of Object.entries(found.properties ?? {})) walk(inner, `${path}.${name}`);
    for (const [name, inner] of Object.entries(found.definitions ?? {})) walk(inner, `#${name}`);
    if (found.items) walk(found.items, `${path}[]`);
    if (typeof found.additionalProperties === 'object') walk(found.additionalProperties, `${path}.*`);
  };
  walk(schema, '');
  // Kubernetes checks the rest of a variable.
  expect(open).toEqual([]);
});

test('the chart has the version of the product, and the manifest the image of that version', () => {
  const { version } = JSON.parse(read('package.json'));
  expect([chart.version, chart.appVersion]).toEqual([version, version]);
  expect(read('docs/operate/kubernetes.yaml')).toContain(`image: '${values.image.repository}:${version}'`);
});

test('the alert rules and the dashboard of the chart are those of the monitoring page', () => {
  for (const name of ['alerts.yaml', 'grafana.json']) {
    const [linked, source] = [`docs/operate/chart/files/${name}`, `docs/operate/${name}`].map((path) =>
      realpathSync(join(root, path)),
    );
    expect(linked).toBe(source);
  }
});

test('kubernetes.yaml is rendered from the chart as it is', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, '.config/manifest.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});
