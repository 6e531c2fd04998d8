import { readPage } from './markdown.js';

const section = readPage('CONTRIBUTING.md').split('\n## Where a change goes\n')[1]?.split('\n## ')[0] ?? '';

/** The files, folders and commands of each list in CONTRIBUTING, by what is new: `verdict`. */
export const changeLists: ReadonlyMap<string, readonly string[]> = new Map(
  section
    .split(/^(?=\*\*A )/m)
    .slice(1)
    .map((list) => [
      (/^\*\*A (?:new )?(.+?)\*\*/.exec(list)?.[1] ?? '').toLowerCase(),
      [...new Set([...list.matchAll(/`((?:npm run |\w[\w.-]*\/)[^`]*)`/g)].map(([, place = '']) => place))],
    ]),
);
