import { UsageError } from '../../../base/errors.js';
import { write } from '../command.js';
import type { OperationContext } from '../resources/resource.js';
import { detailsOf } from '../resources/table.js';

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
