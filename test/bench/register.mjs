// Registration over HTTP, each with its handshake against a local webhook, on a Postgres that is durable (fsync), at 64
// clients; side by side with handshakes alone and with the plain way.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { origin } from './fill.mjs';
import { withHarness } from './harness.mjs';
import { load, requestBytes } from './load.mjs';
import { median, round2 } from './measure.mjs';

const durable = ['fsync = on', 'synchronous_commit = on', 'full_page_writes = on'];

/** Every answer is a 201 that says active; the ratios are those of each round, as medians. */
export function measureRegistration({ rounds, seconds, connections, 'warm-up': warmUp }) {
  return withHarness({ settings: durable }, async ({ start, startRegistry, token: createToken, folder, url }) => {
    const { told: webhook } = await start('consenting-webhook.mjs');
    const caFile = join(folder, 'ca.pem');
    await writeFile(caFile, webhook.ca);
    const { port } = await startRegistry({
      ASSENT_PUBLIC_URL: 'https://assent.test',
      ASSENT_ALLOWED_NETWORKS: '127.0.0.0/8',
      ASSENT_SINK_PORTS: String(webhook.port),
      ASSENT_SINK_CA_FILE: caFile,
      // One host and one tenant take it all.
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_HOST: '200',
      ASSENT_HANDSHAKES_IN_FLIGHT_PER_TENANT: '200',
      ASSENT_HANDSHAKES_PER_HOST: '1000000',
      ASSENT_HANDSHAKES_PER_TENANT: '1000000',
    });
    await prepare(url);
    const token = await createToken('assent:subscribe', 'consumer');
    const { told: alone } = await start('handshake-server.mjs', { origin, port: webhook.port, ca: webhook.ca });
    const { told: plain } = await start('plain-server.mjs', { origin, url }, { env: { NODE_EXTRA_CA_CERTS: caFile } });

    let sinks = 0;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Prefer: 'wait=5' };
    const requests = () => {
      const sink = `https://localhost:${webhook.port}/hooks/${(sinks += 1)}`;
      const body = JSON.stringify({
        sink,
        protocol: 'HTTP',
        source: 'urn:nld:oin:00000001234567890000:systeem:zaken',
        types: ['nl.gemeente.zaak-gewijzigd'],
      });
      return requestBytes({ method: 'POST', path: '/v1/subscriptions', headers, body });
    };
    const run = (at, forSeconds) =>
      load({
        port: at,
        requests,
        connections,
        seconds: forSeconds,
        status: 201,
        text: '"status":"active"',
        sleeps: true,
      });
    const targets = { registrations: port, handshakes: alone.port, plain: plain.port };
    for (const at of Object.values(targets)) await run(at, warmUp);
    const runs = [];
    for (let round = 0; round < rounds; round += 1) {
      const measured = {};
      for (const [name, at] of Object.entries(targets)) measured[name] = await run(at, seconds);
      runs.push(measured);
    }
    const of = (read) => median(runs.map(read));
    return {
      ratio: round2(of(({ registrations, handshakes }) => registrations.persecond / handshakes.persecond)),
      plainratio: round2(of(({ registrations, plain: theirs }) => registrations.persecond / theirs.persecond)),
      persecond: Math.round(of(({ registrations }) => registrations.persecond)),
      p99us: of(({ registrations }) => registrations.p99us),
      handshakespersecond: Math.round(of(({ handshakes }) => handshakes.persecond)),
      plainpersecond: Math.round(of(({ plain: theirs }) => theirs.persecond)),
    };
  });
}

/** The origin, and proof that what is acknowledged is on the disk. */
async function prepare(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    const { rows } = await client.query(`show ${name}`);
    if (rows[0][name] !== 'on') throw new Error(`${name} is off.`);
  }
  await client.query(
    `insert into origin (name, tenant, isdefault, requestedrate, defaultrate, judgement, callback, grantseconds, profile)
     values ($1, 'bench', true, 120, '60', 'strict', 'offer', 864000, 'cloudevents')`,
    [origin],
  );
  await client.end();
}
