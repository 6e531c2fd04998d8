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

/** Bundles a program as the tools of its platform do: by the conditions of `exports`, without modules of Node. */
export async function bundle(
  folder: string,
  entry: string,
  format: 'esm' | 'iife',
  condition: string,
): Promise<string> {
  const outfile = join(folder, 'worker.js');
  await build({
    entryPoints: [join(folder, '..', entry)],
    alias: { program: join(folder, 'server.js') },
    outfile,
    bundle: true,
    format,
    target: 'es2024',
    conditions: [condition, 'worker', 'browser'],
    logLevel: 'silent',
  });
  return outfile;
}

/** The configuration of a module worker. */
export async function writeWorker(folder: string, port: number, flags: readonly string[]): Promise<string> {
  await bundle(folder, 'worker.mjs', 'esm', 'workerd');
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
