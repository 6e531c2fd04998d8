import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { play } from './play.js';
import { freePort } from './scene.js';
import { story } from './story.js';

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
