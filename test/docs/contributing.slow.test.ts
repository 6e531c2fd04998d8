import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { changeLists } from './change-lists.js';
import { root } from './markdown.js';

type Edit = readonly [file: string, before: string, after: string];

const contract = 'src/base/contract/contract.gen.ts';
const columns = 'src/registry/subscriptions/columns.ts';

/** The files of the program that don't compile after an edit in memory. */
function brokenBy(edits: readonly Edit[]): string[] {
  const broken = ['tsconfig.json', 'src/console/tsconfig.json'].flatMap((config) => {
    const onUnRecoverableConfigFileDiagnostic = ({ messageText }: ts.Diagnostic) => {
      throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
    };
    const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic };
    const { options, fileNames } = ts.getParsedCommandLineOfConfigFile(join(root, config), {}, host)!;
    const edited = editedBy(edits);
    const compilerHost = ts.createCompilerHost(options);
    const { getSourceFile } = compilerHost;
    compilerHost.getSourceFile = (name, settings) => {
      const text = edited.get(name);
      return text === undefined ? getSourceFile(name, settings) : ts.createSourceFile(name, text, settings, true);
    };
    const program = ts.createProgram(fileNames, options, compilerHost);
    return program.getSemanticDiagnostics().map(({ file }) => (file?.fileName ?? '').replace(root, ''));
  });
  return [...new Set(broken)].sort();
}

function editedBy(edits: readonly Edit[]): Map<string, string> {
  const edited = new Map<string, string>();
  for (const [file, before, after] of edits) {
    const path = join(root, file);
    const text = edited.get(path) ?? readFileSync(path, 'utf8');
    expect([file, before, text.split(before).length - 1]).toEqual([file, before, 1]);
    edited.set(path, text.replace(before, after));
  }
  return edited;
}

const member = (schema: string): Edit => [
  contract,
  `\n        ${schema}: {\n`,
  `\n        ${schema}: {\n            madeup?: string | undefined;\n`,
];

/** Edits at the first places of a list, and what doesn't compile then: no file twice. */
const cases: ReadonlyArray<[name: string, edits: readonly Edit[], broken: readonly string[]]> = [
  [
    'state of a handshake',
    [
      ['src/consent/handshake.ts', '  due: true,\n', '  due: true,\n  madeup: true,\n'],
      [contract, 'HandshakeState: Open<"due"', 'HandshakeState: Open<"madeup" | "due"'],
      [contract, 'HandshakeStateChoice: "due"', 'HandshakeStateChoice: "madeup" | "due"'],
    ],
    ['src/console/pages/subscriptions/subscription-timeline.tsx'],
  ],
  [
    'code of a status',
    [['src/consent/status.ts', "type OwnCode = 'ended'", "type OwnCode = 'madeupcode' | 'ended'"]],
    ['src/consent/status.ts'],
  ],
  [
    'verdict',
    [['src/consent/verdicts.ts', "  | 'callback_granted'\n", "  | 'madeup'\n  | 'callback_granted'\n"]],
    ['src/consent/verdicts.ts'],
  ],
  [
    'column of a subscription',
    [
      [columns, '  source: string | undefined;\n', '  madeup: string | undefined;\n  source: string | undefined;\n'],
      [
        columns,
        "  source: { column: 'source' },\n",
        "  madeup: { column: 'source' },\n  source: { column: 'source' },\n",
      ],
      ...['Subscription', 'SubscriptionRequest', 'SubscriptionRegistration'].map(member),
    ],
    ['src/registry/subscriptions/definition.ts'],
  ],
  [
    'filter operator',
    [
      [
        'src/matching/filters/filter.ts',
        '  suffix: (text',
        '  madeup: (text, value) => text.includes(value),\n  suffix: (text',
      ],
    ],
    ['src/matching/index/instructions.ts'],
  ],
  [
    'endpoint',
    [[contract, 'export interface operations {', "export interface operations {\n  madeUp: operations['getGrant'];"]],
    ['src/registry/app/api.ts'],
  ],
  [
    'profile of events',
    [
      ['src/consent/origin.ts', "'belgif'] as const", "'belgif', 'madeup'] as const"],
      [contract, 'Profile: Open<"cloudevents"', 'Profile: Open<"madeup" | "cloudevents"'],
      [contract, 'ProfileChoice: "cloudevents"', 'ProfileChoice: "madeup" | "cloudevents"'],
    ],
    ['src/events/check-event.ts'],
  ],
];

test('what no longer compiles after an addition is on its list', () => {
  // All at once, which takes a seventh of the time: each breaks other files.
  expect(brokenBy(cases.flatMap(([, edits]) => edits))).toEqual(cases.flatMap(([, , broken]) => broken).sort());
  for (const [name, edits, broken] of cases) {
    const edited = edits.map(([file]) => file).filter((file) => file !== contract);
    expect([name, [...edited, ...broken].filter((file) => !changeLists.get(name)?.includes(file))]).toEqual([name, []]);
  }
});
