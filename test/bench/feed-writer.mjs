// Appends changes at a steady pace, in batches of one transaction each, on a few connections; in a process of its own,
// so that it does not share a thread with whom it is measured against. Tells its parent when it knew of each commit.
import pg from 'pg';

const { url, perSecond, seconds, batch, connections, tenant } = JSON.parse(process.argv[2]);
const clock = () => performance.timeOrigin + performance.now();
const commits = [];
const paceMs = (1_000 * batch * connections) / perSecond;

await Promise.all(
  Array.from({ length: connections }, async (_, place) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const startAt = clock() + 50 + (place * paceMs) / connections;
    const column = (value) => Array.from({ length: batch }, () => value);
    for (let turn = 0; turn * paceMs < seconds * 1_000; turn += 1) {
      await until(startAt + turn * paceMs);
      const name = `${place}-${turn}`;
      const sinks = Array.from({ length: batch }, (_, i) => `https://hooks.example.com/${name}/${i}`);
      const sentAt = clock();
      await client.query({
        name: 'append',
        text: 'select append_changes($1, $2, $3, $4, $5)',
        values: [column(tenant), column('eventemitter.example.com'), column('grant.ended'), sinks, column(null)],
      });
      commits.push([name, sentAt, clock()]);
    }
    await client.end();
  }),
);
process.send?.(commits);
process.disconnect?.();

/** Timers are late by up to a millisecond, which matters to the pace and not to what is measured. */
async function until(at) {
  const left = at - clock();
  if (left > 1) await new Promise((resolve) => setTimeout(resolve, left));
}
