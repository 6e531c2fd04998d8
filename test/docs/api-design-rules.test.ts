import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from './markdown.js';

/** Of version 2.2.0 of the API Design Rules (Logius), in their order. */
const rules = `
  naming-resources
  naming-collections
  interface-language
  no-trailing-slash
  path-segments-kebab-case
  query-keys-camel-case
  hide-implementation
  date-time/format
  date-time/timezone
  date-time/date-omit-time-portion
  http-methods
  http-safety
  http-response-code
  stateless
  nested-child
  resource-operations
  error-handling/problem-details
  error-handling/invalid-input
  error-handling/all-errors
  doc-openapi
  doc-openapi-contact
  doc-language
  publish-openapi
  deprecation-schedule
  transition-period
  uri-version
  changelog
  semver
  version-header
  transport/tls
  transport/no-sensitive-uris
  transport/security-headers
  transport/cors
  modules/geospatial
  modules/signing
  modules/encryption
`;

test('the page for public bodies says of every rule of the API Design Rules whether Assent follows it, and why not or what shows it', () => {
  const page = readFileSync(join(root, 'docs/compliance/nl-gov.md'), 'utf8');
  const section = page.split(/^## /m).find((each) => each.startsWith('API Design Rules')) ?? '';
  const rows = [...section.matchAll(/^\| `([\w/-]+)` +\| (.+?) +\| (.+?) +\|$/gm)];
  expect(rows.map(([, rule]) => rule)).toEqual(rules.trim().split(/\s+/));
  for (const [, rule, follows, why = ''] of rows) {
    expect([rule, follows]).toEqual([rule, expect.stringMatching(/^(Yes|Yes, but|No)$/)]);
    for (const [path] of why.matchAll(/test\/[\w/.-]+\.ts/g))
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
  }
});
