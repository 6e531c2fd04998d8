import { createInterface } from 'node:readline';
import { createSender } from '@assent/sender';

const { REGISTRY = 'http://127.0.0.1:3000', TOKEN = '', FOLDER, GUARD = '{}' } = process.env;
const sender = await createSender({
  registry: REGISTRY,
  token: () => TOKEN,
  folder: FOLDER,
  guard: JSON.parse(GUARD),
  onFault: console.error,
});
await sender.ready();

async function send(event: object) {
  const match = await sender.matchWithCredentials(event);
  const results = await sender.deliver(event, match);
  for (const { sink, outcome } of results) console.log(sink, outcome);
}

const sent: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) sent.push(send(JSON.parse(line)));
await Promise.all(sent);
await sender.close();
