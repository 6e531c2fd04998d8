// The search of the guides, in the index that the build made. Without this script, the lists of the page lead everywhere.
const form = document.querySelector('#guide-search');
const field = document.querySelector('#guide-words');
const panel = document.querySelector('#guide-found');
const count = document.querySelector('#guide-count');
const list = panel.querySelector('ol');
const { root } = form.dataset;
const most = 12;
const around = 70;

form.hidden = false;
document.querySelector('.contents [aria-current]')?.scrollIntoView({ block: 'nearest' });
scrollTo({ top: location.hash === '' ? 0 : scrollY });

let index;
/** Sections of all guides, in reading order. Loaded when the search is used for the first time. */
function load() {
  index ??= fetch(`${root}assets/guides-index.json`)
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(response.status))))
    .then((guides) =>
      guides.flatMap(([path, title, sections]) =>
        sections.map(([id, name, text]) => ({
          address: `${root}guides/${path}${id === '' ? '' : `#${id}`}`,
          title,
          name,
          text,
          low: { title: title.toLowerCase(), name: name.toLowerCase(), text: text.toLowerCase() },
        })),
      ),
    );
  index.catch(() => (index = undefined));
  return index;
}

/** Every word must occur; in a heading it weighs more. */
function weigh({ low, name }, words) {
  let weight = 0;
  for (const word of words) {
    const inTitle = low.title.includes(word);
    const inName = low.name.includes(word);
    const inText = low.text.includes(word);
    if (!inTitle && !inName && !inText) return 0;
    weight += (inName ? 6 : 0) + (inTitle ? (name === '' ? 8 : 2) : 0) + (inText ? 1 : 0);
  }
  if (low.name === words.join(' ')) weight += 10;
  return weight;
}

function marked(text, words) {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place >= 0);
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = first < around ? 0 : text.indexOf(' ', first - around) + 1;
  const piece = text.slice(from, first + 2 * around);
  const nodes = [from > 0 ? '… ' : ''];
  let at = 0;
  const lowPiece = piece.toLowerCase();
  for (;;) {
    const next = words
      .map((word) => [lowPiece.indexOf(word, at), word.length])
      .filter(([place]) => place >= 0)
      .sort(([one], [other]) => one - other)[0];
    if (next === undefined) break;
    const mark = document.createElement('mark');
    mark.textContent = piece.slice(next[0], next[0] + next[1]);
    nodes.push(piece.slice(at, next[0]), mark);
    at = next[0] + next[1];
  }
  return [...nodes, piece.slice(at), from + piece.length < text.length ? ' …' : ''];
}

function entryOf({ address, title, name, text }, words) {
  const entry = document.createElement('li');
  const link = document.createElement('a');
  link.href = address;
  const strong = document.createElement('strong');
  strong.textContent = name === '' ? title : `${title}: ${name}`;
  const line = document.createElement('span');
  line.append(...marked(text, words));
  link.append(strong, line);
  entry.append(link);
  return entry;
}

let latest = 0;
async function search() {
  const turn = (latest += 1);
  const asked = field.value.trim();
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) {
    panel.hidden = true;
    return;
  }
  const sections = await load().catch(() => undefined);
  if (turn !== latest) return;
  panel.hidden = false;
  list.replaceChildren();
  if (sections === undefined) {
    count.textContent = 'The search can’t be loaded now. The list of guides leads everywhere.';
    return;
  }
  const found = sections
    .map((section) => ({ section, weight: weigh(section, words) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  count.textContent =
    found.length === 0
      ? `Nothing found for “${asked}”. Try one word: a status, a header, a setting.`
      : `${found.length === 1 ? '1 section' : `${found.length} sections`}${found.length > most ? `, the best ${most}` : ''}`;
  list.append(...found.slice(0, most).map(({ section }) => entryOf(section, words)));
}

field.addEventListener('focus', () => void load().catch(() => undefined));
field.addEventListener('input', () => void search());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void search().then(() => list.querySelector('a')?.click());
});
const close = () => {
  latest += 1;
  panel.hidden = true;
};
list.addEventListener('click', close);
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget !== null && !form.contains(relatedTarget)) close();
});
document.addEventListener('pointerdown', ({ target }) => {
  if (!form.contains(target)) close();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = '';
    field.focus();
    close();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || panel.hidden) return;
  event.preventDefault();
  const stops = [field, ...list.querySelectorAll('a')];
  const next = stops[stops.indexOf(document.activeElement) + step];
  next?.focus();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
