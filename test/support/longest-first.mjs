import Sequencer from '@jest/test-sequencer';

/** Files that take long because they wait. Without earlier runs Jest sorts by size, and would run them last. */
const longest = [
  'receivers/receivers',
  'handshake/kill',
  'handshake/races',
  'changes/follower',
  'sender/replica',
  'deliveries/shared-rate',
  'process',
  'http/operations',
  'changes/feed',
  'docs/blocks',
  'cli/demo',
  'sender/permits',
  'read-only',
  'outage',
  'storage/outage',
  'examples/examples',
  'pages/browser',
  'stop',
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
