import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { strip } from '../../.config/strip.mjs';

const globalsUrl = new URL('plain-globals.mjs', import.meta.url).href;

/** Hooks of Node's loader: TypeScript, and as `@jest/globals` those of the test file that runs. */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: globalsUrl, shortCircuit: true };
  if (/^\.\.?\/.*\.js$/.test(specifier)) {
    const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return await next(specifier, context);
}

export async function load(url, context, next) {
  if (!/\.ts(\?\d+)?$/.test(url)) return await next(url, context);
  const { code, map } = await strip(fileURLToPath(url.replace(/\?\d+$/, '')), { sourceMaps: true });
  const source = `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  return { format: 'module', source, shortCircuit: true };
}
