import { UsageError } from '../../../base/errors.js';
import { write } from '../command.js';
import type { OperationContext } from './resource.js';

const mediaTypes: Readonly<Record<string, string>> = { jsonl: 'application/jsonl', csv: 'text/csv' };

/** Writes an export of the audit record as it arrives. Resolves to 1 if it ends early: what was written is incomplete. */
export async function exportAudit({ client, values, query, io }: OperationContext): Promise<number> {
  const format = values['json'] ? 'jsonl' : String(values['format']);
  const accept = mediaTypes[format];
  if (accept === undefined) throw new UsageError('--format must be jsonl or csv.');
  const init = { params: { query }, headers: { Accept: accept }, parseAs: 'stream' as const };
  const { data } = await client.GET('/audit', init);
  const reader = (data as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return 0;
      await new Promise<void>((resolve) => io.stdout.write(value, () => resolve()));
      if (!io.stdout.errored && !io.stdout.destroyed) continue;
      await reader.cancel();
      return 0;
    }
  } catch {
    await write(io.stderr, 'The export ended early and is incomplete. Continue with --until.\n');
    return 1;
  }
}
