import { type Act, createNarrator, type Narrator, story } from './steps.js';
import { report, type WireExchange } from './webhook.js';
import { freePort, type DemoEnvironment, type SceneSettings, setScene } from './environment.js';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Play {
  title: string;
  acts: readonly Act[];
  /** Creates what the scene needs. What must be undone goes to `atEnd`. */
  prepare: (atEnd: SceneSettings['atEnd']) => Promise<Omit<SceneSettings, 'atEnd' | 'onExchange' | 'onComplaint'>>;
  /** Says where everything is, before the first act. */
  introduce: (scene: DemoEnvironment, tell: Narrator) => void;
  /** Keeps everything running after the last act until it resolves. What the webhook gets is printed meanwhile. */
  stay?: (scene: DemoEnvironment, signal: AbortSignal) => Promise<void>;
  farewell: (seconds: string) => string;
}

const limitMs = 55_000;

/**
 * Plays acts with real traffic: a registry with an embedded database, and a webhook that it asks over HTTPS. Resolves to
 * the exit code: 0 only if every check succeeded and everything stopped.
 */
export async function play({ title, acts, prepare, introduce, stay, farewell }: Play): Promise<number> {
  const { stdout: output, env: environment } = process;
  const write = (text: string) => void output.write(text);
  const tell = createNarrator({ write, coloured: output.isTTY && !environment['NO_COLOR'] });
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('It was interrupted.'));
  // npm sends the signal of the terminal a second time, while everything is being stopped.
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  // A reader that leaves, as `head` does, is no reason to leave a folder behind.
  const unread = () => interrupted.abort(new Error('No process reads the output.'));
  output.on('error', unread);
  const tooLate = setTimeout(() => interrupted.abort(new Error(`It took longer than ${limitMs} ms.`)), limitMs);
  const { signal } = interrupted;

  const ends: Array<() => Promise<void>> = [];
  const complaints: string[] = [];
  let isStaying = false;
  let place = 'Starting';
  let code = 0;
  const startedAt = performance.now();
  try {
    tell.title(title);
    const atEnd = (end: () => Promise<void>) => void ends.push(end);
    const scene = await setScene(
      {
        ...(await prepare(atEnd)),
        atEnd,
        onExchange: (exchange: WireExchange) => isStaying && write(report(exchange)),
        onComplaint: (line) => (isStaying ? void process.stderr.write(line) : void complaints.push(line)),
      },
      signal,
    );
    introduce(scene, tell);
    for (const [index, act] of acts.entries()) {
      place = `Step ${index + 1}, "${act.title}"`;
      tell.step(index + 1, act.title);
      signal.throwIfAborted();
      await act.play(scene, tell, signal);
    }
    clearTimeout(tooLate);
    place = 'After the last step';
    isStaying = true;
    await stay?.(scene, signal);
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
  clearTimeout(tooLate);
  process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  output.off('error', unread);
  if (code === 0) tell.title(farewell(((performance.now() - startedAt) / 1_000).toFixed(1)));
  return code;
}

/** The whole story on free ports and in a temporary folder, which is removed at the end. */
export function runDemo(env: NodeJS.ProcessEnv): Promise<number> {
  let folder = '';
  return play({
    title: 'Assent: who may send where, and how fast',
    acts: story,
    async prepare(atEnd) {
      folder = await mkdtemp(join(tmpdir(), 'assent-demo-'));
      atEnd(() => rm(folder, { recursive: true, force: true }));
      return {
        folder,
        ports: { api: await freePort(0, ''), webhook: await freePort(0, '') },
        settings: {
          // Networks that are denied on this machine stay denied.
          ASSENT_DENIED_NETWORKS: env['ASSENT_DENIED_NETWORKS'],
          ASSENT_HANDSHAKE_ATTEMPTS: '2',
          ASSENT_HANDSHAKE_RETRY_MS: '200',
          ASSENT_POLL_MS: '100',
        },
      };
    },
    introduce(scene, tell) {
      tell.fact('registry', scene.url);
      tell.fact('webhook', `${scene.webhookUrl}, a real one, with its own certificate`);
      tell.fact('data', `${folder}, removed at the end`);
    },
    farewell: (seconds) =>
      `All ${story.length} steps succeeded in ${seconds} s. Everything is stopped and removed.\n` +
      'To play with a registry that keeps running: npm run try',
  });
}
