import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * A folder for this user only, with those above it, unless they are there. `mkdir` with `recursive` never ends where
 * the system says of a folder that is there that it is not, as it does for whatever is made below `/proc`.
 */
export async function makeFolder(path: string): Promise<void> {
  const make = () => mkdir(path, { mode: 0o700 });
  try {
    await make().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      await makeFolder(dirname(path));
      await make();
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
  }
}
