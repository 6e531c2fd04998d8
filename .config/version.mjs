import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The version is in package.json. These places repeat it, and `npm run release -- --version X.Y.Z` sets them all. */
const number = String.raw`\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?(?![.\d]*\d)`;
const places = [
  // The product, an image, a package or its file: assent:1.2.3, Assent/1.2.3, assent-sender-1.2.3.tgz.
  { in: /\.(?:md|ya?ml|service)$/, is: String.raw`(?<=\bassent(?:[/-][\w{},-]+?)?[-@:/ ]v?)${number}` },
  { in: /^publiccode\.yml$/, is: String.raw`(?<=^softwareVersion: )${number}` },
  { in: /^docs\/versioning\.md$/, is: String.raw`(?<=Semantic Versioning: .)${number}` },
  { in: /^docs\/operate\/chart\/Chart\.yaml$/, is: String.raw`(?<=^(?:v|appV)ersion: )${number}` },
  { in: /^docs\/operate\/kubernetes\.yaml$/, is: String.raw`(?<=app\.kubernetes\.io\/version: ')${number}` },
];

async function* files(root) {
  // The changelog is about other versions, too.
  const top = (await readdir(root)).filter((name) => /\.(?:md|ya?ml)$/.test(name) && name !== 'CHANGELOG.md');
  const docs = (await readdir(join(root, 'docs'), { recursive: true })).map((path) => `docs/${path}`);
  for (const path of [
    ...top,
    ...docs.filter((path) => /\.\w+$/.test(path) && !path.includes('node_modules/')),
  ].sort()) {
    const of = places.filter((place) => place.in.test(path));
    if (of.length > 0)
      yield {
        path,
        text: await readFile(join(root, path), 'utf8'),
        patterns: of.map(({ is }) => new RegExp(is, 'gim')),
      };
  }
}

/** Each mention of a version, with its file. */
export async function mentions(root) {
  const found = [];
  for await (const { path, text, patterns } of files(root)) {
    for (const pattern of patterns)
      found.push(...Array.from(text.matchAll(pattern), ([version]) => ({ path, version })));
  }
  return found;
}

export async function setMentions(root, version) {
  for await (const { path, text, patterns } of files(root)) {
    const changed = patterns.reduce((soFar, pattern) => soFar.replace(pattern, version), text);
    if (changed !== text) await writeFile(join(root, path), changed);
  }
}
