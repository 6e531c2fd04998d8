import { expect, test } from '@jest/globals';
import { listenForNotifications } from '../../../src/registry/storage/listen.js';
import { WatchedPool } from '../../../src/registry/storage/watched-pool.js';

const connectionString = 'postgres://127.0.0.1:1/assent?sslmode=verify-full&sslrootcert=/nowhere/ca.pem';

test('a certificate file that is missing for a moment causes a retry, and not the end of the process', async () => {
  const stopping = new AbortController();
  const faults: unknown[] = [];
  const nothing = () => undefined;
  await listenForNotifications(
    {
      databaseUrl: connectionString,
      channel: 'assent_change',
      onWake: nothing,
      onConnect: nothing,
      onFault: (error) => {
        if (faults.push(error) === 2) stopping.abort();
      },
    },
    stopping.signal,
  );
  expect(faults).toMatchObject([{ code: 'ENOENT' }, { code: 'ENOENT' }]);
});

test('the same in a pool only rejects callers that need a connection', async () => {
  const pool = new WatchedPool({ connectionString });
  const asked = [pool.connect(), pool.query('select 1')];
  expect(await Promise.allSettled(asked)).toMatchObject([
    { status: 'rejected', reason: { code: 'ENOENT' } },
    { status: 'rejected', reason: { code: 'ENOENT' } },
  ]);
  await pool.end();
});
