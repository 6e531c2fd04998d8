import type { Schemas } from '../../app/api.js';

/** What the part of a subscription at a pointer asks of an event. */
export interface Condition {
  /** The attribute that it is about; undefined for a part that combines others, and for an expression. */
  attribute: string | undefined;
  kind: 'exact' | 'oneOf' | 'prefix' | 'suffix' | 'sql' | 'combined';
  value: string;
}

/** Undefined if the subscription has no such part: it was changed since. */
export function conditionAt(subscription: Schemas['Subscription'], pointer: string): Condition | undefined {
  const steps = pointer.split('/').slice(1);
  let value: unknown = subscription;
  for (const step of steps) {
    value = (value as Record<string, unknown> | null)?.[step.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (value === undefined || value === null) return undefined;
  }
  const [last = '', before] = [steps.at(-1), steps.at(-2)];
  if (pointer === '/types') return { attribute: 'type', kind: 'oneOf', value: (value as string[]).join(', ') };
  if (typeof value !== 'string') return { attribute: undefined, kind: 'combined', value: JSON.stringify(value) };
  if (last === 'sql') return { attribute: undefined, kind: 'sql', value };
  if (before === 'exact' || before === 'prefix' || before === 'suffix') return { attribute: last, kind: before, value };
  return { attribute: last, kind: 'exact', value };
}
