import { expect, test } from '@jest/globals';
import { fitsRows, rulesFrom } from '../../src/console/pages/origins/rule-rows.js';

test.each<[string, Parameters<typeof rulesFrom>[0], object[]]>([
  ['nothing', [], []],
  [
    'one that limits everything',
    [{ subscriber: 'a', types: ['t'], source: 's', subject: 'x' }],
    [{ name: 'a', subscribers: ['a'], types: ['t'], sources: ['s'], subjects: ['x'] }],
  ],
  [
    'what one of two leaves open',
    [
      { subscriber: 'a', types: ['t', 'u'], source: 's' },
      { subscriber: 'a', types: ['t'], subject: 'x' },
      { subscriber: 'b', types: [], source: 's' },
      { subscriber: 'b', source: 'r' },
    ],
    [
      { name: 'a', subscribers: ['a'], types: ['t', 'u'] },
      { name: 'b', subscribers: ['b'], sources: ['r', 's'] },
    ],
  ],
  [
    'equal limits',
    [{ subscriber: 'c', types: ['u', 't'] }, { subscriber: 'a', types: ['t', 'u'] }, { subscriber: 'b'.repeat(200) }],
    [
      { name: 'a +1', subscribers: ['a', 'c'], types: ['t', 'u'] },
      { name: 'b'.repeat(94), subscribers: ['b'.repeat(200)] },
    ],
  ],
])('rules from present subscriptions: %s', (_, subscriptions, rules) => {
  expect(rulesFrom(subscriptions)).toEqual(rules);
});

test.each<[boolean, unknown]>([
  [true, []],
  [true, [{ name: 'a', types: ['t'], claims: { department: [7] }, unknown: 1 }]],
  [true, [{ name: 'a', types: [] }]],
  [false, {}],
  [false, [null]],
  [false, [[]]],
  [false, [{ types: ['t'] }]],
  [false, [{ name: 'a', types: 't' }]],
  [false, [{ name: 'a', types: [1] }]],
  [false, [{ name: 'a', types: [''] }]],
  [false, [{ name: 'a', types: ['t', 't'] }]],
])('whether rows can show rules: %s for %j', (isShown, rules) => {
  expect(fitsRows(rules)).toBe(isShown);
});
