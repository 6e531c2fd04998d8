import { fileURLToPath } from 'node:url';
import { testClients, type Client } from './clients.js';

/** Clients of Python, Go and PHP with the settings of docs/senders/brokers/clients.md, in front of `assent egress`. */
const at = (folder: string) => fileURLToPath(new URL(`clients/${folder}`, import.meta.url));

const python = (name: string, program: string): Client => ({
  name,
  program,
  folder: at('python'),
  tool: ['python3', '-m', 'pip', '--version'],
  install: [
    ...'python3 -m pip install --quiet --no-compile --no-deps'.split(' '),
    ...'--target packages -r requirements.txt'.split(' '),
  ],
  start: ['python3', program],
  env: { PYTHONPATH: 'packages' },
});

await testClients([
  python('requests', 'with_requests.py'),
  python('Celery', 'with_celery.py'),
  {
    name: 'Go retryablehttp',
    program: 'main.go',
    folder: at('go'),
    tool: ['go', 'version'],
    install: ['go', 'mod', 'download'],
    build: ['go', 'build', '-gcflags=all=-N -l -dwarf=false', '-ldflags=-s -w', '-o', 'send', '.'],
    start: ['./send'],
    env: { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly -buildvcs=false' },
  },
  {
    name: 'Guzzle',
    program: 'send.php',
    folder: at('guzzle'),
    tool: ['dpkg-deb', '--version'],
    install: ['sh', 'install.sh'],
    start: ['./php', 'send.php'],
  },
]);
