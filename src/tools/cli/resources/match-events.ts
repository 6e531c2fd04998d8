import type { Schemas } from '../../../kits/client/index.js';
import { write } from '../command.js';
import type { OperationContext } from './resource.js';
import { readJson } from '../read-json.js';
import { member, tableOf, type Column, type Row } from './table.js';

const sinkColumns = [
  member('sink'),
  member('allowedrate', 'rate'),
  { title: 'subscriptions', of: ({ subscriptions }: Row) => (subscriptions as string[]).length },
  member('helduntil', 'held until'),
  member('expiresat', 'expires'),
];
const explanationColumns = [
  member('subscription'),
  member('matched'),
  member('reason'),
  member('pointer'),
  member('detail'),
];
const faultColumns = [member('pointer'), member('rule'), member('detail')];

type Matched = Schemas['MatchedEvent'];

/** Finds the webhooks for an event or a batch. Resolves to 1 if an event of a batch is invalid. */
export async function matchEvents({ client, values, operands: [file = ''], query, io }: OperationContext) {
  const body = (await readJson(file, io)) as Schemas['CloudEvent'];
  const { data } = await client.POST('/match', { params: { query }, body });
  const events: Matched[] = 'events' in data ? data.events : [data];
  const isValid = events.every(({ faults }) => faults === undefined);
  if (values['json']) {
    await write(io.stdout, `${JSON.stringify(data, null, 2)}\n`);
    return isValid ? 0 : 1;
  }
  const width = io.stdout.isTTY ? (io.stdout.columns ?? 80) : Infinity;
  const show = (columns: readonly Column[], rows: readonly object[] = []) =>
    rows.length === 0 ? '' : tableOf(columns, rows as Row[], { width }).text;
  for (const [at, { sinks = [], faults, explanations }] of events.entries()) {
    if (events.length > 1) await write(io.stdout, `${at === 0 ? '' : '\n'}Event ${at + 1}\n`);
    if (faults === undefined && sinks.length === 0) await write(io.stdout, 'No webhook gets it.\n');
    await write(
      io.stdout,
      show(sinkColumns, sinks) + show(faultColumns, faults) + show(explanationColumns, explanations),
    );
  }
  return isValid ? 0 : 1;
}
