// Makes dist/pages/ for the registry to serve: the guides of docs/ and the reference of the contract, as HTML without
// the frame of the pages, and the files that pages load.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Marked } from 'marked';

const target = 'dist/pages';
const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/** As GitHub names headings. */
function createSlugs() {
  const seen = new Map();
  return (text) => {
    const slug = text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  };
}

/**
 * Markdown to HTML. `addressOf` turns the target of a link into its address, or undefined if there is no page; then the
 * text of the link stays. What may be wider than the page can be scrolled with the keyboard.
 */
function createMarkdown(addressOf = (href) => href) {
  const slugOf = createSlugs();
  const renderer = {
    heading({ tokens, depth }) {
      const content = this.parser.parseInline(tokens);
      const slug = slugOf(this.parser.parseInline(tokens, this.parser.textRenderer).replace(/<[^>]*>/g, ''));
      return `<h${depth} id="${escape(slug)}">${content}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const content = this.parser.parseInline(tokens);
      const address = addressOf(href);
      return address === undefined ? content : `<a href="${escape(address)}">${content}</a>`;
    },
    image: ({ text }) => escape(text),
    html: ({ text }) => (text.startsWith('<!--') ? '' : text === '<br>' ? text : escape(text)),
    code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`,
    table(token) {
      const row = (cells, tag) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`;
      const rows = token.rows.map((cells) => row(cells, 'td')).join('');
      return `<div class="scroll" tabindex="0">\n<table>\n<thead>\n${row(token.header, 'th')}</thead>\n<tbody>\n${rows}</tbody>\n</table>\n</div>\n`;
    },
  };
  const marked = new Marked({ gfm: true }, { renderer });
  return (text) => marked.parse(text);
}

/** Links to other guides lead to their pages; those to files that are none have no address here. */
function guideAddress(guides, from, href) {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href;
  const [path, fragment] = href.split('#');
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  if (!guides.includes(file)) return undefined;
  const address = posix.relative(posix.dirname(from), file).replace(/\.md$/, '');
  return fragment === undefined ? address : `${address}#${fragment}`;
}

/** Only files that differ are written: a process may be running from dist/. Resolves with those that belong there. */
async function write(files) {
  for (const [path, content] of files) {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === content) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}

/** Without the packages that an example has installed. */
const namesIn = async (folder) =>
  (await readdir(folder, { recursive: true }).catch(() => []))
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => !name.includes('node_modules/'))
    .sort();

/** `renderReference` is that of src/registry/pages/, built. */
export async function buildPages(renderReference, bundles) {
  const guides = (await namesIn('docs')).filter((name) => name.endsWith('.md'));
  const pages = guides.map(async (name) => {
    const markdown = createMarkdown((href) => guideAddress(guides, name, href));
    return [`${target}/guides/${name.replace(/\.md$/, '.html')}`, markdown(await readFile(join('docs', name), 'utf8'))];
  });
  const assets = (await namesIn('src/registry/pages/assets')).map(async (name) => [
    `${target}/assets/${name}`,
    await readFile(`src/registry/pages/assets/${name}`, 'utf8'),
  ]);
  for (const [name, text] of bundles) assets.push([`${target}/assets/${name}`, text]);
  const contract = JSON.parse(await readFile('openapi/openapi.json', 'utf8'));
  const reference = JSON.stringify(renderReference(contract, createMarkdown()));
  const files = await Promise.all([...pages, ...assets, [`${target}/reference.json`, reference]]);
  await mkdir(`${target}/guides`, { recursive: true });
  await write(files);
  const kept = new Set(files.map(([path]) => path));
  const old = (await namesIn(target)).map((name) => `${target}/${name}`);
  await Promise.all(
    old.filter((path) => /\/(?:guides|assets)\/.*\.\w+$/.test(path) && !kept.has(path)).map((path) => rm(path)),
  );
}
