// Makes the font that pages load: Inter in the characters of Western European languages, from regular to bold. It is
// under the SIL Open Font License 1.1, which its package has.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import subsetFont from 'subset-font';

const ranges = [
  [0x20, 0x7e],
  [0xa0, 0xff],
];
const others = '\u0131\u0152\u0153\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026\u20ac\u2122\u2191\u2193\u2212';
const characters = ranges.flatMap(([from, to]) =>
  Array.from({ length: to - from + 1 }, (_, place) => String.fromCodePoint(from + place)),
);
const source = await readFile('node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
await mkdir('dist', { recursive: true });
await writeFile(
  'dist/.inter.woff2',
  await subsetFont(source, characters.join('') + others, {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: 400, max: 700 } },
  }),
);
