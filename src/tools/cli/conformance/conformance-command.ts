import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConformanceProfile, Report, Side } from '../../conformance/case.js';
import type { Format } from '../../conformance/formats.js';
import { exitCodeOfReport, exitCodes, readBaseline } from '../../conformance/baseline.js';
import { casesOf, lowestLevels, selectCases } from '../../conformance/cases.js';
import { UsageError } from '../../../base/errors.js';
import { choice, flag, text, type Command, type Values } from '../command.js';
import type { RunSide } from './side.js';

const sides: Record<Side, () => Promise<RunSide>> = {
  receiver: async () => (await import('./conformance-receiver.js')).conformanceReceiver,
  sender: async () => (await import('./conformance-sender.js')).conformanceSender,
};

const profiles = ['cloudevents', 'nl-gov'] as const satisfies readonly ConformanceProfile[];

const formatNames = ['pretty', 'json', 'junit', 'markdown', 'html'] as const satisfies readonly Format[];

/** In seconds: for one response, and for the whole of what a sender does. */
const usualTimeouts: Record<Side, number> = { receiver: 10, sender: 60 };

/** Options of one side, which would do nothing for the other. */
const optionsOf: Record<Side, readonly string[]> = {
  receiver: ['sink', 'origin', 'expect', 'rate', 'callback-host', 'deliver', 'burst', 'ca', 'token'],
  sender: ['listen', 'command', 'manual'],
};

export const conformanceCommand: Command = {
  usage: `  conformance receiver --sink URL [--origin NAME] [--expect consent|refusal] [--rate N] [--callback-host HOST:PORT]
         [--deliver] [--burst] [--ca FILE] [--token TOKEN]
  conformance sender [--listen HOST:PORT] --command 'CMD {url}' | --manual
  conformance list [receiver|sender]
  conformance report FILE [--format pretty|json|junit|markdown|html]
      Tests a webhook, or what delivers to webhooks, against "HTTP 1.1 Web Hooks for Event Delivery". Both sides take
      --case ID,ID (or repeat it), --level must|should|info, --profile cloudevents|nl-gov, --baseline FILE,
      --out DIR, --timeout SECONDS and --format. --out writes report.json, junit.xml, report.md and report.html.
      Exit codes: 0 every MUST holds, or equals the baseline; 1 a MUST fails, or a known failure passes; 2 wrong usage;
      3 nothing could be evaluated; 4 a fault of the kit; 5 no consent was seen, and --expect refusal does not say that
      none is to be.
`,
  options: {
    case: { type: 'string', multiple: true, default: [] },
    level: choice(lowestLevels, 'info'),
    profile: choice(profiles, 'cloudevents'),
    baseline: text(''),
    out: text(''),
    timeout: text(''),
    format: choice(formatNames, 'pretty'),
    sink: text(''),
    origin: text(''),
    expect: choice(['consent', 'refusal'], 'consent'),
    rate: text('120'),
    'callback-host': text(''),
    deliver: flag,
    burst: flag,
    ca: text(''),
    token: text(''),
    listen: text('localhost:0'),
    command: text(''),
    manual: flag,
  },
  takesFiles: true,
  async run(values, [what = '', file, ...others]) {
    if (others.length > 0) throw new UsageError(`There is nothing to do with ${others[0]}.`);
    if (what === 'list') return list(file);
    if (what === 'report') return report(file, values);
    if (what !== 'receiver' && what !== 'sender') {
      throw new UsageError('Say what to do: assent conformance receiver, sender, list or report.');
    }
    if (file !== undefined) throw new UsageError(`There is nothing to do with ${file}.`);
    try {
      return await execute(what, values);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      return exitCodes.fault;
    }
  },
};

async function execute(side: Side, values: Values): Promise<number> {
  const foreign = optionsOf[side === 'receiver' ? 'sender' : 'receiver'].find(
    (name) => values[name] !== conformanceCommand.options[name]?.default,
  );
  if (foreign !== undefined) throw new UsageError(`--${foreign} is not an option for a ${side}.`);
  const { version } = await import('../../../base/version.js');
  const ids = (values['case'] as string[]).flatMap((each) => each.split(',')).map((id) => id.trim().toUpperCase());
  const cases = selectCases(side, ids, values['level'] as (typeof lowestLevels)[number]);
  const profile = values['profile'] as (typeof profiles)[number];
  const format = await formatOf(values);
  const path = String(values['baseline']);
  const baseline = path === '' ? [] : readBaseline(side, await textOf(path));
  const timeout = Number(values['timeout'] || usualTimeouts[side]);
  if (!(timeout > 0 && timeout <= 86_400)) throw new UsageError('--timeout must be a number of seconds, up to 86400.');

  const run = await sides[side]();
  const startedAt = new Date();
  const { target, outcome } = await run({ cases, profile, timeoutMs: timeout * 1_000, env: process.env }, values);
  const finished: Report = {
    side,
    target,
    profile,
    startedat: startedAt.toISOString(),
    ...(await outcome),
    duration: Date.now() - startedAt.getTime(),
    version,
    baseline,
  };
  if (values['out'] !== '') await writeReports(String(values['out']), finished);
  process.stdout.write(format(finished));
  return exitCodeOfReport(finished);
}

async function writeReports(folder: string, finished: Report): Promise<void> {
  const { formats, reportFiles } = await import('../../conformance/formats.js');
  await mkdir(folder, { recursive: true });
  for (const [name, format] of Object.entries(reportFiles)) {
    await writeFile(join(folder, name), formats[format](finished));
  }
}

async function list(side: string | undefined): Promise<number> {
  if (side !== undefined && side !== 'receiver' && side !== 'sender') {
    throw new UsageError('List the cases of a receiver or of a sender.');
  }
  const { levelWords } = await import('../../conformance/formats.js');
  const cases = side === undefined ? [...casesOf.receiver, ...casesOf.sender] : casesOf[side];
  const lines = cases.map(
    ({ id, level, section, title }) => `${id}  ${levelWords[level].padEnd(6)}  ${section.padEnd(14)}  ${title}\n`,
  );
  process.stdout.write(lines.join(''));
  return exitCodes.conforms;
}

async function report(file: string | undefined, values: Values): Promise<number> {
  const { parseReport } = await import('../../conformance/formats.js');
  if (file === undefined) throw new UsageError('Name the report.json of a run.');
  const format = await formatOf(values);
  const content = await textOf(file);
  let parsed: Report;
  try {
    parsed = parseReport(content);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  process.stdout.write(format(parsed));
  return exitCodeOfReport(parsed);
}

async function formatOf(values: Values) {
  const { formats } = await import('../../conformance/formats.js');
  return formats[values['format'] as Format];
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: Error) => {
    throw new UsageError(`${path} cannot be read: ${error.message}`);
  });
}
