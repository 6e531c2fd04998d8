// How long things take, in a process that is not alone on its machine: medians of rounds, and every single call where a
// percentile is wanted.
import { performance } from 'node:perf_hooks';

export const round2 = (value) => Math.round(value * 100) / 100;

export function median(values) {
  return percentile(values, 0.5);
}

export function percentile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

/** Calls a second, as the median of rounds; `call` gets the number of the call. */
export function callsPerSecond(call, { rounds = 5, roundMs = 200, max = Infinity } = {}) {
  const perSecond = [];
  let number = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const before = number;
    let elapsed;
    do {
      // Looking at the clock costs as much as a tenth of a call.
      for (let i = 0; i < Math.min(64, max); i += 1) call(number++);
      elapsed = performance.now() - start;
    } while (elapsed < roundMs);
    perSecond.push(((number - before) * 1000) / elapsed);
  }
  return median(perSecond);
}

/** Microseconds of each of `count` calls. */
export function eachMicroseconds(call, count) {
  const times = new Float64Array(count);
  for (let number = 0; number < count; number += 1) {
    const start = performance.now();
    call(number);
    times[number] = (performance.now() - start) * 1000;
  }
  return times;
}

export function memory() {
  for (let i = 0; i < 3; i += 1) globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return { heapUsed, arrayBuffers, all: heapUsed + arrayBuffers };
}

/** How even the machine is: the same work forty times; the slowest tenth against the fastest, as a ratio. */
export function noise() {
  const times = eachMicroseconds(() => {
    let sum = 0;
    for (let i = 0; i < 3e6; i += 1) sum = (sum + i * i) % 1_000_003;
    return sum;
  }, 40);
  return percentile(times, 0.9) / percentile(times, 0);
}
