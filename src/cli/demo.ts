import { setScene } from './demo-scene.js';
import { story } from './demo-story.js';
import { createNarrator } from './narrate.js';

const limitMs = 55_000;

/**
 * Plays the story on this machine with real traffic: a registry with an embedded database in a temporary folder, and
 * webhooks that it asks over HTTPS. Resolves to the exit code: 0 only if every step went as it says.
 */
export async function runDemo(): Promise<number> {
  const { stdout: output, env: environment } = process;
  const tell = createNarrator({
    write: (text) => void output.write(text),
    coloured: output.isTTY && !environment['NO_COLOR'],
  });
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('It was interrupted.'));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  // A reader that goes away, as `head` does, is no reason to leave a folder behind.
  const unread = () => interrupted.abort(new Error('Nobody reads the output any more.'));
  output.on('error', unread);
  const tooLate = setTimeout(() => interrupted.abort(new Error(`It took longer than ${limitMs} ms.`)), limitMs);
  const { signal } = interrupted;

  const ends: Array<() => Promise<void>> = [];
  let place = 'Setting the scene';
  let code = 0;
  let complaints: readonly string[] = [];
  const startedAt = performance.now();
  try {
    tell.title('Assent: who may send where, and how fast');
    const scene = await setScene(environment, signal, (end) => void ends.push(end));
    complaints = scene.complaints;
    tell.fact('registry', `${scene.url}, callbacks through ${scene.publicUrl}`);
    tell.fact('webhook', `${scene.webhookUrl}, a real one, with a certificate of its own`);
    tell.fact('data', `${scene.folder}, removed at the end`);
    for (const [index, act] of story.entries()) {
      place = `Step ${index + 1}, "${act.title}"`;
      tell.step(index + 1, act.title);
      signal.throwIfAborted();
      await act.play(scene, tell, signal);
    }
    place = 'Stopping';
  } catch (error) {
    code = 1;
    const reason = signal.aborted ? (signal.reason as Error) : error;
    tell.failed(`${place}: ${reason instanceof Error ? reason.message : String(reason)}`);
    for (const complaint of complaints) output.write(complaint);
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
  if (code === 0) {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    tell.title(`All ${story.length} steps went as told, in ${seconds} s. Everything is stopped and removed.`);
  }
  return code;
}
