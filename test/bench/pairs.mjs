// Compares the index with a linear scan over compiled filters, pair by pair, while subscriptions come, change and go.
import { randomEvent, randomSubscription, seeded } from './random-filters.mjs';

/**
 * Compares at least `pairs` pairs of subscription and event; `matching` is what is compared, from dist/ or src/.
 * Returns how many there were, and descriptions of what differed, or was left when all was removed again.
 */
export function comparePairs({ createMatchIndex, compileFilter, attributesOf }, pairs, seed, subscriptions = 2000) {
  const random = seeded(seed);
  const index = createMatchIndex();
  const compiled = new Map();
  const differences = [];
  let compared = 0;
  let matched = 0;
  while (compared < pairs) {
    for (let change = 0; change < subscriptions / 10; change += 1) {
      const id = `s${Math.floor(random() * subscriptions)}`;
      if (compiled.size > subscriptions / 2 && random() < 0.4) {
        index.remove(id);
        compiled.delete(id);
      } else {
        const subscription = randomSubscription(random, id);
        index.add(subscription);
        compiled.set(id, { subscription, test: compileFilter(subscription) });
      }
    }
    for (let round = 0; round < 20; round += 1) {
      const attributes = randomEvent(random);
      const event = attributesOf(attributes);
      const handles = index.match(event);
      const ids = new Set(handles.map((handle) => index.idOf(handle)));
      if (ids.size !== handles.length) differences.push({ attributes, twice: handles.map((h) => index.idOf(h)) });
      matched += ids.size;
      for (const [id, { subscription, test }] of compiled) {
        if (test(event) !== ids.delete(id)) differences.push({ attributes, subscription });
      }
      for (const id of ids) differences.push({ attributes, unknown: id });
      compared += compiled.size;
    }
    if (differences.length > 20) break;
  }
  for (const id of compiled.keys()) index.remove(id);
  const { keys, distinct } = index.statistics();
  if (keys + distinct + index.size > 0) differences.push({ leftOver: index.statistics() });
  return { compared, matched, differences };
}
