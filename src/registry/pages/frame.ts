import { landingTexts } from '../../base/texts/landing.js';
import { textIn, type Language } from '../../base/texts/text.js';
import { htmlPage, type Site } from '../http/html-page.js';

interface Page {
  site: Site;
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
  /** Markup at the end of the menu. */
  more?: string;
  /** Runs a script of the assets. */
  script?: string;
}

/** A page of the registry, with the menu that all of them have. */
export function frame(page: Page): Buffer {
  const { language, root, place, content, contents, finder, more = '' } = page;
  const { menu, menuLabel, onThisPage } = landingTexts.frame;
  const entries = (['guides/', 'docs', 'console'] as const).map(
    (address) =>
      `<a href="${root}${address}"${address === place ? ' aria-current="true"' : ''}>${textIn(menu[address], language)}</a>\n`,
  );
  const main = `<main id="content" tabindex="-1">\n${content}\n</main>`;
  const body =
    contents === undefined
      ? main
      : `<div class="columns">\n<div class="beside">\n${finder ?? ''}<nav class="contents" id="contents" aria-label="${page.contentsName ?? textIn(onThisPage, language)}">\n${contents}\n</nav>\n</div>\n${main}\n</div>`;
  return Buffer.from(
    htmlPage({
      ...page,
      content: body,
      menu: `<nav aria-label="${textIn(menuLabel, language)}">\n${entries.join('')}${more}</nav>\n`,
    }),
  );
}
