import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createAuthority, type Certificate } from '../../conformance/authority.js';
import type { Case, ConformanceProfile, Report } from '../../conformance/case.js';
import { openKeyFile } from '../../../base/files/key-file.js';
import type { Values } from '../command.js';

/** Common to both sides. */
export interface ConformanceRun {
  cases: readonly Case[];
  profile: ConformanceProfile;
  timeoutMs: number;
  env: NodeJS.ProcessEnv;
}

/** Runs the cases of one side. Throws a UsageError for options that contradict each other. */
export type RunSide = (
  run: ConformanceRun,
  values: Values,
) => Promise<{ target: string; outcome: Promise<Pick<Report, 'results' | 'consent' | 'expect'>> }>;

const identity = z.object({ ca: z.string(), cert: z.string(), key: z.string() });
const tenYears = 3_650;

/**
 * The certificate of the conformance kit on this host, and the file with its authority. Both stay the same from run to
 * run, so that what is tested can trust them before.
 */
export async function openIdentity(folder: string, host: string): Promise<Certificate & { caFile: string }> {
  const create = async () => {
    const authority = await createAuthority(`Assent conformance kit on ${host}`, tenYears);
    return { ca: authority.cert, ...(await authority.issue([...new Set([host, 'localhost', '127.0.0.1'])])) };
  };
  const file = join(folder, `conformance-${host}`);
  const { ca, cert, key } = await openKeyFile(`${file}.json`, create, (content) => identity.parse(content));
  await writeFile(`${file}.pem`, ca);
  return { cert, key, caFile: `${file}.pem` };
}
