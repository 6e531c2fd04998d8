import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadContract } from '../../../src/base/contract/contract.js';
import { startRegistry, type Client, type Registry } from '../../support/registry.js';

/** The examples that /docs shows, sent as they are. Those of a request and of its response have the same name. */
interface Shown {
  requestBody: { content: Record<string, { examples?: Record<string, Reference> }> };
  responses: { 200: { content: { 'application/json': { examples: Record<string, Reference> } } } };
}
interface Reference {
  $ref: string;
}

const { document } = loadContract();
const origin = 'eventemitter.example.com';
const sink = 'https://webhook.example.com/events';
let registry: Registry;
let client: Client;

beforeAll(async () => {
  registry = await startRegistry({ start: false });
  const admin = await registry.as('assent:admin');
  await admin.post('/v1/origins').send({ name: origin, isdefault: true }).expect(201);
  const expiresat = new Date(Date.now() + 86_400_000).toISOString();
  const grant = { origin, sink, allowedrate: 120, expiresat, agreement: 'an agreement' };
  await admin.post('/v1/grants').send(grant).expect(201);
  client = await registry.as(['assent:subscribe', 'assent:deliver']);
  await client.post('/v1/subscriptions').set('Prefer', 'respond-async').send({ sink, protocol: 'HTTP' }).expect(201);
});
afterAll(() => registry.stop());

const components = (document as unknown as { components: { examples: Record<string, { value: unknown }> } }).components;
const valueOf = (example: Reference | undefined) =>
  components.examples[example?.$ref.replace('#/components/examples/', '') ?? '']?.value;

const cases = ['/match', '/filters/check', '/events/check'].flatMap((path) => {
  const { requestBody, responses } = (document.paths[path] as unknown as { post: Shown }).post;
  const shown = responses[200].content['application/json'].examples;
  return Object.entries(requestBody.content).flatMap(([mediaType, { examples = {} }]) =>
    Object.entries(examples).map(([name, example]) => ({
      path,
      mediaType,
      name,
      body: valueOf(example),
      shown: valueOf(shown[name]),
    })),
  );
});

test.each(cases)(
  'POST $path with the example "$name" of $mediaType returns the example of the same name',
  async ({ path, mediaType, body, shown }) => {
    const answer = await client
      .post(`/v1${path}`)
      .set('Content-Type', mediaType)
      .send(JSON.stringify(body))
      .expect(200);
    expect(same(answer.body)).toEqual(same(shown));
  },
);

/** Replaces what differs from run to run. */
function same(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/"revision":"\d+"/g, '"revision":"<revision>"')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  return JSON.parse(text);
}
