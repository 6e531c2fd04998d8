import { copyFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { dirname, join, relative } from 'node:path';
import { SetupError } from '../../../base/errors.js';
import { issuerFile, openDevelopmentIssuer } from '../../../registry/tokens/development-issuer.js';
import { commandVariables, readConfig } from '../../../registry/app/config.js';
import { everyLocalPort } from '../../../outbound/sink.js';
import { quoted } from '../../../registry/tokens/development-registry.js';
import { lockFolder } from '../../../base/files/folder-lock.js';
import { makeFolder } from '../../../base/files/make-folder.js';
import { describePaths, report, type WireExchange } from './webhook.js';
import { freePort, type Role, type SceneSettings, setScene, type TryEnvironment } from './environment.js';
import { createNarrator, firstActs, type Narrator, origin, type SubscriptionBody } from './steps.js';

export interface TrySettings {
  /** 0 for free ones. */
  port: number;
  /** The option or variable that chose it. */
  portFrom: string;
  webhookPort: number;
  env: NodeJS.ProcessEnv;
}

const tokenHours = 12;
const certFile = 'webhook-cert.pem';
const keyFile = 'webhook-key.pem';
/** What the registry takes from the environment. The rest would not work here, and is named. */
const honoured = ['ASSENT_CONTACT', 'ASSENT_DENIED_NETWORKS', 'ASSENT_DNS_SERVERS', 'ASSENT_OPERATOR'];
const merged = ['ASSENT_PORT', 'ASSENT_DATA', 'ASSENT_SINK_PORTS', 'ASSENT_ALLOWED_NETWORKS', ...commandVariables];

/**
 * A registry with an embedded database and a webhook to try, from nothing to the first delivery in one command, with real
 * traffic. It then keeps running until it is interrupted. Its folder is made anew at each start, and has a file `env` for
 * the shell of another terminal. Resolves to the exit code: 0 only if every check succeeded and everything stopped.
 */
export async function runTry({ port, portFrom, webhookPort, env }: TrySettings): Promise<number> {
  const { stdout: output, env: environment } = process;
  const write = (text: string) => void output.write(text);
  const tell = createNarrator({ write, coloured: output.isTTY && !environment['NO_COLOR'] });
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('It was interrupted.'));
  // npm sends the signal of the terminal a second time, while everything is being stopped.
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  // A reader that leaves, as `head` does, is no reason to leave a folder locked.
  const unread = () => interrupted.abort(new Error('No process reads the output.'));
  output.on('error', unread);
  const { signal } = interrupted;

  const { dataFolder } = readConfig({ ASSENT_DATA: env['ASSENT_DATA'] });
  const folder = join(dataFolder, 'try');
  const ends: Array<() => Promise<void>> = [];
  const complaints: string[] = [];
  let isStaying = false;
  let place = 'Starting';
  let code = 0;
  try {
    tell.title('Assent: a registry and a webhook to try');
    const atEnd = (end: () => Promise<void>) => void ends.push(end);
    const scene = await setScene(
      {
        ...(await prepare({ folder, dataFolder, port, portFrom, webhookPort, env }, atEnd)),
        atEnd,
        onExchange: (exchange: WireExchange) => isStaying && write(report(exchange)),
        onComplaint: (line) => (isStaying ? void process.stderr.write(line) : void complaints.push(line)),
      },
      signal,
    );
    introduce(scene, tell, { folder, portFrom, env });
    for (const [index, act] of firstActs.entries()) {
      place = `Step ${index + 1}, "${act.title}"`;
      tell.step(index + 1, act.title);
      signal.throwIfAborted();
      await act.play(scene, tell);
    }
    place = 'After the last step';
    isStaying = true;
    await stay(scene, folder, signal);
    place = 'Stopping';
  } catch (error) {
    code = 1;
    const reason = signal.aborted ? (signal.reason as Error) : error;
    tell.failed(`${place}: ${reason instanceof Error ? reason.message : String(reason)}`);
    complaints.forEach(write);
  }
  for (const end of ends.reverse()) {
    await end().catch((error: unknown) => {
      code = 1;
      tell.failed(`Stopping: ${error instanceof Error ? error.message : String(error)}`);
    });
  }
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  output.off('error', unread);
  if (code === 0) tell.title(`Stopped. ${shown(folder)} stays until the next start.`);
  return code;
}

/** Creates what the scene needs. What must be undone goes to `atEnd`. */
async function prepare(
  { folder, dataFolder, port, portFrom, webhookPort, env }: TrySettings & { folder: string; dataFolder: string },
  atEnd: SceneSettings['atEnd'],
): Promise<Omit<SceneSettings, 'atEnd' | 'onExchange' | 'onComplaint'>> {
  const ports = { api: await freePort(port, portFrom), webhook: await freePort(webhookPort, '--webhook-port') };
  await makeFolder(dataFolder);
  atEnd(await lockFolder(folder, inUse));
  await rm(folder, { recursive: true, force: true });
  await makeFolder(folder);
  // With the key of the data folder, `assent token` works for this registry, too.
  await openDevelopmentIssuer(dataFolder);
  await copyFile(join(dataFolder, issuerFile), join(folder, issuerFile));
  return {
    folder,
    ports,
    settings: {
      ...Object.fromEntries(honoured.map((name) => [name, env[name]])),
      ASSENT_ALLOWED_NETWORKS: `127.0.0.0/8,::1/128,${env['ASSENT_ALLOWED_NETWORKS'] ?? ''}`,
      // For webhooks of your own.
      ASSENT_SINK_PORTS: `${env['ASSENT_SINK_PORTS'] || '443,8443'},${everyLocalPort}`,
    },
    files: { ca: 'webhook-ca.pem', callback: 'callback', cert: certFile, key: keyFile },
  };
}

/** Says where everything is, before the first step. */
function introduce(
  scene: TryEnvironment,
  tell: Narrator,
  { folder, portFrom, env }: Pick<TrySettings, 'portFrom' | 'env'> & { folder: string },
): void {
  tell.fact('registry', portFrom.startsWith('-') ? scene.url : `${scene.url}, as ${portFrom} says`);
  tell.fact('webhook', `${scene.webhookUrl}, a real one, with its own certificate`);
  tell.fact('data', `${shown(folder)}, made anew at each start`);
  const ignored = Object.keys(env).filter(
    (name) => name.startsWith('ASSENT_') && ![...honoured, ...merged].includes(name),
  );
  if (ignored.length > 0) tell.fact('ignored', ignored.join(', '));
}

/** Keeps everything running until the signal fires. What the webhook gets is printed meanwhile. */
async function stay(scene: TryEnvironment, folder: string, signal: AbortSignal): Promise<void> {
  const envFile = join(folder, 'env');
  const subscription = await writeEnvironment(envFile, scene);
  process.stdout.write(nextSteps(scene, envFile, subscription, await consoleLinks(scene)));
  if (!signal.aborted) await once(signal, 'abort');
  // An interrupt ends it as it should; a closed output does not.
  if (process.stdout.errored) signal.throwIfAborted();
}

const inUse = (folder: string, owner: number) =>
  new SetupError(
    `${shown(folder)} is in use by process ${owner}. Stop that process, or choose another folder: --data.`,
  );

/** Returns the id of the subscription. */
async function writeEnvironment(path: string, scene: TryEnvironment): Promise<string> {
  const { body } = await scene.ask('consumer', 'GET', '/v1/subscriptions');
  const subscription = (body as SubscriptionBody[])[0]?.id ?? '';
  const lifetime = tokenHours * 3_600;
  const fileOf = (name: string) => join(dirname(path), name);
  const variables = {
    API: `${scene.url}/v1`,
    ADMIN: await scene.token('admin', lifetime),
    CONSUMER: await scene.token('consumer', lifetime),
    SENDER: await scene.token('sender', lifetime),
    SUBSCRIPTION: subscription,
    WEBHOOK: scene.webhookUrl,
    CA: scene.caFile,
    // For a webhook of your own on localhost.
    CERT: fileOf(certFile),
    KEY: fileOf(keyFile),
    OPERATIONS: scene.operationsUrl,
    // For the command line. It sends the token to this registry only.
    'export ASSENT_URL': scene.url,
    'export ASSENT_TOKEN': await scene.token('developer', lifetime),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}\n`);
  await writeFile(path, lines.join(''), { mode: 0o600 });
  return subscription;
}

/** Links that sign in. A fragment never leaves the browser, and the console removes it at once. */
async function consoleLinks({ url, token }: TryEnvironment): Promise<string> {
  const linkFor = async (role: Role) => {
    const fragment = new URLSearchParams({ token: await token(role, tokenHours * 3_600) });
    return `  ${role}:\n  ${url}/console#${fragment.toString()}\n`;
  };
  return `${await linkFor('admin')}${await linkFor('consumer')}`;
}

function nextSteps(scene: TryEnvironment, envFile: string, subscription: string, links: string): string {
  return `
Everything keeps running until you press Ctrl-C. What the webhook gets is printed here.

  ${scene.url}/          the registry: start page, API reference, links
${describePaths(scene.webhookUrl, shown(scene.callbackFile))}
The console does everything in your browser. These links sign you in for ${tokenHours} hours:

${links}
Next: in a second terminal, in this folder, run

  . ${shown(envFile)}

It signs you in for "npx assent subscriptions list" and the other commands, and sets API, WEBHOOK, CA and more, and the
tokens ADMIN, CONSUMER and SENDER. All are valid for ${tokenHours} hours. A webhook of your own may have any port of
https://localhost, with the certificate $CERT and the key $KEY. Then try:

  # Subscribe a webhook that decides later
  curl -s $API/subscriptions -H "Authorization: Bearer $CONSUMER" -H 'Content-Type: application/json' \\
    -d '{"sink":"${scene.webhookUrl}/later","protocol":"HTTP"}'

  # Ask whether the sender may send
  curl -s "$API/permissions?origin=${origin}&sink=$WEBHOOK/events" -H "Authorization: Bearer $SENDER"

  # Suspend the first subscription
  curl -s $API/subscriptions/${subscription}/suspend -H "Authorization: Bearer $CONSUMER" \\
    -H 'Content-Type: application/json' -d '{"reason":"Maintenance until Monday."}'

`;
}

/** As a path from here, if it is inside of this folder. */
function shown(path: string): string {
  const fromHere = relative('.', path);
  return fromHere.startsWith('..') ? path : fromHere;
}
