import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConformanceProfile, Report, Side } from '../../conformance/case.js';
import type { Format } from '../../conformance/formats.js';
import { exitCodeOfReport, exitCodes, readBaseline } from '../../conformance/baseline.js';
import { casesOf, lowestLevels, selectCases } from '../../conformance/cases.js';
import { UsageError } from '../../../base/errors.js';
import { choice, flag, list, text, type CommandGroup, type Options, type Values } from '../command.js';
import type { RunSide } from './side.js';

const sides: Record<Side, () => Promise<RunSide>> = {
  receiver: async () => (await import('./conformance-receiver.js')).conformanceReceiver,
  sender: async () => (await import('./conformance-sender.js')).conformanceSender,
};

const profiles = ['cloudevents', 'nl-gov'] as const satisfies readonly ConformanceProfile[];

const formatNames = ['pretty', 'json', 'junit', 'markdown', 'html'] as const satisfies readonly Format[];

/** In seconds: for one response, and for the whole of what a sender does. */
const usualTimeouts: Record<Side, number> = { receiver: 10, sender: 60 };

const formatOption = choice(formatNames, 'pretty', 'How the report is printed');

/** Options of both sides. */
const runOptions = (side: Side): Options => ({
  case: list('ID', 'Only these cases, with commas between them'),
  level: choice(lowestLevels, 'info', 'Only cases of this level or a higher one'),
  profile: choice(profiles, 'cloudevents', 'What events and responses must follow'),
  baseline: text('FILE', 'The cases that are known to fail'),
  out: text('DIR', 'Where to write report.json, junit.xml, report.md and report.html'),
  timeout: text('SECONDS', side === 'receiver' ? 'For one response' : 'For all that the sender does', {
    default: String(usualTimeouts[side]),
  }),
  format: formatOption,
});

const notes = `Exit codes: 0 every MUST holds, or equals the baseline; 1 a MUST fails, or a known failure passes; 2 wrong usage;
  3 nothing could be evaluated; 4 a fault of the kit; 5 no consent was seen, and --expect refusal was not given.`;

export const conformanceCommand: CommandGroup = {
  summary: 'Tests a webhook, or what delivers to webhooks, against "HTTP 1.1 Web Hooks for Event Delivery".',
  subcommands: {
    receiver: {
      summary: 'Tests a webhook.',
      options: {
        sink: text('URL', 'The webhook', { required: true }),
        origin: text('NAME', 'An origin that the webhook consents to'),
        expect: choice(['consent', 'refusal'], 'consent', 'What the webhook is to do'),
        rate: text('N', 'Requests per minute to ask for', { default: '120' }),
        'callback-host': text('HOST:PORT', 'Where the webhook reaches this machine, for a callback URL'),
        deliver: flag('Deliver test events, too'),
        burst: flag('With --deliver: send a fifth more than the allowed rate at once'),
        ca: text('FILE', "The authority of the webhook's certificate"),
        token: text('TOKEN', 'The access token for deliveries'),
        key: list('FILE', 'A private key of the origin (JWK), which signs; a second one for R39'),
        'revoked-key': text('FILE', 'A private key that the origin no longer publishes, for R40'),
        ...runOptions('receiver'),
      },
      notes,
      examples: [
        'assent conformance receiver --sink https://hooks.example.org/events --origin eventemitter.example.com',
        'assent conformance receiver --sink https://hooks.example.org/events --deliver --case R01,R02 --out reports',
      ],
      run: (values, _, { env }) => tested('receiver', values, env),
    },
    sender: {
      summary: 'Tests what delivers to webhooks, which a command or a person starts.',
      options: {
        listen: text('HOST:PORT', 'Where the sender reaches this machine', { default: 'localhost:0' }),
        command: text('COMMAND', 'What makes the sender deliver to {url}. Needed unless --manual is given'),
        manual: flag('You make the sender deliver'),
        jwks: text('FILE|URL', 'The public keys of the sender (JWKS), for S16 and S17'),
        ...runOptions('sender'),
      },
      notes,
      examples: [
        "assent conformance sender --command './deliver {url}'",
        'assent conformance sender --manual --level must',
      ],
      run: (values, _, { env }) => tested('sender', values, env),
    },
    list: {
      summary: 'Lists the cases of both sides, or of one.',
      operands: { '[SIDE]': { type: 'string', choices: Object.keys(sides), help: 'Only of this side' } },
      options: {},
      examples: ['assent conformance list', 'assent conformance list sender'],
      run: (_, [side, ...others]) => listCases(side, others),
    },
    report: {
      summary: 'Prints the report of an earlier run.',
      operands: { FILE: { type: 'string', help: 'The report.json of the run' } },
      options: { format: formatOption },
      notes,
      examples: [
        'assent conformance report reports/report.json',
        'assent conformance report reports/report.json --format markdown > report.md',
      ],
      run: (values, [file, ...others]) => report(file, others, values),
    },
  },
};

async function tested(side: Side, values: Values, env: NodeJS.ProcessEnv): Promise<number> {
  try {
    return await execute(side, values, env);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return exitCodes.fault;
  }
}

async function execute(side: Side, values: Values, env: NodeJS.ProcessEnv): Promise<number> {
  const { version } = await import('../../../base/version.js');
  const ids = (values['case'] as string[]).flatMap((each) => each.split(',')).map((id) => id.trim().toUpperCase());
  const cases = selectCases(side, ids, values['level'] as (typeof lowestLevels)[number]);
  const profile = values['profile'] as (typeof profiles)[number];
  const format = await formatOf(values);
  const path = String(values['baseline']);
  const baseline = path === '' ? [] : readBaseline(side, await textOf(path));
  const timeout = Number(values['timeout']);
  if (!(timeout > 0 && timeout <= 86_400)) throw new UsageError('--timeout must be a number of seconds, up to 86400.');

  const run = await sides[side]();
  const startedAt = new Date();
  const { target, outcome } = await run({ cases, profile, timeoutMs: timeout * 1_000, env }, values);
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

async function listCases(side: string | undefined, others: readonly string[]): Promise<number> {
  if (others.length > 0 || (side !== undefined && side !== 'receiver' && side !== 'sender')) {
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

async function report(file: string | undefined, others: readonly string[], values: Values): Promise<number> {
  const { parseReport } = await import('../../conformance/formats.js');
  if (file === undefined || others.length > 0) throw new UsageError('Name the report.json of a run.');
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
