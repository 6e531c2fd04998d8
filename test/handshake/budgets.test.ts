import { expect, test } from '@jest/globals';
import { domainOf } from '../../src/handshake/budgets.js';

test.each([
  ['example.com', 'example.com'],
  ['a.b.c.example.com', 'example.com'],
  ['hooks.shop.example.co.uk', 'example.co.uk'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['one.azurewebsites.net', 'one.azurewebsites.net'],
  ['co.uk', null],
  ['127.0.0.1', null],
])('%s shares the budget of the domain %s', (host, domain) => {
  expect(domainOf(host)).toBe(domain);
});
