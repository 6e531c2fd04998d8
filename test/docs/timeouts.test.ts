import { expect, test } from '@jest/globals';
import { readingMs } from '../../src/registry/changes/snapshot.js';
import { readPage } from './markdown.js';

/** How long the registry may send nothing, in seconds: the longest long poll, and the first line of a snapshot. */
const longPoll = (): number => {
  const { paths } = JSON.parse(readPage('openapi/openapi.json'));
  const parameters: Array<{ name?: string; schema?: { maximum: number } }> = paths['/changes'].get.parameters;
  return parameters.find(({ name }) => name === 'wait')?.schema?.maximum ?? Infinity;
};
const snapshot = readingMs / 1_000;

const secondsIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

test('the proxies that we show wait longer than the registry is silent', () => {
  for (const page of ['docs/examples/nginx/nginx.conf', 'docs/operate/nginx.conf']) {
    const nginx = readPage(page);
    const ofNginx = (path: string) =>
      secondsIn(nginx, new RegExp(`location = ${path} \\{[^}]*proxy_read_timeout (\\d+)s;`));
    expect(ofNginx('/v1/changes')).toBeGreaterThan(longPoll());
    expect(ofNginx('/v1/snapshot')).toBeGreaterThan(snapshot);
  }
  const haproxy = secondsIn(readPage('.config/haproxy.cfg'), /timeout server (\d+)s/);
  expect(haproxy).toBeGreaterThan(Math.max(longPoll(), snapshot));
});
