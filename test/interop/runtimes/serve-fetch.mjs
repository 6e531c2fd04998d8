// Serves the webhook of the folder that the environment names on PORT, in Deno or Bun.
const { env } = globalThis.process;
const { webhook } = await import(`./${env.PROGRAM}/webhook.js`);
const options = { port: Number(env.PORT), hostname: '127.0.0.1' };
const { Deno, Bun } = globalThis;
if (Deno) Deno.serve(options, webhook.fetch);
else Bun.serve({ ...options, fetch: webhook.fetch });
