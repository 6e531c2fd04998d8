import { chunksOf } from '../../../base/formats/lines.js';
import { UsageError } from '../../../base/errors.js';
import type { Schemas } from '../../../kits/client/index.js';
import { write } from '../command.js';
import { columnOf, type OperationContext } from './operation.js';
import { readJson } from './run-operation.js';
import { detailsOf, tableOf, type Column, type Row } from './table.js';

// Subcommands that are more than one request and its response.

/** Waits until a subscription is no longer pending, and prints it. Resolves to 0 if it is active, otherwise to 1. */
export async function waitForDecision({ client, values, operands: [id = ''], io }: OperationContext): Promise<number> {
  const seconds = values['seconds'];
  if (seconds !== undefined && !/^[1-9]\d{0,5}$/.test(String(seconds))) {
    throw new UsageError('--seconds must be a whole number above 0.');
  }
  const signal = seconds === undefined ? io.interrupted() : AbortSignal.timeout(Number(seconds) * 1_000);
  try {
    const subscription = await client.waitUntilDecided(id, { signal });
    const asText = values['json'] ? `${JSON.stringify(subscription, null, 2)}\n` : detailsOf(subscription);
    await write(io.stdout, asText);
    return subscription.status === 'active' ? 0 : 1;
  } catch (error) {
    if (!signal.aborted) throw error;
    await write(io.stderr, 'The webhook has not decided yet.\n');
    return 1;
  }
}

/** Prints a grant, or with `--jwt` the token that proves it. */
export async function showGrant({ client, values, operands: [id = ''], io }: OperationContext): Promise<number> {
  const params = { path: { id } };
  if (values['jwt']) {
    const init = { params, headers: { Accept: 'application/jwt' }, parseAs: 'text' as const };
    await write(io.stdout, `${(await client.GET('/grants/{id}', init)).data}\n`);
    return 0;
  }
  const { data } = await client.GET('/grants/{id}', { params });
  await write(io.stdout, values['json'] ? `${JSON.stringify(data, null, 2)}\n` : detailsOf(data));
  return 0;
}

/** Prints a directory of public keys (Web Bot Auth), for `/.well-known/http-message-signatures-directory`. */
export async function printDirectory({ client, operands: [name = ''], io }: OperationContext): Promise<number> {
  const { data: origin } = await client.GET('/origins/{name}', { params: { path: { name } } });
  const { data } = await client.GET('/directories/{id}', { params: { path: { id: origin.directory } } });
  await write(io.stdout, `${JSON.stringify(data)}\n`);
  return 0;
}

/** Writes an export of the audit record as it arrives. Resolves to 1 if it ends early: what was written is incomplete. */
export async function exportAudit({ client, values, query, io }: OperationContext): Promise<number> {
  const accept = values['format'] === 'csv' && !values['json'] ? 'text/csv' : 'application/jsonl';
  const init = { params: { query }, headers: { Accept: accept }, parseAs: 'stream' as const };
  const { data } = await client.GET('/audit', init);
  try {
    for await (const chunk of chunksOf(data)) {
      await new Promise<void>((resolve) => io.stdout.write(chunk, () => resolve()));
      if (io.stdout.errored || io.stdout.destroyed) break;
    }
    return 0;
  } catch {
    await write(io.stderr, 'The export ended early and is incomplete. Continue with --until.\n');
    return 1;
  }
}

const sinkColumns = ['sink', 'allowedrate', 'subscriptions.length', 'helduntil', 'expiresat'].map(columnOf);
const explanationColumns = ['subscription', 'matched', 'code', 'pointer', 'detail'].map(columnOf);
const faultColumns = ['pointer', 'rule', 'detail'].map(columnOf);

type Matched = Schemas['MatchedEvent'];

/** Finds the webhooks for an event or a batch. Resolves to 1 if an event of a batch is invalid. */
export async function runMatch({ client, values, operands: [file = ''], query, io }: OperationContext) {
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
