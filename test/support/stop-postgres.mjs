export default async function stopDatabase() {
  await globalThis.assentTestPostgres?.stop();
}
