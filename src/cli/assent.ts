#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { profileNames } from '../events/rule.js';
import { createToken, UsageError } from './create-token.js';
import { runDemo } from './demo.js';
import { startReceiver } from './receiver.js';
import { validateFiles } from './validate-files.js';

const usage = `Usage: assent <command>

  token --scope SCOPE [--tenant NAME] [--subscriber NAME] [--minutes N]
      Prints a token of the development issuer, whose key is in the data folder (ASSENT_DATA, .assent).
      Scopes: assent:subscribe, assent:admin, assent:deliver, assent:credentials; several with commas or by repeating the option.

  validate FILE... [--profile NAME]
      Holds events against a profile: cloudevents, nl-gov, intg-std-015 or belgif. A file is one event, or a batch of them,
      in the JSON format. Exit codes: 0 valid (warnings may be printed), 1 not valid, 2 not understood or a file not read.

  demo
      Tells the whole story on this machine with real traffic, in under a minute.

  receiver [--port N]
      Runs a webhook on https://localhost:8443 to try the registry with, and prints what it is asked, until it is stopped.
      /events consents, /later keeps its answer back, /closed allows somebody else. The registry believes its certificate
      if ASSENT_SINK_CA_FILE is the file receiver-ca.pem in the data folder.
`;

/** Exit codes: 0 done, 1 failed, 2 not understood. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      scope: { type: 'string', multiple: true, default: [] },
      tenant: { type: 'string', default: 'demo' },
      subscriber: { type: 'string', default: 'developer' },
      minutes: { type: 'string', default: '60' },
      profile: { type: 'string', default: 'cloudevents' },
      port: { type: 'string', default: '8443' },
      help: { type: 'boolean', default: false },
    },
  });
  const [command, ...files] = positionals;
  if (values.help || command === undefined || command === 'help') {
    process.stdout.write(usage);
    return command === undefined && !values.help ? 2 : 0;
  }
  if (command === 'token') {
    const scopes = values.scope.flatMap((scope) => scope.split(/[ ,]+/));
    process.stdout.write(`${await createToken({ ...values, scopes, minutes: Number(values.minutes) }, process.env)}\n`);
    return 0;
  }
  if (command === 'validate') {
    const profile = profileNames.find((name) => name === values.profile);
    if (profile === undefined) throw new UsageError(`--profile takes one of ${profileNames.join(', ')}.`);
    if (files.length === 0) throw new UsageError('Name at least one file.');
    const { lines, faults } = await validateFiles(files, profile);
    process.stdout.write(`${lines.join('\n')}\n`);
    return faults > 0 ? 1 : 0;
  }
  if (command === 'demo') return runDemo();
  if (command === 'receiver') {
    const write = (text: string) => void process.stdout.write(text);
    const receiver = await startReceiver({ port: Number(values.port), env: process.env, write });
    await new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop));
    await receiver.stop();
    return 0;
  }
  process.stderr.write(`There is no command ${command}.\n\n${usage}`);
  return 2;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof TypeError || error instanceof UsageError ? 2 : 1;
  },
);
