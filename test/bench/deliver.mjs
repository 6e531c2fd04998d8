// Deliveries through the guarded door against plain undici: the same POST to the same webhook, connections kept alive by
// both, in rounds that take turns. Processor time of this process counts, and what got through in a second; the webhook
// is a process of its own.
import { fork } from 'node:child_process';
import { createServer } from 'node:https';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { generate } from 'selfsigned';
import { Agent, request } from 'undici';
import { createDoor } from '../../dist/outbound/door.js';
import { median } from './measure.mjs';

const rounds = 15;
const perRound = 4_000;
const event = { specversion: '1.0', id: '1', source: '/orders', type: 'com.example.order', data: 'x'.repeat(1_000) };

if (process.send !== undefined) {
  const { cert, key } = JSON.parse(process.argv[2]);
  const server = createServer({ cert, key }, (asked, response) => {
    asked.resume().on('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('disconnect', () => process.exit());
} else {
  await measure();
}

async function measure() {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  });
  const webhook = fork(fileURLToPath(import.meta.url), [JSON.stringify({ cert, key })]);
  const port = await new Promise((resolve) => webhook.once('message', (told) => resolve(told.port)));
  const url = `https://localhost:${port}/events`;
  const headers = {
    'Content-Type': 'application/cloudevents+json; charset=utf-8',
    'WebHook-Request-Origin': 'eventemitter.example.com',
  };
  const body = JSON.stringify(event);

  const dispatcher = new Agent({ connect: { ca: cert }, keepAliveTimeout: 4_000 });
  const door = createDoor({ allowedNetworks: ['127.0.0.0/8'], sinkPorts: [port], sinkCa: cert });
  const plain = async () => {
    const signal = AbortSignal.timeout(10_000);
    const answer = await request(url, { method: 'POST', headers, body, dispatcher, signal });
    await answer.body.dump();
    return answer.statusCode;
  };
  const guarded = async () => (await door.post({ url, headers, body })).status;

  for (const inFlight of [1, 16]) {
    const results = { plain: [], guarded: [] };
    for (let round = -2; round < rounds; round += 1) {
      for (const [name, send] of round % 2 === 0
        ? [
            ['plain', plain],
            ['guarded', guarded],
          ]
        : [
            ['guarded', guarded],
            ['plain', plain],
          ]) {
        const result = await run(send, inFlight);
        if (round >= 0) results[name].push(result);
      }
    }
    const ratio = (of) => median(results.guarded.map((result, index) => result[of] / results.plain[index][of]));
    for (const [name, all] of Object.entries(results)) {
      const cpu = median(all.map((result) => result.cpu)).toFixed(1);
      console.log(
        `${inFlight} in flight, ${name}: ${Math.round(median(all.map((result) => result.perSecond)))} a second, ${cpu} µs of processor each`,
      );
    }
    console.log(
      `${inFlight} in flight, guarded to plain: ${ratio('perSecond').toFixed(3)} in a second, ${ratio('cpu').toFixed(3)} of processor`,
    );
  }
  door.close();
  await dispatcher.close();
  webhook.disconnect();
}

async function run(send, inFlight) {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  let left = perRound;
  const line = async () => {
    while (left > 0) {
      left -= 1;
      if ((await send()) !== 204) throw new Error('It was not delivered.');
    }
  };
  await Promise.all(Array.from({ length: inFlight }, line));
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond: (perRound * 1_000) / ms, cpu: (user + system) / perRound };
}
