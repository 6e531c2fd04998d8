import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPage } from '../../docs/markdown.js';
import { startEgressStand, type EgressStand, type EgressWebhook } from '../../support/egress-stand.js';
import { install, type Installed, type Tools } from '../../support/foreign-tools.js';

/** A client that programs post with. Its program prints, by URL, whether the call `returns` or `fails`. */
export interface Client extends Tools {
  build?: string[];
  start: string[];
  /** The program, which has the settings of the page. */
  program: string;
}

/** A row of the table in docs/senders/brokers/clients.md: what is set, and what becomes of each of the answers below. */
interface Row {
  set: string;
  outcomes: string[];
}

/** Of the webhooks: always, but for the 429. */
const answers: ReadonlyArray<EgressWebhook['answers'][number]> = [
  { status: 302, headers: { Location: 'https://elsewhere.example.com/' } },
  { status: 403 },
  { status: 429, headers: { 'Retry-After': '1' } },
  { status: 503 },
];
const event = { specversion: '1.0', id: '1', source: 'urn:example:clients', type: 'com.example.sent' };
const lines = readPage('docs/senders/brokers/clients.md').split('\n');

/** What a client makes of a webhook's responses behind `assent egress` is what its rows on the page say. */
export async function testClients(clients: readonly Client[]): Promise<void> {
  const all = await Promise.all(clients.map(async (client) => ({ client, tools: await install(client) })));
  const installed = all.flatMap(({ client, tools }) => ('missing' in tools ? [] : [{ client, tools }]));
  const seen = new Map<Client, Map<string, string[]>>();
  let egress: EgressStand | undefined;
  beforeAll(async () => {
    if (installed.length === 0) return;
    const stand = (egress = await startEgressStand());
    // They wait most of the time, so they wait together.
    const settled = await Promise.allSettled(
      installed.map(async ({ client, tools }) => seen.set(client, await seenBy(client, tools, stand))),
    );
    for (const each of settled) if (each.status === 'rejected') throw each.reason;
  });
  afterAll(async () => {
    await egress?.stop();
    for (const { tools } of installed) await tools.remove();
  });

  describe.each(all)('$client.name', ({ client, tools }) => {
    if ('missing' in tools) {
      test.skip(`not run: ${tools.missing}`, () => undefined);
      return;
    }
    const own = rowsOf(client);

    test.each(own)(
      'with $set, it takes a 204 for success, and other responses as the page says',
      ({ set, outcomes }) => {
        expect(seen.get(client)?.get(set)).toEqual(['returns, once', ...outcomes]);
      },
    );

    test('with what the page sets, a redirect of the webhook is a failure', () => {
      expect(seen.get(client)?.get(own.at(-1)?.set ?? '')?.[1]).toMatch(/^fails, /);
    });

    test('its program sets what the page says', async () => {
      const source = await readFile(join(tools.folder, client.program), 'utf8');
      for (const [, code] of own
        .map(({ set }) => set)
        .join()
        .matchAll(/`([^`]+)`/g))
        expect(source).toContain(code);
    });
  });
}

/** By what is set: the outcome and the number of requests, for a 204 and for each of the answers. */
async function seenBy(client: Client, tools: Installed, egress: EgressStand): Promise<Map<string, string[]>> {
  const own = rowsOf(client);
  const prefix = client.name.toLowerCase().replaceAll(/\W+/g, '-');
  const webhooks = await Promise.all(
    own.map((_, row) =>
      Promise.all(
        [undefined, ...answers].map(async (answer) => {
          const path = `${prefix}-${row}-${answer?.status ?? 204}`;
          const webhook = await egress.webhook(path);
          if (answer) webhook.answers.push(...Array<typeof answer>(answer.status === 429 ? 1 : 20).fill(answer));
          return { path: `/${path}`, webhook };
        }),
      ),
    ),
  );
  if (client.build) await tools.execute(client.build);
  const [plain = [], configured = []] = webhooks.map((each) => each.map(({ webhook }) => webhook.url));
  const printed = await tools.execute(client.start, {
    URLS: JSON.stringify({ plain, configured }),
    EVENT: JSON.stringify(event),
    HEADERS: JSON.stringify({
      Authorization: `Bearer ${egress.secret}`,
      'Content-Type': 'application/cloudevents+json',
    }),
  });
  const outcomes = JSON.parse(printed.split('\n').find((line) => line.startsWith('{')) ?? printed);
  const requests = (at: string) =>
    egress.registry.receiver.asked.filter(({ method, path }) => method === 'POST' && path === at).length;
  return new Map(
    own.map(({ set }, row) => [
      set,
      webhooks[row]!.map(({ path, webhook }) => `${outcomes[webhook.url]}, ${timesOf(requests(path))}`),
    ]),
  );
}

const timesOf = (count: number): string => ['never', 'once', 'twice'][count] ?? `${count} times`;

/** The first is the client as it comes. */
function rowsOf({ name }: Client): Row[] {
  return lines.flatMap((line) => {
    const [client, set = '', ...outcomes] = line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim());
    return client?.replaceAll('`', '') === name ? [{ set, outcomes }] : [];
  });
}
