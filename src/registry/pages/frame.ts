import { landingTexts } from '../../base/texts/landing.js';
import { textIn, type Language } from '../../base/texts/text.js';
import { escapeHtml } from '../http/html-page.js';

/** All comes from this registry; nothing in the page itself is run, and no other page may frame it. */
export const framePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface Page {
  language: Language;
  title: string;
  /** From the page to the root, because a proxy may have put a path in front: empty, or `../` for each folder. */
  root: string;
  /** Which entry of the menu it is. */
  place: '' | 'docs' | 'guides/';
  /** Markup. */
  content: string;
  /** Markup of a list of links, shown beside the content. */
  contents?: string;
  /** What the list is called, if it is not of this page. */
  contentsName?: string;
  /** Markup above that list. */
  finder?: string;
  /** Runs a script of the assets. */
  script?: string;
}

/** A page of the registry, with the menu that all of them have. */
export function frame(page: Page): Buffer {
  const { language, title, root, place, content, contents, finder, script } = page;
  const { menu, skip, onThisPage } = landingTexts.frame;
  const entries = (['console', 'docs', 'guides/'] as const).map(
    (address) =>
      `<a href="${root}${address}"${address === place ? ' aria-current="true"' : ''}>${textIn(menu[address], language)}</a>`,
  );
  const main = `<main id="content" tabindex="-1">\n${content}\n</main>`;
  const body =
    contents === undefined
      ? main
      : `<div class="columns">\n<div class="beside">\n${finder ?? ''}<nav class="contents" id="contents" aria-label="${page.contentsName ?? textIn(onThisPage, language)}">\n${contents}\n</nav>\n</div>\n${main}\n</div>`;
  return Buffer.from(`<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${root}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}assets/base.css">
<link rel="stylesheet" href="${root}assets/pages.css">
${script === undefined ? '' : `<script type="module" src="${root}assets/${script}"></script>\n`}<a class="skip" href="#content">${textIn(skip, language)}</a>
<header class="banner"><nav aria-label="Assent">
<a class="name" href="${root === '' ? './' : root}"><img src="${root}assets/icon.svg" alt="" width="24" height="24">Assent</a>
${entries.join('\n')}
</nav></header>
${body}
</html>
`);
}
