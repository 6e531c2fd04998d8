#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { createToken, UsageError } from './create-token.js';
import { runDemo } from './demo.js';
import { startReceiver } from './receiver.js';

const usage = `Usage: assent <command>

  token --scope SCOPE [--tenant NAME] [--subscriber NAME] [--minutes N]
      Prints a token of the development issuer, whose key is in the data folder (ASSENT_DATA, .assent).
      Scopes: assent:subscribe, assent:admin, assent:deliver; several with commas or by repeating the option.

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
      port: { type: 'string', default: '8443' },
      help: { type: 'boolean', default: false },
    },
  });
  const [command] = positionals;
  if (values.help || command === undefined || command === 'help') {
    process.stdout.write(usage);
    return command === undefined && !values.help ? 2 : 0;
  }
  if (command === 'token') {
    const scopes = values.scope.flatMap((scope) => scope.split(/[ ,]+/));
    process.stdout.write(`${await createToken({ ...values, scopes, minutes: Number(values.minutes) }, process.env)}\n`);
    return 0;
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
