// Delivers the events in EVENTS, and forwards the last one, with the kit; prints the results.
import { createSender } from '@assent/sender';

const { REGISTRY: registry, TOKEN: token, ORIGIN: origin, GUARD: guard, EVENTS: events } = process.env;
const sender = await createSender({ registry, token: () => token, guard: JSON.parse(guard) });
await sender.ready(0);
const results = [];
for (const event of JSON.parse(events)) {
  const match = await sender.matchWithCredentials(event, { origin });
  results.push(...(await sender.deliver(event, match, { attempts: 1 })));
  const [{ sink }] = match.sinks;
  const headers = { 'Content-Type': 'application/json', traceparent: event.traceparent };
  results.push(await sender.forward({ origin, sink, headers, body: '{}' }));
}
await sender.close();
console.log(JSON.stringify(results));
