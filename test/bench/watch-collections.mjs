// Loaded into a registry that is measured: tells the longest pause of a full collection since it was last asked.
import { constants, PerformanceObserver } from 'node:perf_hooks';

let longestms = 0;
const note = (list) => {
  for (const { detail, duration } of list.getEntries()) {
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) longestms = Math.max(longestms, duration);
  }
};
const observer = new PerformanceObserver(note);
observer.observe({ entryTypes: ['gc'] });

process.on('message', (message) => {
  if (message !== 'collections') return;
  // Entries are delivered a turn later.
  setTimeout(() => {
    process.send({ longestms });
    longestms = 0;
  }, 200);
});
process.channel?.unref();
