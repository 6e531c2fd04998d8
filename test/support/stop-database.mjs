import { rm } from 'node:fs/promises';

export default async function stopDatabase() {
  if (globalThis.assentTestPostgres) await globalThis.assentTestPostgres.stop();
  if (!process.env.ASSENT_TEST_SERVER) await rm(process.env.ASSENT_TEST_TEMPLATE, { recursive: true, force: true });
}
