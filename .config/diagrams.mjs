// Draws the Mermaid diagrams of docs/ as SVG that stands in a page: no script, no style of its own, colours of the page
// (src/registry/pages/assets/pages.css). `beautiful-mermaid` draws flow charts, states and tables. Sequences and lines of
// time are drawn here: it lets long messages run over each other, and knows no lines of time.
import { parseMermaid, renderMermaidSVG } from 'beautiful-mermaid';

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/** For a font that is wide, because the reader's is not known. */
const widthOf = (text, size = 13) => text.length * size * 0.6;

/** `id` is unique in the page. The text must have `accTitle` and `accDescr`: they are read to those who do not see it. */
export function renderDiagram(source, id) {
  const accessible = /^\s*(accTitle|accDescr)\s*:\s*(.+)$/gm;
  const texts = Object.fromEntries([...source.matchAll(accessible)].map(([, name, text]) => [name, text.trim()]));
  if (!texts.accTitle || !texts.accDescr) throw new Error(`A diagram needs accTitle and accDescr:\n${source}`);
  const text = source.replace(accessible, '').replace(/\n\s*\n/g, '\n');
  const [kind] = text.trim().split(/\s/);
  const draw = { sequenceDiagram: drawSequence, timeline: drawTimeline }[kind] ?? drawGraph;
  const { width, height, content } = draw(text.trim());
  const title = `<title id="${id}-title">${escape(texts.accTitle)}</title><desc id="${id}-desc">${escape(texts.accDescr)}</desc>`;
  const arrow = `<marker id="${id}-arrow" markerWidth="9" markerHeight="7" refX="8" refY="3.5" orient="auto-start-reverse"><path class="head" d="M0 0 9 3.5 0 7z"/></marker>`;
  const size = `viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" width="${Math.ceil(width)}" height="${Math.ceil(height)}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-labelledby="${id}-title" aria-describedby="${id}-desc">${title}<defs>${arrow}</defs>${content
    .replaceAll('url(#arrow)', `url(#${id}-arrow)`)
    .replace(/\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1))))}</svg>`;
}

function drawGraph(text) {
  // It draws what it does not understand as an empty picture.
  if (/^(?:flowchart|graph|stateDiagram)/.test(text) && parseMermaid(text).nodes.size === 0)
    throw new Error(`This diagram is empty:\n${text}`);
  const svg = renderMermaidSVG(text, { padding: 8, nodeSpacing: 28, layerSpacing: 44 });
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg);
  const content = svg
    .replace(/^<svg[^>]*>|<\/svg>\s*$|<style>[\s\S]*?<\/style>|<defs>[\s\S]*?<\/defs>/g, '')
    .replace(/ (?:style|data-[\w-]+)="[^"]*"/g, '')
    .replace(/url\(#[\w-]+\)/g, 'url(#arrow)')
    .replace(/\n\s*/g, '');
  return { width: Number(width), height: Number(height), content };
}

const line = (x1, y1, x2, y2, name, more = '') =>
  `<line class="${name}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"${more}/>`;
const box = (x, y, width, height, name) =>
  `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="${height}" rx="4"/>`;
const label = (x, y, text, { anchor = 'middle', size = 13, name = 'text' } = {}) =>
  `<text class="${name}" x="${x}" y="${y}" text-anchor="${anchor}" font-size="${size}">${escape(text)}</text>`;

/** Participants, messages, notes over them, and blocks (alt, else, loop, opt). Other lines are refused. */
function drawSequence(text) {
  const names = [];
  const titles = new Map();
  const add = (name, title = name) => {
    if (titles.has(name)) return;
    titles.set(name, title);
    names.push(name);
  };
  const steps = [];
  for (const each of text
    .split('\n')
    .slice(1)
    .map((one) => one.trim())) {
    const [, participant, , title] = /^(?:participant|actor) (\w+)( as (.+))?$/.exec(each) ?? [];
    const [, from, arrow, to, message] = /^(\w+)\s*(-?->>)\s*(\w+)\s*:\s*(.+)$/.exec(each) ?? [];
    const [, over, second, note] = /^Note over (\w+)(?:,\s*(\w+))?\s*:\s*(.+)$/.exec(each) ?? [];
    const [, block, condition = ''] = /^(alt|else|loop|opt|end)\b\s*(.*)$/.exec(each) ?? [];
    if (participant) add(participant, title);
    else if (message) {
      add(from);
      add(to);
      steps.push({ from, to, text: message, isReply: arrow === '-->>' });
    } else if (note) {
      add(over);
      steps.push({ from: over, to: second ?? over, text: note, isNote: true });
    } else if (block) steps.push({ block, text: condition });
    else if (each !== '') throw new Error(`A sequence is not drawn with "${each}".`);
  }
  const place = (name) => names.indexOf(name);
  /** Between the life lines; each message and note must fit. */
  const gaps = names.slice(1).map((name, index) => {
    const [left, right] = [names[index], name].map((one) => widthOf(titles.get(one), 14) / 2 + 16);
    return left + right + 24;
  });
  let [before, after] = [widthOf(titles.get(names[0]), 14) / 2 + 16, widthOf(titles.get(names.at(-1)), 14) / 2 + 16];
  const widen = (first, last, width) => {
    const missing = width - gaps.slice(first, last).reduce((sum, gap) => sum + gap, 0);
    for (let gap = first; gap < last && missing > 0; gap += 1) gaps[gap] += missing / (last - first);
  };
  const spans = steps
    .filter(({ from }) => from !== undefined)
    .map((step) => ({ ...step, ends: [place(step.from), place(step.to)].sort((a, b) => a - b) }))
    .sort((a, b) => a.ends[1] - a.ends[0] - (b.ends[1] - b.ends[0]));
  for (const { ends, text: words, isNote } of spans) {
    if (ends[0] !== ends[1]) widen(ends[0], ends[1], widthOf(words) + 28);
    else if (isNote) {
      const half = widthOf(words) / 2 + 14;
      if (ends[0] === 0) before = Math.max(before, half);
      else widen(ends[0] - 1, ends[0], half + 10);
      if (ends[0] === names.length - 1) after = Math.max(after, half);
      else widen(ends[0], ends[0] + 1, half + 10);
    }
  }
  const hasBlocks = steps.some(({ block }) => block);
  const margin = hasBlocks ? 22 : 8;
  const xs = [before + margin];
  for (const gap of gaps) xs.push(xs.at(-1) + gap);
  const xOf = (name) => xs[place(name)];
  const width = xs.at(-1) + after + margin;

  const parts = [];
  const frames = [];
  const open = [];
  let y = 58;
  for (const { block, text: words, from, to, isReply, isNote } of steps) {
    if (block === 'end') {
      const { top, kind, first } = open.pop();
      frames.unshift(box(4, top, width - 8, y - top + 6, 'frame'));
      frames.push(label(14, top + 17, `${kind}: ${first}`, { anchor: 'start', name: 'strong' }));
      y += 18;
    } else if (block === 'else') {
      frames.push(line(4, y + 6, width - 4, y + 6, 'life'));
      frames.push(label(14, y + 23, `else: ${words}`, { anchor: 'start', name: 'strong' }));
      y += 28;
    } else if (block) {
      open.push({ top: y, kind: block, first: words });
      y += 22;
    } else if (isNote) {
      const [left, right] = [xOf(from), xOf(to)].sort((a, b) => a - b);
      const half = Math.max((right - left) / 2 + 40, widthOf(words) / 2 + 12);
      const middle = from === to ? left : (left + right) / 2;
      const wide = from === to ? widthOf(words) / 2 + 12 : half;
      parts.push(box(middle - wide, y + 8, wide * 2, 26, 'note'), label(middle, y + 25, words));
      y += 40;
    } else if (from === to) {
      throw new Error(`A message to itself is not drawn: ${words}`);
    } else {
      const ends = [xOf(from), xOf(to)];
      y += 36;
      parts.push(label((ends[0] + ends[1]) / 2, y - 7, words, { name: 'message' }));
      parts.push(line(ends[0], y, ends[1], y, isReply ? 'reply' : 'edge', ' marker-end="url(#arrow)"'));
    }
  }
  const bottom = y + 18;
  const lives = names.map((name) => line(xOf(name), 40, xOf(name), bottom, 'life'));
  const heads = names.map((name) => {
    const half = widthOf(titles.get(name), 14) / 2 + 14;
    return (
      box(xOf(name) - half, 8, half * 2, 34, 'box') +
      label(xOf(name), 30, titles.get(name), { size: 14, name: 'strong' })
    );
  });
  return { width, height: bottom + 4, content: [...frames, ...lives, ...parts, ...heads].join('') };
}

/** `when : what : what`, one line for each time. */
function drawTimeline(text) {
  const times = text
    .split('\n')
    .slice(1)
    .map((each) => each.split(/\s+:\s+/).map((one) => one.trim()))
    .filter(([when]) => when !== '');
  const wrap = (words) =>
    words.split(' ').reduce((lines, word) => {
      const last = lines.at(-1);
      if (last !== undefined && last.length + word.length < 18) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
      return lines;
    }, []);
  const column = 158;
  const middle = (index) => 8 + column * (index + 0.5);
  const parts = [line(8, 52, 8 + column * times.length, 52, 'edge', ' marker-end="url(#arrow)"')];
  let bottom = 0;
  for (const [index, [when, ...what]] of times.entries()) {
    const x = middle(index);
    parts.push(label(x, 28, when, { size: 14, name: 'strong' }), `<circle class="point" cx="${x}" cy="52" r="6"/>`);
    let y = 70;
    for (const lines of what.map(wrap)) {
      const height = lines.length * 17 + 14;
      parts.push(box(x - column / 2 + 5, y, column - 10, height, 'box'));
      for (const [at, one] of lines.entries()) parts.push(label(x, y + 19 + at * 17, one));
      y += height + 8;
    }
    bottom = Math.max(bottom, y);
  }
  return { width: 16 + column * times.length, height: bottom, content: parts.join('') };
}
