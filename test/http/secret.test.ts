import { expect, test } from '@jest/globals';
import { format, inspect } from 'node:util';
import pino from 'pino';
import { Secret } from '../../src/http/secret.js';

test('a secret is revealed on request and by nothing else', () => {
  const secret = new Secret('planted');
  const lines: string[] = [];
  pino({ base: null }, { write: (line) => void lines.push(line) }).info({ deep: { secret } }, `${secret} %o`, secret);
  const printed = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ deep: [secret] }, { showHidden: true, depth: null }),
    format('%s %o %j', secret, secret, secret),
    ...lines,
  ];
  expect(secret.reveal()).toBe('planted');
  for (const text of printed) expect(text).toContain('[secret]');
  expect(printed.join()).not.toContain('planted');
});
