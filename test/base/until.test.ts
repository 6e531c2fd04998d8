import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';
import { LinkedController, sleep, until, whenAborted } from '../../src/base/until.js';

const never = new Promise<string>(() => {});
const aborted = () => AbortSignal.abort(new Error('before'));
const soon = () => {
  const controller = new AbortController();
  queueMicrotask(() => controller.abort(new Error('later')));
  return controller.signal;
};

test.each([
  ['the result of the work', Promise.resolve('done'), {}, 'done'],
  ['the result, though a time is set', Promise.resolve('done'), { ms: 2 ** 40 }, 'done'],
  ['undefined after the time', never, { ms: 1 }, undefined],
  ['undefined after a negative time', never, { ms: -1 }, undefined],
  ['undefined without work, after the time', undefined, { ms: 1 }, undefined],
  ['undefined for a signal that has fired', never, { signals: [undefined, null, aborted()] }, undefined],
  [
    'undefined for the first of two signals that fires',
    never,
    { signals: [new AbortController().signal, soon()] },
    undefined,
  ],
])('until resolves to %s', async (_what, work, limits, expected) => {
  expect(await until(work, limits)).toBe(expected);
});

test('until rejects as its work does', async () => {
  await expect(until(Promise.reject(new Error('no')), { ms: 60_000 })).rejects.toThrow('no');
});

test('a sleep ends early with its signal, and never rejects', async () => {
  await sleep(2 ** 40, soon());
  await sleep(2 ** 40, aborted());
  await sleep(1);
});

test('no wait leaves a listener behind', async () => {
  const { signal } = new AbortController();
  const end = new AbortController();
  const waits = [
    until(Promise.resolve(), { signals: [signal] }),
    until(Promise.reject(new Error('no')), { signals: [signal] }).catch(() => undefined),
    sleep(1, signal),
    until(never, { signals: [signal, end.signal] }),
  ];
  whenAborted([signal], () => {})();
  whenAborted([signal, end.signal], () => {});
  const linked = [
    new LinkedController([signal]),
    new LinkedController([signal, end.signal]),
    new LinkedController([signal], 1),
  ];
  expect(getEventListeners(signal, 'abort')).toHaveLength(8);
  linked[0]?.abort();
  end.abort();
  await Promise.all(waits);
  await until(undefined, { signals: [linked[2]?.signal] });
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  expect(getEventListeners(end.signal, 'abort')).toHaveLength(0);
});

test('a linked controller fires with the reason of the first signal, at once if one has fired', () => {
  const first = new AbortController();
  const linked = new LinkedController([undefined, first.signal, new AbortController().signal], 60_000);
  expect(linked.signal.aborted).toBe(false);
  first.abort('reason');
  expect(linked.signal.reason).toBe('reason');
  expect(new LinkedController([aborted()], 60_000).signal.reason).toEqual(new Error('before'));
});
