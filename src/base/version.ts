import { createRequire } from 'node:module';

/** Of the package, from src/ as from dist/. */
export const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
