import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadContract } from '../../src/http/contract.js';
import { startRegistry, type Client, type Registry } from '../support/registry.js';

/** The examples of the API reference, sent unchanged. */
interface Shown {
  requestBody: { content: Record<string, { example?: unknown }> };
  responses: { 200: { content: { 'application/json': { example?: unknown; examples?: Record<string, Example> } } } };
}
interface Example {
  value: unknown;
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
  const grant = { origin, sink, allowedrate: 120, expiresat, reference: 'an agreement' };
  await admin.post('/v1/grants').send(grant).expect(201);
  client = await registry.as(['assent:subscribe', 'assent:deliver']);
  await client.post('/v1/subscriptions').set('Prefer', 'respond-async').send({ sink, protocol: 'HTTP' }).expect(201);
});
afterAll(() => registry.stop());

const cases = ['/match', '/filters/test', '/events/validate'].flatMap((path) => {
  const { requestBody, responses } = (document.paths[path] as unknown as { post: Shown }).post;
  const { example, examples = {} } = responses[200].content['application/json'];
  const answers = [example, ...Object.values(examples).map(({ value }) => value)].filter((each) => each !== undefined);
  return Object.entries(requestBody.content)
    .filter(([, content]) => content.example !== undefined)
    .map(([mediaType, content], place) => [path, mediaType, content.example, answers[place]] as const);
});

test.each(cases)(
  'POST %s with the example of %s gets the documented response',
  async (path, mediaType, body, shown) => {
    const answer = await client
      .post(`/v1${path}`)
      .set('Content-Type', mediaType)
      .send(JSON.stringify(body))
      .expect(200);
    expect(same(answer.body)).toEqual(same(shown ?? cases.find(([other]) => other === path)?.[3]));
  },
);

/** Replaces values that differ between runs. */
function same(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/"revision":"\d+"/g, '"revision":"<revision>"')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  return JSON.parse(text);
}
