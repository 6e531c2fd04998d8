import Sequencer from '@jest/test-sequencer';

/**
 * Files that take long, mostly because they wait. Without earlier runs Jest sorts by size, and would run them last. The
 * Go programs of `receivers` are compiled before those of `examples` and `generators`, which use the same cache.
 */
const longest = [
  'packages',
  'receivers/receivers',
  'handshake/kill',
  'docs/blocks',
  'packages',
  'sender/replica',
  'process',
  'cli/demo',
  'handshake/races',
  'changes/feed',
  'deliveries/shared-rate',
  'stop',
  'sender/permits',
  'outage',
  'storage/outage',
  'read-only',
  'examples/examples',
  'http/operations',
  'changes/follower',
  'pages/browser',
  'generators/generators',
  'handshake/limits',
];

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const place = longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? longest.length : place;
    };
    return super.sort(tests).sort((one, other) => rank(one) - rank(other));
  }
}
