import { inPages, overPages } from '../storage/retention.js';
import type { Query } from '../storage/database.js';

/**
 * Deletes minutes and hosts after a day, and the rest after a year; a little later, so that a whole day and year can be
 * read.
 */
export async function forgetStatistics(query: Query): Promise<void> {
  await overPages(
    query,
    'host_statistic',
    `delete from host_statistic where ${inPages} and startsat < now() - interval '25 hours'`,
  );
  await overPages(
    query,
    'statistic',
    `delete from statistic where ${inPages}
       and (step = 'minute' and startsat < now() - interval '25 hours' or startsat < now() - interval '367 days')`,
  );
}
