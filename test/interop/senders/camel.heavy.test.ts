import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configurationOf } from '../../support/egress-stand.js';
import { run, testBroker } from './broker.js';

/** Apache Camel with the route of docs/senders/brokers/camel.md, once for each webhook. */
await testBroker({
  name: 'Apache Camel',
  folder: fileURLToPath(new URL('camel', import.meta.url)),
  tool: ['mvn', '--version'],
  install: [...'mvn -q -B -Dmaven.repo.local=repository dependency:copy-dependencies -DoutputDirectory=lib'.split(' ')],
  after503: 'in time',
  async start({ folder, webhooks, secret }) {
    const routes = join(folder, 'routes');
    await mkdir(routes);
    for (const [name, { url }] of Object.entries(webhooks)) {
      const route = configurationOf('camel', 'yaml route', { url, secret }).replace('file:outbox', `file:${name}`);
      await writeFile(join(routes, `${name}.yaml`), route);
    }
    const java = 'java -XX:TieredStopAtLevel=1 -cp lib/* -Dcamel.main.routesIncludePattern=file:routes/*.yaml';
    const command = [...java.split(' '), 'org.apache.camel.main.Main'];
    const camel = await run(command, { folder, ready: `(camel-1) started` });
    let sent = 0;
    return {
      async send(webhook) {
        sent += 1;
        const event = { specversion: '1.0', id: `event-${sent}`, source: 'urn:example:shop', type: 'com.example.sold' };
        // Camel leaves files alone whose name begins with a dot.
        await writeFile(join(folder, webhook, `.${sent}`), JSON.stringify(event));
        await rename(join(folder, webhook, `.${sent}`), join(folder, webhook, `${sent}.json`));
      },
      hasRefused: (webhook) =>
        readdir(join(folder, webhook, 'refused')).then(
          (files) => files.length > 0,
          () => false,
        ),
      stop: () => camel.stop(),
    };
  },
});
