import { readFile } from 'node:fs/promises';
import { transform } from '@swc/core';

/** The path of what is built from a source. */
export const builtFrom = (source) => source.replace(/^src(.*)\.ts$/, 'dist$1.js');

/** Removes the types of a TypeScript file. Resolves to its code and, if it is wanted, its source map. */
export async function strip(source, { sourceMaps = false } = {}) {
  return transform(await readFile(source, 'utf8'), {
    configFile: false,
    swcrc: false,
    filename: source,
    sourceMaps,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2023', transform: { verbatimModuleSyntax: true } },
  });
}
