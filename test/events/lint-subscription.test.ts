import { expect, test } from '@jest/globals';
import { lintSubscription } from '../../src/events/check-event.js';
import type { Profile } from '../../src/consent/origin.js';

type Asked = Parameters<typeof lintSubscription>[1];

test.each<[Profile, Asked, string[], string[]]>([
  ['cloudevents', {}, [], []],
  ['cloudevents', { types: ['com.example.a'], source: 'https://a.example' }, [], []],
  [
    'cloudevents',
    { types: ['created'], source: '/a' },
    [],
    ['/types/0 cloudevents.type_reverse_domain', '/source cloudevents.source_absolute'],
  ],
  ['cloudevents', { types: ['com.example.a', 'a\n'] }, ['/types/1 cloudevents.attribute_text'], []],
  ['nl-gov', { subject: 'a\u{1ffff}' }, ['/subject cloudevents.attribute_text'], []],
  ['nl-gov', { subject: 'é 😀' }, [], []],
  ['cloudevents', { source: 'a b' }, ['/source cloudevents.source'], []],
  ['nl-gov', { types: ['nl.brp.persoon-gehuwd', 'gehuwd'] }, ['/types/1 nl-gov.type_reverse_domain'], []],
  ['nl-gov', { types: ['nl.brp.persoon-gehuwd.v2'] }, [], ['/types/0 nl-gov.type_version']],
  ['nl-gov', { source: 'https://example.nl' }, [], ['/source nl-gov.source_urn']],
  ['nl-gov', { source: 'urn:nld:oin:1:systeem:a' }, [], ['/source nl-gov.source_number']],
  [
    'intg-std-015',
    { types: ['OrderCreated'], source: 'https://orders.internal:8080' },
    [
      '/types/0 intg-std-015.type_pattern',
      '/types/0 intg-std-015.type_reverse_domain',
      '/source intg-std-015.source_internal',
      '/source intg-std-015.source_internal',
    ],
    [],
  ],
  [
    'intg-std-015',
    { types: ['com.example.order.created'], source: '//orders.example.com' },
    [],
    ['/source cloudevents.source_absolute'],
  ],
  ['belgif', { types: ['be.nsso.employer.v1.addresses.notify.updated'] }, [], []],
  ['belgif', { types: ['be.nsso.employer.v1.addresses.notify'] }, [], ['/types/0 belgif.type_notify']],
  ['belgif', { types: ['be.nsso.employer.updated'] }, [], ['/types/0 belgif.type_form']],
])('for %s, a subscription to %j has the faults %j and the warnings %j', (profile, asked, faults, warnings) => {
  const found = lintSubscription(profile, asked);
  const briefly = (list: typeof found.faults) => list.map(({ pointer, rule }) => `${pointer} ${rule}`);
  expect([briefly(found.faults), briefly(found.warnings)]).toEqual([faults, warnings]);
});

test('rules that need a whole event do not apply to a subscription', () => {
  expect(lintSubscription('belgif', { source: 'urn:a:b' })).toEqual({ faults: [], warnings: [] });
});

test('no list has more than fifty entries', () => {
  const types = Array.from({ length: 1000 }, (_, index) => `created${index}`);
  expect(lintSubscription('nl-gov', { types }).faults).toHaveLength(50);
});
