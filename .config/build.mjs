// Builds dist/ from src/. The database client and the contract are generated only if what they depend on has changed;
// then swc strips the types of every file, esbuild bundles the console, and pages.mjs renders the pages. `npm run types`
// checks types; `npm run pack` makes packages of dist/, with declarations.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, transform as transformStyle } from 'esbuild';
import { buildPages } from './pages.mjs';
import { builtFrom, strip } from './strip.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

/** Runs in browsers, so that it is one bundle. */
const consoleSource = join('src', 'console');

const readIfThere = (path) => readFile(path, 'utf8').catch(() => undefined);

async function filesIn(folder, ending = '') {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(ending));
  return files.map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
}

/** Inputs and outputs are hashed together, so that a changed or deleted output is generated again. */
async function generate({ name, command, inputs, outputs }) {
  const stamp = `dist/.${name}`;
  const hash = async () => {
    const sum = createHash('sha256');
    for (const path of [...(await inputs()), 'package-lock.json', ...(await outputs())]) {
      sum.update(`${path}\n${await readIfThere(path)}\n`);
    }
    return sum.digest('hex');
  };
  if ((await readIfThere(stamp)) === (await hash())) return;
  await promisify(execFile)(process.execPath, command, {
    // `prisma generate` downloads the engine of migrations before it starts, unless a file is named as that engine. It
    // does not run it. Prisma has no other setting for this.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: 'package.json', PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  }).catch((error) => {
    throw new Error(`${command.join(' ')}\n${error.stdout}${error.stderr}`);
  });
  await mkdir('dist', { recursive: true });
  await writeFile(stamp, await hash());
}

/** Only files that differ are written: a process may be running from dist/. */
async function buildModule(source) {
  const { code } = await strip(source);
  const target = builtFrom(source);
  if ((await readIfThere(target)) === code) return;
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

async function removeWithoutSource(sources) {
  const stems = new Set(sources.map((source) => source.slice('src/'.length, -'.ts'.length)));
  const stemOf = (path) => path.slice('dist/'.length).replace(/(\.d)?\.[jt]s$/, '');
  const built = [...(await filesIn('dist', '.js')), ...(await filesIn('dist', '.d.ts'))];
  const isOther = (path) => [join('pages', 'assets'), 'packages'].some((of) => path.startsWith(join('dist', of)));
  const isOld = (path) => !stems.has(stemOf(path)) && !isOther(path);
  await Promise.all(built.filter(isOld).map((path) => rm(path)));
}

/** The script of the console, in files that its page loads. */
async function bundleConsole() {
  const { outputFiles } = await build({
    entryPoints: { console: join(consoleSource, 'main.tsx') },
    bundle: true,
    splitting: true,
    chunkNames: 'console-[name]-[hash]',
    // The hashes depend on paths. Otherwise those of a node_modules that is a link would be elsewhere.
    preserveSymlinks: true,
    write: false,
    outdir: join('dist', 'pages', 'assets'),
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  return outputFiles.map(({ path, text }) => [basename(path), text]);
}

/** `base.css` is for all pages. */
async function minifyStyles() {
  const assets = join('src', 'registry', 'pages', 'assets');
  const styles = [join(assets, 'base.css'), join(assets, 'pages.css'), join(consoleSource, 'console.css')];
  return Promise.all(
    styles.map(async (path) => {
      const { code } = await transformStyle(await readFile(path, 'utf8'), { loader: 'css', minify: true });
      return [basename(path), code];
    }),
  );
}

try {
  await Promise.all([
    generate({
      name: 'database',
      command: ['node_modules/prisma/build/index.js', 'generate', '--no-hints'],
      inputs: async () => ['prisma/schema.prisma', '.config/prisma.ts'],
      outputs: () => filesIn('src/registry/storage/generated'),
    }),
    generate({
      name: 'font',
      command: ['.config/font.mjs'],
      inputs: async () => ['.config/font.mjs'],
      outputs: async () => ['dist/.inter.woff2'],
    }),
    generate({
      name: 'contract',
      command: ['openapi/generate.mjs'],
      inputs: async () => [...(await filesIn('openapi', '.yaml')), 'openapi/generate.mjs'],
      outputs: async () => ['openapi/openapi.json', 'src/base/contract/contract.gen.ts'],
    }),
  ]);
  const sources = (await filesIn('src', '.ts')).filter((path) => !path.startsWith(consoleSource));
  await Promise.all(sources.map(buildModule));
  await removeWithoutSource(sources);
  await chmod('dist/tools/cli/assent.js', 0o755);
  const { renderReference } = await import('../dist/registry/pages/reference.js');
  const font = await readFile('dist/.inter.woff2');
  await buildPages(renderReference, [...(await bundleConsole()), ...(await minifyStyles()), ['inter.woff2', font]]);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
