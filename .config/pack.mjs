// Makes the packages as tarballs in dist/packages/: the server with its command line, and the kits, which install alone.
// `npm run pack` makes all, `npm run pack -- sender` one; --out names another folder. A kit is bundled from the entries that
// its package.json names, for both module systems, with its declarations and with source maps that contain their sources.
// Its package.json lists the packages that its bundle imports; versions are those of the project.
import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { build } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { builtFrom, strip } from './strip.mjs';

const run = promisify(execFile);
const { values, positionals } = parseArgs({ allowPositionals: true, options: { out: { type: 'string' } } });
const root = fileURLToPath(new URL('..', import.meta.url));
const out = resolve(values.out ?? join(root, 'dist', 'packages'));
process.chdir(root);

const manifest = JSON.parse(await readFile('package.json', 'utf8'));
const { dependencies, version, license, homepage, bugs, repository, publishConfig, engines } = manifest;
/** The project only checks types with some packages of the kits. */
const ranges = { ...manifest.devDependencies, ...dependencies };

/** Members that every package has. */
const ofAll = { version, license, homepage, bugs, publishConfig, engines };

/** What is imported and not used is left out, so that it makes no dependency. Packages stay outside of the bundle. */
const packagesOutside = {
  name: 'packages-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path, external: true, sideEffects: isBuiltin(path) },
    );
  },
};

/** As if it wrote to dist/, so that the sources in a map are ../src/…; the map contains them. */
async function bundle(entryPoints, options) {
  const { warnings, outputFiles, metafile } = await build({
    entryPoints,
    // Otherwise the folder that this was started in.
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    platform: 'node',
    target: 'node20',
    sourcemap: true,
    plugins: [packagesOutside],
    logLevel: 'silent',
    ...options,
  });
  // What CommonJS doesn't have, such as import.meta, is a warning, and would be undefined there.
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join('\n'));
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return { outputFiles, imports: imports.filter(({ external }) => external).map(({ path }) => path) };
}

/** `Open` in contract.gen.ts. A kit may be older than its registry, so for its users the values aren't all. */
const closedHere = /(type Open<Known extends string> = )Known;/;

/** All declarations of an entry as one text, and the modules that they import. */
async function declare(source) {
  const input = await rollup({ input: source, external: /^[^./]/, plugins: [dts()] });
  const [{ code, imports }] = (await input.generate({ format: 'es' })).output;
  await input.close();
  return { types: code.replace(closedHere, '$1Known | (string & {});'), imports };
}

/** The listed packages, which must be those that are imported, in the ranges of the project. */
function rangesOf(listed, imports, of) {
  const nameOf = (specifier) => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const imported = new Set(imports.filter((specifier) => !isBuiltin(specifier)).map(nameOf));
  const missing = [...imported].filter((name) => !(name in listed));
  if (missing.length > 0) throw new Error(`${of} imports ${missing.join(', ')}, and its package.json doesn't list it.`);
  const unused = Object.keys(listed).filter((name) => !imported.has(name));
  if (unused.length > 0)
    throw new Error(`${of} lists ${unused.join(', ')} in its package.json, and doesn't import it.`);
  return Object.fromEntries(Object.keys(listed).map((name) => [name, ranges[name]]));
}

/**
 * A target of `exports` for each source that it names: a path, or paths by condition. Each has both module systems. Runtimes
 * take the first condition that they know.
 */
function targetsOf(source) {
  if (typeof source !== 'string') {
    return Object.fromEntries(Object.entries(source).map(([condition, each]) => [condition, targetsOf(each)]));
  }
  const stem = `./dist/${basename(source, '.ts')}`;
  return {
    import: { types: `${stem}.d.ts`, default: `${stem}.js` },
    require: { types: `${stem}.d.cts`, default: `${stem}.cjs` },
  };
}

const sourcesOf = (source) => (typeof source === 'string' ? [source] : Object.values(source).flatMap(sourcesOf));

/** Returns its package.json. */
async function makeKit(kit, folder) {
  const own = JSON.parse(await readFile(join(kit, 'package.json'), 'utf8'));
  const { name, description, keywords, type, sideEffects } = own;
  const entries = typeof own.exports === 'string' ? { '.': own.exports } : own.exports;
  const imported = [];
  await mkdir(join(folder, 'dist'));
  for (const entry of new Set(sourcesOf(entries))) {
    const source = join(kit, entry);
    const stem = basename(entry, '.ts');
    const [esm, cjs, { types, imports }] = await Promise.all([
      bundle({ [stem]: source }, { format: 'esm' }),
      bundle({ [stem]: source }, { format: 'cjs', outExtension: { '.js': '.cjs' } }),
      declare(source),
    ]);
    for (const { path, contents } of [...esm.outputFiles, ...cjs.outputFiles]) {
      await writeFile(join(folder, 'dist', basename(path)), contents);
    }
    for (const ending of ['d.ts', 'd.cts']) await writeFile(join(folder, 'dist', `${stem}.${ending}`), types);
    imported.push(...esm.imports, ...imports);
  }
  return {
    name,
    description,
    keywords,
    ...ofAll,
    repository: { ...repository, directory: kit },
    type,
    sideEffects,
    main: './dist/index.cjs',
    types: './dist/index.d.cts',
    exports: { ...targetsOf(entries), './package.json': './package.json' },
    files: ['dist'],
    dependencies: rangesOf(own.dependencies ?? {}, imported, name),
  };
}

/** The files that package.json names, with source maps. Returns its package.json. */
async function makeServer(folder) {
  const { name, description, keywords, type, sideEffects, exports, bin, files } = manifest;
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
  const listed = JSON.parse(stdout)[0].files.map(({ path }) => path);
  for (const path of listed) await cp(path, join(folder, path));

  const built = new Set(listed);
  const sources = (await readdir('src', { recursive: true }))
    .map((path) => join('src', path))
    .filter((path) => path.endsWith('.ts') && built.has(builtFrom(path)));
  await Promise.all(sources.map((source) => addMap(source, folder)));
  const { imports } = await bundle(sources, { format: 'esm' });
  return {
    name,
    description,
    keywords,
    ...ofAll,
    repository,
    type,
    sideEffects,
    exports,
    bin,
    files,
    dependencies: rangesOf(dependencies, imports, name),
  };
}

async function addMap(source, folder) {
  const target = builtFrom(source);
  const { code, map } = await strip(source, { sourceMaps: true });
  const written = { ...JSON.parse(map), file: basename(target), sources: [relative(dirname(target), source)] };
  await writeFile(join(folder, target), `${code}//# sourceMappingURL=${basename(target)}.map\n`);
  await writeFile(join(folder, `${target}.map`), JSON.stringify(written));
}

/** Resolves to the folder of the package. */
async function makeFolder(name) {
  const folder = join(out, name);
  const kit = join('src', 'kits', name);
  const isServer = name === manifest.name;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const made = isServer ? await makeServer(folder) : await makeKit(kit, folder);
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(made, undefined, 2)}\n`);
  await cp(isServer ? '.config/package-readme.md' : join(kit, 'README.md'), join(folder, 'README.md'));
  await cp('LICENSE', join(folder, 'LICENSE'));
  // Whatever the umask is here.
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const isProgram = entry.isDirectory() || ((await stat(path)).mode & 0o100) > 0;
    await chmod(path, isProgram ? 0o755 : 0o644);
  }
  return folder;
}

const kilobytes = (bytes) => `${Math.ceil(bytes / 1000)} kB`;

const names = positionals.length > 0 ? positionals : [manifest.name, ...(await readdir('src/kits'))];
const folders = await Promise.all(names.map(makeFolder));
const { stdout } = await run('npm', ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', out]);
for (const { filename, size, unpackedSize } of Object.values(JSON.parse(stdout))) {
  console.log(`${join(out, filename)}: ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}`);
}
