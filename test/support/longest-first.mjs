import Sequencer from '@jest/test-sequencer';

/** Without earlier runs Jest sorts by size, and would run slow tests, which are often short files, last. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const isSlow = ({ path }) => Number(/\.slow\.|\/interop\//.test(path));
    return super.sort(tests).sort((one, other) => isSlow(other) - isSlow(one));
  }
}
