import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { OpenApiDocument } from '../../../src/base/contract/document.js';
import { renderReference } from '../../../src/registry/pages/reference.js';

const contract = JSON.parse(
  readFileSync(new URL('../../../openapi/openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;
const operations = Object.values(contract.paths).flatMap((item) =>
  Object.values(item).flatMap((value) => (typeof value === 'object' && 'operationId' in value ? [value] : [])),
);
const markdown = (text: string) => `<p>${text.replaceAll('<', '&lt;')}</p>`;

const small: OpenApiDocument = {
  info: { version: '1', contact: { name: 'Us' }, description: 'Lead.\n\n## Later\n\nFolded.' },
  servers: [{ url: '/v1' }],
  tags: [{ name: 'Send' }, { name: 'Receive' }, { name: 'Also send' }, { name: 'Empty' }],
  'x-tagGroups': [
    { name: 'Senders', tags: ['Send', 'Also send'] },
    { name: 'Consumers', tags: ['Receive'] },
    { name: 'Admins', tags: ['Empty'] },
  ],
  paths: {
    '/a/{id}': {
      parameters: [{ $ref: '#/components/parameters/Id' }],
      post: {
        operationId: 'postA',
        tags: ['Send'],
        'x-tier': 'gateways',
        summary: 'Post <a>.',
        security: [{ oauth: ['assent:deliver'] }],
        parameters: [{ name: 'deep', in: 'query', schema: { type: 'boolean' } }],
        requestBody: {
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/A' },
              examples: { one: { summary: 'The first one', value: { a: '"<' } }, two: { value: { a: '2' } } },
            },
          },
        },
        responses: { '200': { description: 'Done.' }, default: { $ref: '#/components/responses/Problem' } },
      },
    },
    '/b': { get: { operationId: 'getB', tags: ['Receive'], security: [], responses: {} } },
    '/c': { get: { operationId: 'getC', tags: ['Also send'], security: [], responses: {} } },
  },
  components: {
    schemas: { A: { type: 'object', required: ['a'], properties: { a: { type: 'string', maxLength: 64 } } } },
    responses: { Problem: { description: 'Any problem.' } },
    securitySchemes: { oauth: { type: 'http', scheme: 'bearer' } },
    ...{ parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } } },
  },
};

describe('the reference', () => {
  const { navigation, introduction, operations: markup } = renderReference(small, markdown);

  test('has its operations by role, in the order of the contract', () => {
    const ids = [...markup.matchAll(/<(?:h2|h3|section class="operation") id="([\w-]+)"/g)].map(([, id]) => id);
    const expected = ['sender', 'tag-send', 'postA', 'tag-also-send', 'getC', 'consumer', 'tag-receive', 'getB'];
    expect(ids).toEqual([...expected, 'responses', 'types']);
    for (const id of expected) expect(navigation).toContain(`href="#${id}"`);
    expect(navigation).not.toContain('Empty');
  });

  test('says of each operation which tier it is in, with a link to what that promises', () => {
    expect(markup).toContain('Tier: <a href="guides/versioning#tiers">gateways</a>.');
  });

  test('shows the first part of the description, and folds the rest', () => {
    expect(introduction).toMatch(/^<p>Lead\.\s*<\/p><details>.*<p>## Later/s);
  });

  test('names every example, and what the texts of the contract contain is no markup', () => {
    expect(markup).toContain('<figcaption>The first one</figcaption>');
    expect(markup).toContain('<figcaption>two</figcaption>');
    expect(markup).toContain('Post &lt;a&gt;');
    expect(markup).toContain('&quot;a&quot;: &quot;\\&quot;&lt;&quot;');
    expect(markup).not.toMatch(/Post <a>|"<"/);
  });

  test('has a form with a field for every parameter, those of the path too, and a choice where values are few', () => {
    expect(markup).toContain('data-method="POST" data-path="v1/a/{id}"');
    expect(markup).toMatch(/<input id="postA-path-id" data-in="path" data-name="id" required/);
    expect(markup).toMatch(/<select id="postA-query-deep"[^>]*><option><\/option><option>true<\/option>/);
  });

  test('describes a type once, and links to it', () => {
    expect(markup).toContain('<a href="#type-A">A</a>');
    expect(markup.match(/id="type-A"/g)).toHaveLength(1);
    expect(markup).toContain('<span class="type">string, at most 64 characters · required</span>');
    expect(markup).toContain('href="#response-Problem"');
  });
});

test('every operation of the contract is in the reference once, with a form, and no id is there twice', () => {
  const { operations: markup } = renderReference(contract, markdown);
  const ids = [...markup.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(operations.length).toBeGreaterThan(30);
  for (const { operationId } of operations) expect(ids).toContain(operationId);
  expect(markup.match(/<form /g)).toHaveLength(operations.length);
});
