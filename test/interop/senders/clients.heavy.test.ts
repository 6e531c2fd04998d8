import { fileURLToPath } from 'node:url';
import { testClients } from './clients.js';

/** Spring's RestClient in front of `assent egress`, at the version of Spring that the receivers have. */
const program = fileURLToPath(new URL('clients/spring/Send.java', import.meta.url));

await testClients([
  {
    name: 'Spring RestClient',
    program: 'Send.java',
    folder: fileURLToPath(new URL('../receivers/spring', import.meta.url)),
    tool: ['mvn', '--version'],
    install: 'mvn -q -B -Dmaven.repo.local=repository dependency:copy-dependencies -DoutputDirectory=lib'.split(' '),
    build: ['cp', program, '.'],
    start: ['java', '-XX:TieredStopAtLevel=1', '-cp', 'lib/*', 'Send.java'],
  },
]);
