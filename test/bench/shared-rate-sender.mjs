// One sender of shared-rate.mjs: sends as fast as it may, until it is killed.
import { once } from 'node:events';
import { createSender } from '../../dist/kits/sender/index.js';

const { REGISTRY, TOKEN, ORIGIN, SINK, NUMBER } = process.env;
const sender = await createSender({ registry: REGISTRY.split(','), token: () => TOKEN });
await sender.ready();
process.send('ready');
await once(process, 'message');

async function send() {
  for (;;) {
    const permit = await sender.acquire(ORIGIN, SINK);
    if (!permit.allowed) throw new Error(permit.message);
    const answer = await fetch(SINK, { method: 'POST', headers: { 'x-sender': NUMBER }, body: '{}' });
    sender.report({ origin: ORIGIN, sink: SINK, status: answer.status });
  }
}

// So many want to be sent at any moment.
await Promise.all(Array.from({ length: 8 }, send));
