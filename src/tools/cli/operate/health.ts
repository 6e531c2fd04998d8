import { readConfig } from '../../../registry/app/config.js';
import type { Io } from '../command.js';

/** Resolves to the exit code of `assent health`. */
export async function checkHealth(
  { path, timeoutMs }: { path: string; timeoutMs: number },
  { stdout, stderr, env }: Pick<Io, 'stdout' | 'stderr' | 'env'>,
): Promise<number> {
  const { operations } = readConfig({
    ASSENT_OPERATIONS_HOST: env['ASSENT_OPERATIONS_HOST'],
    ASSENT_OPERATIONS_PORT: env['ASSENT_OPERATIONS_PORT'],
    // It must differ from that port.
    ASSENT_PORT: '0',
  });
  // A listener on every address of the machine is on loopback, too.
  const host = ['0.0.0.0', '::'].includes(operations.host) ? '127.0.0.1' : operations.host;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${operations.port}${path}`;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    const body = await response.text();
    (response.ok ? stdout : stderr).write(`${body}\n`);
    return response.ok ? 0 : 1;
  } catch (error) {
    const { message, cause } = error as Error;
    stderr.write(`${url}: ${cause instanceof Error ? cause.message : message}\n`);
    return 1;
  }
}
