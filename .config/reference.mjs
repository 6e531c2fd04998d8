// Writes the tables of docs/ that come from the code, between <!-- generated: NAME --> and <!-- end -->. Columns that the
// code doesn't know are written by hand: they stay as they are, and an empty one is a fault. Run it by `npm run reference`;
// with --check it writes nothing, and fails if a table is stale (test/docs/reference.test.ts).
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = (path) => import(new URL(`../dist/${path}`, import.meta.url).href);

const inTests = (path) => readFile(join(root, 'test', path), 'utf8');

const code = (text) => `\`${text}\``;
/** A text may be English only, or absent. */
const inEnglish = (text = '') => (typeof text === 'string' ? text : text.en);
const inDutch = (text = '') => (typeof text === 'string' ? '' : text.nl);

/** Such as `--callback offer|never`. */
const optionOf = (name, { choices, required }) =>
  code([`--${name}`, choices?.join('|')].filter(Boolean).join(' ')) + (required ? ' (required)' : '');

/** The documents of test/events/coverage.md, with how many of their sentences a rule enforces. */
function coverageOf(text) {
  const [, ...documents] = text.split('\n## Decisions')[0].split('\n### ');
  return documents.map((section) => {
    const rows = section.split('\n').filter((line) => line.startsWith('| ') && !/^\| (?:section|-)/.test(line));
    const enforced = rows.filter((row) => cellsOf(row).at(-1).includes('`'));
    return [section.split(/\n|, with/)[0], rows.length, enforced.length, rows.length - enforced.length].map(String);
  });
}

/** As many tables as there are names. `rows` begin with what stands in the first column, which names the row. */
async function tablesOf() {
  const [{ problems }, { verdicts, mistakes }, { settings }, { courses, withValues }] = await Promise.all([
    built('base/problems.js'),
    built('consent/verdicts.js'),
    built('registry/app/config.js'),
    built('base/texts/verdicts.js'),
  ]);
  const [{ ownCourses, statusDetailCodes }, { Metrics }, { allRules }, { messageFaults }] = await Promise.all([
    built('consent/status.js'),
    built('registry/probes/metrics.js'),
    built('events/check-event.js'),
    built('events/read-events.js'),
  ]);
  const [{ receiverCases, senderCases }, { levelWords }] = await Promise.all([
    built('tools/conformance/cases.js'),
    built('tools/conformance/formats.js'),
  ]);
  const casesOf = (cases) => ({
    head: ['case', 'level', 'section', 'guarantee'],
    rows: cases.map(({ id, level, section, title }) => [id, levelWords[level], section, title]),
  });
  const { registry } = new Metrics({
    lagSeconds: async () => 0,
    inFlight: () => 0,
    indexSize: () => undefined,
    indexSecondsBehind: () => 0,
    feedReaders: () => ({}),
  });
  const [{ commands }, { formOf, optionText, explanationOf }, { commonOptions }] = await Promise.all([
    built('tools/cli/assent.js'),
    built('tools/cli/help.js'),
    built('tools/cli/resources/resource-commands.js'),
  ]);
  const { EgressMetrics } = await built('tools/egress/metrics.js');
  const ofEgress = new EgressMetrics({ inFlight: () => 0, age: () => 0 });
  const metricsOf = (from) => ({
    head: ['metric', 'type', 'labels'],
    byHand: ['meaning'],
    rows: from
      .getMetricsAsArray()
      .filter(({ name }) => name.startsWith('assent_'))
      .map(({ name, type, labelNames = [] }) => [code(name), type, labelNames.map(code).join(', ')]),
  });
  const profiles = [...new Set(allRules.map(({ id }) => id.split('.')[0]))];
  const listed = Object.entries(verdicts);
  const example = { origin: 'eventemitter.example.com' };
  /** What happened, what happens next, and the lines to send. */
  const sectionOf = ([name, { label, title, advice, course, outcome }]) => {
    const { status, next } = courses[course];
    const filled = advice && withValues(advice, example);
    const lines = [...inEnglish(filled).matchAll(/WebHook-Allowed-(?:Origin|Rate): [\w.]*\w/g)].map(([line]) => line);
    return [
      `#### ${code(name)}`,
      escaped(inEnglish(title)),
      [
        `- **Status:** ${status.map(code).join(', then ')}${outcome === undefined ? '' : `; counted as ${code(outcome)}`}.`,
        `- **In lists:** ${inEnglish(label)} (${inDutch(label)}).`,
        `- **Next:** ${next}`,
        ...(filled === undefined ? [] : [`- **Change:** ${escaped(inEnglish(filled))}`]),
        ...(lines.length === 0 ? [] : ['- [The same in your framework](#the-lines-in-your-framework)']),
      ].join('\n'),
      ...(lines.length === 0 ? [] : [['```http', ...lines, '```'].join('\n')]),
      `_${escaped([inDutch(title), inDutch(filled)].join(' ').trim())}_`,
    ].join('\n\n');
  };
  const { glossary } = await built('base/texts/glossary.js');
  const accessible = JSON.parse(await inTests('support/accessible-pages.json'));
  return {
    glossary: {
      head: ['term', 'in Dutch', 'meaning'],
      rows: glossary.map(({ en, nl, meaning }) => [en, nl, meaning]),
    },
    commands: {
      head: ['command', 'does', 'options'],
      rows: Object.entries(commands)
        .flatMap(([name, command]) =>
          'subcommands' in command
            ? Object.entries(command.subcommands).map(([sub, each]) => [`${name} ${sub}`, each])
            : [[name, command]],
        )
        .map(([name, command]) => [
          code(`assent ${formOf(name, command)}`),
          command.summary,
          Object.entries(command.options)
            .filter(([, option]) => !Object.values(commonOptions).includes(option))
            .map(([option, each]) => optionOf(option, each))
            .join(', '),
        ]),
    },
    'options of several commands': {
      head: ['option', 'meaning'],
      rows: Object.entries(commonOptions).map(([name, option]) => [
        code(optionText(name, option)),
        explanationOf(option),
      ]),
    },
    errors: {
      head: ['code', 'status', 'when', 'title', 'title in Dutch'],
      rows: Object.entries(problems).map(([name, { status, when, title }]) => [
        code(name),
        String(status),
        when,
        title.en,
        title.nl,
      ]),
    },
    ...Object.fromEntries(
      ['headers', 'webhook', 'network', 'nobody'].map((fixer) => [
        `verdicts fixed by ${fixer}`,
        {
          text: listed
            .filter(([, { fixedBy }]) => fixedBy === fixer)
            .map(sectionOf)
            .join('\n\n'),
        },
      ]),
    ),
    'codes of a status': {
      text: Object.entries(ownCourses)
        .map(([own, course]) => sectionOf([own, { ...statusDetailCodes[own], course }]))
        .join('\n\n'),
    },
    warnings: {
      head: ['warning', 'what Assent accepted'],
      rows: Object.entries(mistakes).map(([mistake, sentence]) => [code(mistake), inEnglish(sentence)]),
    },
    settings: {
      head: ['name', 'default', 'range'],
      byHand: ['meaning'],
      rows: settings.map(({ name, default: usual, range }) => [code(name), usual === '' ? 'none' : code(usual), range]),
    },
    metrics: metricsOf(registry),
    'metrics of the egress': metricsOf(ofEgress.registry),
    'receiver cases': casesOf(receiverCases),
    'sender cases': { ...casesOf(senderCases), byHand: ['the webhook'] },
    coverage: {
      head: ['document', 'sentences', 'enforced by a rule', 'no rule'],
      rows: coverageOf(await inTests('events/coverage.md')),
    },
    'accessible pages': {
      head: ['page', 'what it is', 'tested in'],
      rows: accessible.map((page) => [code(page.address), page.en, page.languages.join(', ')]),
    },
    'toegankelijke pagina’s': {
      head: ['pagina', 'wat het is', 'getest in'],
      rows: accessible.map((page) => [code(page.address), page.nl, page.languages.join(', ')]),
    },
    'message faults': {
      head: ['fault', 'sentence'],
      rows: Object.entries(messageFaults).map(([fault, sentence]) => [code(fault), sentence]),
    },
    ...Object.fromEntries(
      profiles.map((profile) => [
        `rules of ${profile}`,
        {
          head: ['rule', 'level', 'sentence', 'document', 'section'],
          rows: allRules
            .filter(({ id }) => id.startsWith(`${profile}.`))
            .map(({ id, level, source, sentence }) => [code(id), level, sentence, source.document, source.section]),
        },
      ]),
    ),
  };
}

/** What would be markup outside of `code`. */
function escaped(cell) {
  return cell
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll(/[*<]/g, '\\$&')))
    .join('')
    .replaceAll('|', '\\|');
}

const cellsOf = (line) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The number of rows of a table that is split over several places is what is there; new rows go to the last place. */
function filled(name, text, { head, byHand = [], rows, text: whole }, places) {
  if (whole !== undefined) return whole;
  const written = new Map(
    text
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map((line) => [cellsOf(line)[0], cellsOf(line).slice(-byHand.length)]),
  );
  const here = rows.filter(
    ([key]) => places.total === 1 || written.has(key) || (places.isLast && !places.seen.has(key)),
  );
  for (const [key] of here) places.seen.add(key);
  const lines = here.map(([key, ...cells]) => {
    const kept = byHand.length > 0 ? (written.get(key) ?? byHand.map(() => '')) : [];
    if (kept.some((cell) => cell === '')) faults.push(`${name}: ${key} lacks ${byHand.join(' or ')}`);
    return `| ${[...[key, ...cells].map(escaped), ...kept].join(' | ')} |`;
  });
  const names = [...head, ...byHand];
  return [`| ${names.join(' | ')} |`, `|${names.map(() => ' --- |').join('')}`, ...lines].join('\n');
}

const faults = [];
const check = process.argv.includes('--check');
const tables = await tablesOf();
const pages = (await readdir(join(root, 'docs'), { recursive: true })).filter((path) => path.endsWith('.md')).sort();
const placed = new Set();
for (const page of pages) {
  const path = join(root, 'docs', page);
  const text = await readFile(path, 'utf8');
  const marked = /(<!-- generated: (.+?) -->\n)([\s\S]*?)(<!-- end -->)/g;
  const names = [...text.matchAll(marked)].map(([, , name]) => name);
  if (names.length === 0) continue;
  const seen = Object.fromEntries(names.map((name) => [name, new Set()]));
  let at = 0;
  const next = text.replaceAll(marked, (_whole, begin, name, body, end) => {
    at += 1;
    const table = tables[name];
    if (table === undefined) throw new Error(`${page}: there is no table "${name}".`);
    placed.add(name);
    const places = {
      total: names.filter((other) => other === name).length,
      isLast: !names.slice(at).includes(name),
      seen: seen[name],
    };
    return `${begin}\n${filled(`docs/${page}`, body, table, places)}\n\n${end}`;
  });
  const pretty = await format(next, { ...(await resolveConfig(path)), filepath: path });
  if (pretty === text) continue;
  if (check) faults.push(`docs/${page} is stale: npm run reference`);
  else await writeFile(path, pretty);
}
for (const name of Object.keys(tables)) if (!placed.has(name)) faults.push(`No page has the table "${name}".`);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
