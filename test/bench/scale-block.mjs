// Seconds from the request for a block to the first refusal in the process that got it and in another one, and from the
// request that lifts it to the first look-up that is permitted again.
import { origin, tenant, used } from './fill.mjs';
import { round2 } from './measure.mjs';

const patienceMs = 60_000;

export async function measureBlocks({ processes, sink, token, onStep }) {
  const admin = { Authorization: `Bearer ${await token('assent:admin', 'bench')}` };
  const sender = { Authorization: `Bearer ${await token('assent:deliver')}` };
  const [{ url }] = processes;
  const path = `/v1/permissions?${new URLSearchParams({ origin, sink })}`;
  const isAllowed = async (process) => (await (await fetch(process.url + path, { headers: sender })).json()).allowed;
  /** Milliseconds until all processes give this answer; undefined if one never does. */
  const untilAll = async (allowed, startedAt) => {
    const all = processes.map(async (process) => {
      while ((await isAllowed(process)) !== allowed) {
        if (performance.now() - startedAt > patienceMs) return undefined;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return performance.now() - startedAt;
    });
    const times = await Promise.all(all);
    return times.includes(undefined) ? undefined : Math.max(...times);
  };
  /** Sends a request and waits for what it does to look-ups: seconds, and why it failed. */
  const act = async (allowed, method, address, body) => {
    const startedAt = performance.now();
    const request = fetch(address, {
      method,
      headers: { ...admin, 'Content-Type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    const seen = untilAll(allowed, startedAt);
    const response = await request;
    const answered = (performance.now() - startedAt) / 1_000;
    const block = await response.json();
    if (!response.ok) return { seconds: null, answered: round2(answered), fails: `${response.status} ${block.title}` };
    const ms = await seen;
    const fails = ms === undefined ? { fails: 'not in force' } : {};
    return { seconds: ms === undefined ? null : round2(ms / 1_000), answered: round2(answered), block, ...fails };
  };
  const values = {
    sink,
    host: used.host,
    domain: used.domain,
    network: used.network,
    subscriber: used.subscriber,
    origin,
    tenant,
  };
  const rows = [];
  for (const [kind, value] of Object.entries(values)) {
    const { block, ...blocked } = await act(false, 'POST', `${url}/v1/blocks`, { kind, value, reason: 'bench:scale' });
    const lifted = block ? await act(true, 'DELETE', `${url}/v1/blocks/${block.id}`) : {};
    const fails = blocked.fails ?? lifted.fails;
    const row = {
      kind,
      seconds: blocked.seconds,
      answered: blocked.answered,
      liftseconds: lifted.seconds ?? null,
      liftanswered: lifted.answered ?? null,
      ...(fails ? { fails } : {}),
    };
    rows.push(row);
    // Otherwise it would be in force for what is measured next.
    for (let tries = 0; block && lifted.fails && tries < 5; tries += 1) {
      const again = await act(true, 'DELETE', `${url}/v1/blocks/${block.id}`);
      if (again.fails === undefined || again.fails.startsWith('404')) break;
    }
    onStep(`block of a ${kind}: ${fails ?? `${row.seconds} s, lifted in ${row.liftseconds} s`}`);
  }
  return rows;
}
