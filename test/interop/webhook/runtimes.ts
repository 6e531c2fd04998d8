import { build } from 'esbuild';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The command of a runtime, whose package has it for each system in a package of its own. */
export function commandOf(folder: string, scope: string, file: string): string {
  const packages = join(folder, 'node_modules', scope);
  const [name = ''] = readdirSync(packages).filter((each) => /linux|darwin|windows/.test(each) && !/musl/.test(each));
  return join(packages, name, file);
}

/** Bundles a module of a worker as the command line of Cloudflare does: by the conditions of `exports`, without modules of Node. */
export async function writeWorker(folder: string, port: number, flags: readonly string[]): Promise<string> {
  await build({
    entryPoints: [join(folder, '..', 'worker.mjs')],
    alias: { program: join(folder, 'server.js') },
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'silent',
  });
  const path = join(folder, 'worker.capnp');
  const list = flags.map((flag) => JSON.stringify(flag)).join(', ');
  await writeFile(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [ (name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private"])) ],
      sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
    );
    const main :Workerd.Worker = (
      modules = [ (name = "worker", esModule = embed "worker.js") ],
      compatibilityDate = "2026-04-01",
      compatibilityFlags = [${list}]
    );`,
  );
  return path;
}
