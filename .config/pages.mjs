// Makes dist/pages/ for the registry to serve: the guides of docs/ and the reference of the contract, as HTML without
// the frame of the pages, and the files that pages load.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { Marked } from 'marked';
import { renderDiagram } from './diagrams.mjs';

const target = 'dist/pages';
/** Lists the guides in reading order, and is the page that lists them. */
const index = 'README.md';
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
 * text of the link stays. `imageOf` gives the address and the size of an image, and `diagramOf` draws one. What may be
 * wider than the page can be scrolled with the keyboard.
 */
function createMarkdown({ addressOf = (href) => href, imageOf = () => undefined, diagramOf = renderDiagram } = {}) {
  const slugOf = createSlugs();
  let diagrams = 0;
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
    image: ({ href, text }) => imageMarkup(imageOf(href), text),
    html: ({ text }) => {
      const { light, dark, words } = pictureIn(text) ?? {};
      if (light) return `<picture>${darkSource(imageOf(dark))}${imageMarkup(imageOf(light), words)}</picture>\n`;
      return text.startsWith('<!--') ? '' : text === '<br>' ? text : escape(text);
    },
    code({ text, lang }) {
      if (lang !== 'mermaid') return `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`;
      diagrams += 1;
      return `<figure class="diagram scroll" tabindex="0">${diagramOf(text, `diagram-${diagrams}`)}</figure>\n`;
    },
    table(token) {
      const row = (cells, tag) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`;
      // The rows of a table of codes are anchors, as headings are.
      const isOfCodes = token.header[0]?.text === 'code';
      const idOf = ([{ text }]) => (isOfCodes ? ` id="${escape(slugOf(text))}"` : '');
      const rows = token.rows.map((cells) => row(cells, 'td').replace('<tr>', `<tr${idOf(cells)}>`)).join('');
      return `<div class="scroll" tabindex="0">\n<table>\n<thead>\n${row(token.header, 'th')}</thead>\n<tbody>\n${rows}</tbody>\n</table>\n</div>\n`;
    },
  };
  const marked = new Marked({ gfm: true }, { renderer });
  return (text) => marked.parse(text);
}

/** A picture that differs in the dark, as GitHub shows it: only in this form. */
function pictureIn(html) {
  const form =
    /^<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>\s*$/;
  const [, dark, words, light] = form.exec(html) ?? [];
  return light && { dark, words, light };
}

const darkSource = (image) =>
  image === undefined ? '' : `<source media="(prefers-color-scheme: dark)" srcset="${escape(image.address)}">`;

const imageMarkup = (image, words) =>
  image === undefined
    ? escape(words)
    : `<img src="${escape(image.address)}" alt="${escape(words)}" width="${image.width}" height="${image.height}" loading="lazy">`;

/** Links to other guides lead to their pages; those to files that are none have no address here. */
function guideAddress(guides, from, href) {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href;
  const [path, fragment] = href.split('#');
  const file = posix.normalize(posix.join(posix.dirname(from), path));
  const page = file === '.' ? index : guides.includes(file) ? file : `${file.replace(/\/$/, '')}/README.md`;
  if (!guides.includes(page)) return undefined;
  const relative = posix.relative(posix.dirname(from), page === index ? '.' : page).replace(/\.md$/, '');
  const address = page === index ? `${relative === '' ? '.' : relative}/` : relative;
  return fragment === undefined ? address : `${address}#${fragment}`;
}

/** Only files that differ are written: a process may be running from dist/. */
async function write(files) {
  for (const [path, content] of files) {
    const bytes = Buffer.from(content);
    if ((await readFile(path).catch(() => undefined))?.equals(bytes)) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
}

/** Without the packages that an example has installed. */
const namesIn = async (folder) =>
  (await readdir(folder, { recursive: true }).catch(() => []))
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => !name.includes('node_modules/'))
    .sort();

const plain = (html) =>
  html
    .replace(/<(?:pre|figure|picture)\b[\s\S]*?<\/(?:pre|figure|picture)>/g, ' ')
    .replace(/<\/(?:p|li|td|th|h\d)>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();

/** The parts of a page: what stands before the first heading has the anchor ''. */
function sectionsOf(html) {
  const [start = '', ...rest] = html.split(/(?=<h[23] id=")/);
  const sections = rest.map((part) => {
    const [all, depth, id, name] = /^<h([23]) id="([^"]*)">(.*?)<\/h\1>/s.exec(part);
    return { depth: Number(depth), id, name: plain(name), text: plain(part.slice(all.length)) };
  });
  return [{ depth: 1, id: '', name: '', text: plain(start.replace(/<h1[\s\S]*?<\/h1>/, '')) }, ...sections];
}

/** The groups of docs/README.md, with the path and the name of each guide. */
function groupsOf(html) {
  const [, ...parts] = html.split(/(?=<h2 id=")/);
  return parts.map((part) => {
    const [, id, name] = /^<h2 id="([^"]*)">(.*?)<\/h2>/.exec(part);
    const guides = [...part.matchAll(/<a href="([^":#]+)">(.*?)<\/a>/g)].map(([, path, title]) => ({ path, title }));
    return { id, name, guides };
  });
}

/** Drawing takes a second, so that what was drawn is kept between builds. */
async function createDiagrams() {
  const path = 'dist/.diagrams.json';
  const version = createHash('sha256');
  for (const each of ['.config/diagrams.mjs', 'package-lock.json']) version.update(await readFile(each));
  const prefix = version.digest('hex');
  const kept = JSON.parse(await readFile(path, 'utf8').catch(() => '{}'));
  const used = {};
  return {
    draw(text, id) {
      const key = createHash('sha256').update(`${prefix} ${id} ${text}`).digest('hex');
      used[key] = kept[key] ?? renderDiagram(text, id);
      return used[key];
    },
    save: () => write([[path, JSON.stringify(used)]]),
  };
}

/** `renderReference` is that of src/registry/pages/, built. */
export async function buildPages(renderReference, bundles) {
  const names = (await namesIn('docs')).filter((name) => name.endsWith('.md'));
  const diagrams = await createDiagrams();
  /** By its path in docs/. */
  const images = new Map();
  for (const name of await namesIn('docs/images')) {
    if (name.endsWith('.png')) images.set(`images/${name}`, await readFile(join('docs/images', name)));
  }
  const shown = new Map();
  const pages = await Promise.all(
    names.map(async (name) => {
      const imageOf = (href) => {
        const file = posix.join(posix.dirname(name), href);
        const bytes = images.get(file);
        if (bytes === undefined) return undefined;
        shown.set(`${target}/assets/${file}`, bytes);
        const root = '../'.repeat(name === index ? 1 : name.split('/').length);
        return { address: `${root}assets/${file}`, width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
      };
      const addressOf = (href) => guideAddress(names, name, href);
      const markdown = createMarkdown({ addressOf, imageOf, diagramOf: diagrams.draw });
      const content = markdown(await readFile(join('docs', name), 'utf8'));
      const [, title = name] = /<h1[^>]*>(.*?)<\/h1>/s.exec(content) ?? [];
      return { path: name.replace(/\.md$/, ''), title: plain(title), content, sections: sectionsOf(content) };
    }),
  );
  const listed = pages.find(({ path }) => `${path}.md` === index);
  const guides = pages.filter((page) => page !== listed);
  const groups = groupsOf(listed.content);
  const order = groups.flatMap((group) => group.guides.map(({ path }) => path));
  const rank = ({ path }) => (order.includes(path) ? order.indexOf(path) : order.length);
  guides.sort((one, other) => rank(one) - rank(other));
  const found = guides.map(({ path, title, sections }) => [
    path,
    title,
    sections.map(({ id, name, text }) => [id, name, text]),
  ]);
  const assets = (await namesIn('src/registry/pages/assets'))
    .filter((name) => !name.endsWith('.css'))
    .map(async (name) => [`${target}/assets/${name}`, await readFile(`src/registry/pages/assets/${name}`)]);
  for (const [name, content] of bundles) assets.push([`${target}/assets/${name}`, content]);
  const contract = JSON.parse(await readFile('openapi/openapi.json', 'utf8'));
  const served = guides.map(({ sections, ...guide }) => ({
    ...guide,
    sections: sections.filter(({ depth }) => depth === 2).map(({ id, name }) => ({ id, name })),
  }));
  const files = [
    ...(await Promise.all(assets)),
    ...shown,
    [`${target}/assets/guides-index.json`, JSON.stringify(found)],
    [`${target}/guides.json`, JSON.stringify({ index: listed.content, groups, guides: served })],
    [`${target}/reference.json`, JSON.stringify(renderReference(contract, createMarkdown()))],
  ];
  await write(files);
  await diagrams.save();
  const kept = new Set(files.map(([path]) => path));
  const old = (await namesIn(target)).map((name) => `${target}/${name}`);
  await Promise.all(
    old.filter((path) => /\/(?:guides|assets)\/.*\.\w+$/.test(path) && !kept.has(path)).map((path) => rm(path)),
  );
}
