import { describe, expect, test } from '@jest/globals';
import { lintSubscription, judgeEvent } from '../../src/events/check-event.js';
import { readEvents, type EventRequest } from '../../src/events/read-events.js';
import { profileNames } from '../../src/consent/origin.js';
import { cpuTime } from '../support/cpu-time.js';
import { batched, binary, minimal, structured } from './message.js';

const mebibyte = 1024 * 1024;
const open = `{"specversion":"1.0","id":"1","source":"urn:a:b","type":"com.example.a"`;
/** Repeats `filler` until the body is just under 1 MiB. */
const fill = (before: string, filler: string, after: string) =>
  before + filler.repeat(Math.floor((mebibyte - before.length - after.length) / Buffer.byteLength(filler))) + after;
const extensions = (count: number, value: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => `,"a${index}":${value(index)}`).join('');

const messages: Record<string, EventRequest> = {
  'arrays nested 500,000 deep': structured(fill(`${open},"data":`, '[', '')),
  'objects nested 170,000 deep': structured(fill(`${open},"data":`, '{"a":', '')),
  'arrays nested deep for an event': structured('['.repeat(mebibyte)),
  'arrays nested deep in a batch': batched('['.repeat(mebibyte)),
  'a megabyte of data': structured(fill(`${open},"data":"`, 'x', '"}')),
  'a megabyte of escapes': structured(fill(`${open},"data":"`, '\\u0041', '"}')),
  'a megabyte of data that looks like JSON': structured(
    fill(`${open},"datacontenttype":"application/json","data":"`, '[', '"}'),
  ),
  'a megabyte of characters outside of ASCII': structured(fill(`${open},"data":"`, '😀', '"}')),
  'a megabyte of Base64': structured(fill(`${open},"data_base64":"`, 'aaaa', '"}')),
  'a megabyte of digits': structured(fill(`${open},"a":`, '1', '}')),
  'a megabyte of space': structured(fill(`${open}`, ' ', '}')),
  'a megabyte of one name': structured(fill(`${open},"`, 'a', '":1}')),
  'a megabyte of names in capitals': structured(`${open}${extensions(60_000, () => '1').replaceAll('a', 'A')}}`),
  'one name a hundred thousand times': structured(fill(open, ',"a":1', '}')),
  'the name __proto__ a hundred thousand times': structured(fill(open, ',"__proto__":1', '}')),
  'null a hundred thousand times': structured(`${open}${extensions(80_000, () => 'null')}}`),
  '80,000 attributes': structured(`${open}${extensions(80_000, () => '1')}}`),
  '60,000 attributes that are objects': structured(`${open}${extensions(60_000, () => '{}')}}`),
  'claim checks without end': structured(fill(`${open},"data":{"a":1`, ',"claimCheckUri":"urn:a:b"', '}}')),
  '10,000 attributes in headers': binary({
    ...Object.fromEntries(Object.entries(minimal).map(([name, value]) => [`ce-${name}`, value])),
    ...Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`ce-a${index}`, '%20'.repeat(20)])),
  }),
  '10,000 headers that cannot be decoded': binary(
    Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`ce-a${index}`, '"\\'.repeat(30)])),
  ),
  'a batch of a hundred events at fault': batched(
    Array.from({ length: 100 }, () => ({ A: 1, B: 1, data: 'x'.repeat(9_000) })),
  ),
  'a batch of half a million numbers': batched(`[${'1,'.repeat(mebibyte / 2 - 2)}1]`),
  'a traceparent, a token and a JWT without end': structured(
    `${open},"traceparent":"${'0'.repeat(200_000)}","a":"Bearer ${'x'.repeat(200_000)}","b":"eyJ${'a.'.repeat(100_000)}"}`,
  ),
};

// Attributes that could make a regular expression backtrack.
const fillers = [
  'a',
  '1',
  '.',
  '-',
  '-b',
  'a.',
  '1.',
  '.v1',
  '%2',
  '%41',
  ':',
  '/',
  '//',
  '[',
  '@',
  'é',
  '10.',
  '.local',
  '-bcdfghjkl',
  '0:',
  '::',
  'fd00:x:',
  'ip-10-',
  '://a',
  '://a@',
  '://%5B',
];
for (const filler of fillers) {
  const long = JSON.stringify(filler.repeat(100_000 / filler.length));
  const rest = '"specversion":"1.0","id":"1"';
  messages[`a URN of 100,000 ${filler}`] = structured(
    `{${rest},"type":"nl.a.b","source":"urn:nld:oin:${long.slice(1)}}`,
  );
  messages[`attributes of 100,000 ${filler}`] = structured(
    `{${rest},"source":${long},"type":${long},"time":${long},"dataschema":${long},"datacontenttype":${long},"service":${long},"sequence":${long}}`,
  );
}

describe('every profile judges in bounded time', () => {
  test.each(Object.keys(messages))('%s', (name) => {
    const request = messages[name] as EventRequest;
    const lists: Array<readonly unknown[]> = [];
    const judge = () => {
      const result = readEvents(request);
      if ('code' in result) lists.push(result.faults);
      for (const read of 'code' in result ? [] : result.events) {
        for (const profile of profileNames) {
          const { faults, warnings } = judgeEvent(profile, read);
          lists.push(faults, warnings);
        }
      }
    };
    expect(cpuTime(judge)).toBeLessThan(10_000);
    for (const list of lists) expect(list.length).toBeLessThanOrEqual(50);
  });
});

test('deep nesting is refused by name, and no stack overflows', () => {
  expect(readEvents(messages['arrays nested 500,000 deep'] as EventRequest)).toMatchObject({
    faults: [{ rule: 'too_deep' }],
  });
  expect(readEvents(messages['objects nested 170,000 deep'] as EventRequest)).toMatchObject({
    faults: [{ rule: 'too_deep' }],
  });
});

describe('an event of a batch that is too deep', () => {
  const good = `${open}}`;
  const deep = (data: string) => `${open},"data":${data}}`;
  const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const faults = (...events: string[]) => {
    const read = readEvents(batched(`[${events.join(' , ')}]`));
    if ('code' in read) return read.faults.map(({ rule }) => rule);
    return read.events.map((event) =>
      'event' in event ? [] : event.faults.map(({ pointer, rule }) => pointer + rule),
    );
  };

  test.each([
    ['arrays', deep(arrays(300))],
    ['objects', deep('{"a" : '.repeat(300) + '[ 1, "]}", {} ,[]]' + ' }'.repeat(300))],
    ['both', deep('[1,{"a":'.repeat(300) + 'null' + ',"b":-1.5e3},true]'.repeat(300))],
    ['an attribute', `${open},"a":${arrays(300)}}`],
    ['no event at all', arrays(300)],
    ['very deep', deep(arrays(200_000))],
  ])('is refused alone: %s', (_, event) => {
    expect(faults(good, event, good, event)).toEqual([[], ['/1too_deep'], [], ['/3too_deep']]);
  });

  test('must still be JSON, or the whole message is refused', () => {
    for (const data of ['['.repeat(300), '['.repeat(300) + ']'.repeat(299) + '}', `${'[{'.repeat(300)}}]`]) {
      expect(faults(good, deep(data), good)).toEqual(['not_json']);
    }
    for (const inner of ['1,', ',1', '1 1', '{a:1}', '{"a"}', '{"a":}', '{"a":1,}', '"', '"\\x"', 'nul', '01']) {
      expect(faults(deep('['.repeat(300) + inner + ']'.repeat(300)))).toEqual(['not_json']);
    }
  });
});

test('a subscription to long and unusual names is judged in bounded time', () => {
  const lint = () => {
    for (const profile of profileNames) {
      for (const filler of fillers) {
        const long = filler.repeat(100_000 / filler.length);
        lintSubscription(profile, { types: [long, `nl.${long}`], source: long });
      }
    }
  };
  expect(cpuTime(lint)).toBeLessThan(10_000);
});

test('no event changes what objects inherit', () => {
  readEvents(structured(`${open},"__proto__":{"polluted":true},"data":{"__proto__":{"polluted":true}}}`));
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
