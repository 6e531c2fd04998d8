// One sender of shared-rate.mjs: sends as fast as it may, until it is killed.
import { once } from 'node:events';
import { createSender } from '../../dist/kits/sender/index.js';

const { registry, token, origin, sink, number } = JSON.parse(process.argv[2]);
const sender = await createSender({ registry, token: () => token });
await sender.ready();
process.send('ready');
await once(process, 'message');

async function send() {
  for (;;) {
    const permit = await sender.acquire(origin, sink);
    if (!permit.allowed) throw new Error(permit.message);
    const answer = await fetch(sink, { method: 'POST', headers: { 'x-sender': String(number) }, body: '{}' });
    sender.report({ origin, sink, statusCode: answer.status });
  }
}

// So many want to be sent at any moment.
await Promise.all(Array.from({ length: 8 }, send));
