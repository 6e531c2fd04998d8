import { expect, test } from '@jest/globals';
import { Readers, type ReaderKind } from '../../../src/registry/changes/readers.js';

const limits = { perProcess: 3, perTenant: 2, snapshots: 2, snapshotsPerTenant: 1 };

test('streams and polls share a limit, snapshots have their own, and a reader that leaves makes room', () => {
  const readers = new Readers(limits);
  const admit = (kind: ReaderKind, tenant: string) => {
    const gone = new AbortController();
    readers.admit(kind, tenant, gone.signal);
    return () => gone.abort();
  };
  const leaveStream = admit('stream', 'one');
  admit('poll', 'one');
  expect(() => admit('poll', 'one')).toThrow(expect.objectContaining({ code: 'too_many_readers' }));
  admit('stream', 'two');
  expect(() => admit('poll', 'three')).toThrow(expect.objectContaining({ code: 'feed_full' }));

  const leaveSnapshot = admit('snapshot', 'one');
  expect(() => admit('snapshot', 'one')).toThrow(expect.objectContaining({ code: 'too_many_readers' }));
  admit('snapshot', 'two');
  expect(() => admit('snapshot', 'three')).toThrow(expect.objectContaining({ code: 'feed_full' }));

  for (const leave of [leaveStream, leaveSnapshot]) leave();
  admit('poll', 'one');
  admit('snapshot', 'three');
  expect([readers.count('stream'), readers.count('poll'), readers.count('snapshot')]).toEqual([1, 2, 2]);
});
