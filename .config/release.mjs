// Makes a release as a folder, and pushes it: `npm run release`; docs/operate/release.md says how.
// The same commit gives the same bytes.
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { writeChart, writeContext } from './archives.mjs';
import { makeSbom } from './sbom.mjs';
import { mentions, setMentions } from './version.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const options = {
  version: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  out: { type: 'string', default: join('dist', 'release') },
  registry: { type: 'string' },
  image: { type: 'string' },
  chart: { type: 'string' },
  platform: { type: 'string', default: 'linux/amd64,linux/arm64' },
  check: { type: 'string' },
  provenance: { type: 'boolean', default: true },
};

class Refused extends Error {}

const run = async (program, args, settings) =>
  (await promisify(execFile)(program, args, { maxBuffer: 16_777_216, ...settings })).stdout;
const git = async (...args) => (await run('git', args)).trim();
const json = async (path) => JSON.parse(await readFile(path, 'utf8'));
const sha256 = async (path) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
/** Runs a command, shows its output, and resolves to it. Rejects if it fails. */
async function show([program, ...args], { input, env } = {}) {
  const file = input === undefined ? undefined : await open(input);
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: [file?.fd ?? 'ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ]) {
    from.on('data', (part) => {
      output += part;
      to.write(part);
    });
  }
  const [code] = await once(child, 'close').catch((error) => [error.message]);
  await file?.close();
  if (code !== 0) throw new Refused(`This failed (${code}): ${line([program, ...args])}`);
  return output;
}

/** As a shell takes it. */
const line = (words) => words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ');

/** Changes files only: the commit is the owner's. */
async function setVersion(version) {
  if (!/^\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/.test(version)) throw new Refused(`Not a version: ${version}`);
  await run('npm', ['version', version, '--no-git-tag-version', '--allow-same-version']);
  await setMentions('.', version);
  console.log(`The version is ${version}. Write its section in CHANGELOG.md, and commit.`);
}

/** The heading and the text of a version. */
async function sectionOf(version) {
  const [, ...sections] = (await readFile('CHANGELOG.md', 'utf8')).split(/^## /m);
  const section = sections.find((each) => each.startsWith(`[${version}] - `));
  const [heading = '', ...lines] = section?.split('\n') ?? [];
  return section && { date: heading.slice(`[${version}] - `.length).trim(), text: lines.join('\n').trim() };
}

/** Why this commit is no release. */
async function faultsOf(version, { isDry }) {
  const faults = [];
  const changed = await git('status', '--porcelain').catch(() => '?? this folder, which is no git repository');
  if (changed !== '') faults.push(`What is not committed would not be released:\n${changed}`);
  for (const { path, version: other } of await mentions('.')) {
    if (other !== version)
      faults.push(`${path} says ${other}, and package.json ${version}: npm run release -- --version ${version}`);
  }
  const section = await sectionOf(version);
  if (section === undefined || section.text === '') faults.push(`CHANGELOG.md has no section [${version}].`);
  else if (!isDry) {
    const [, released] = /^releaseDate: '?([\d-]+)/m.exec(await readFile('publiccode.yml', 'utf8')) ?? [];
    if (!/^\d{4}-\d\d-\d\d$/.test(section.date)) faults.push(`CHANGELOG.md has no date for [${version}].`);
    else if (section.date !== released)
      faults.push(`publiccode.yml needs releaseDate: '${section.date}', as CHANGELOG.md has it.`);
  }
  const tagged = await git('rev-parse', '--quiet', '--verify', `refs/tags/v${version}^{commit}`).catch(() => undefined);
  if (tagged !== undefined && tagged !== (await git('rev-parse', 'HEAD'))) {
    faults.push(`v${version} is the tag of another commit.`);
  }
  return faults;
}

/** Writes the folder. */
async function make(out, manifest, date) {
  const { version } = manifest;
  const folders = ['packages', 'image', 'chart', 'sbom'];
  // What else is in the folder is somebody's.
  for (const made of [...folders, 'NOTES.md', 'SHA256SUMS', 'SHA256SUMS.sigstore.json']) {
    await rm(join(out, made), { recursive: true, force: true });
  }
  for (const folder of folders) await mkdir(join(out, folder), { recursive: true });

  const packed = await mkdtemp(join(tmpdir(), 'assent-release-'));
  const lock = await json('package-lock.json');
  const write = async (name, of) =>
    writeFile(join(out, 'sbom', `${name}.cdx.json`), await makeSbom({ lock, date, ...of }));
  try {
    await run(process.execPath, ['.config/pack.mjs', '--out', packed]);
    for (const file of (await readdir(packed)).filter((name) => name.endsWith('.tgz'))) {
      const path = join(out, 'packages', file);
      await copyFile(join(packed, file), path);
      const own = JSON.parse(await run('tar', ['-xzOf', path, 'package/package.json']));
      const type = own.name === manifest.name ? 'application' : 'library';
      await write(file.slice(0, -'.tgz'.length), { manifest: own, type, hash: await sha256(path) });
    }
  } finally {
    await rm(packed, { recursive: true, force: true });
  }
  // The same packages as the stage `dependencies` of the Dockerfile installs.
  await write(`assent-image-${version}`, { manifest, type: 'application', omit: ['optional'] });
  await writeContext(join(out, 'image', `assent-${version}.tar.gz`), '.');
  await writeChart(join(out, 'chart', `assent-${version}.tgz`), '.', date);
  await writeFile(join(out, 'NOTES.md'), `# Assent ${version}\n\n${(await sectionOf(version)).text}\n`);

  const files = await Promise.all(
    folders.map(async (name) => (await readdir(join(out, name))).map((file) => `${name}/${file}`)),
  );
  const paths = ['NOTES.md', ...files.flat()].sort();
  const sums = await Promise.all(paths.map(async (path) => `${await sha256(join(out, path))}  ${path}\n`));
  await writeFile(join(out, 'SHA256SUMS'), sums.join(''));
  for (const path of [...paths, 'SHA256SUMS']) console.log(`  ${path}`);
}

/** The commands that push, by what they push, in order: what cannot be taken back comes last. */
function pushes(out, version, { registry, image, chart, platform, provenance }, { labels, date, metadata, packages }) {
  const build = ['docker', 'buildx', 'build', '--push', `--platform=${platform}`];
  const attestations = ['--sbom=true', '--provenance=mode=max', `--metadata-file=${metadata}`];
  const labelled = Object.entries(labels).map(([key, value]) => `--label=org.opencontainers.image.${key}=${value}`);
  const npm = (file) => ['npm', 'publish', join(out, 'packages', file), `--registry=${registry}`];
  const more = [...(version.includes('-') ? ['--tag=next'] : []), ...(provenance ? [] : ['--provenance=false'])];
  return {
    ...(image && {
      image: {
        commands: [[...build, ...attestations, ...labelled, `--tag=${image}:${version}`, '-']],
        input: join(out, 'image', `assent-${version}.tar.gz`),
        env: { SOURCE_DATE_EPOCH: String(date.getTime() / 1_000) },
      },
    }),
    ...(chart && { chart: { commands: [['helm', 'push', join(out, 'chart', `assent-${version}.tgz`), chart]] } }),
    ...(registry && {
      packages: { commands: packages.map((file) => [...npm(file), ...more]) },
    }),
  };
}

/** Signing needs the identity of a person or of a CI, so these are for the owner to run. */
function recipe(out, version, { image, chart }, digests) {
  const sums = join(out, 'SHA256SUMS');
  const bill = join(out, 'sbom', `assent-image-${version}.cdx.json`);
  const [imageAt, chartAt] = [
    `${image}@${digests.image}`,
    `${chart?.replace(/^oci:\/\//, '')}/assent@${digests.chart}`,
  ];
  return [
    ...(image ? [`cosign sign --yes ${imageAt}`] : []),
    ...(image ? [`cosign attest --yes --type cyclonedx --predicate ${bill} ${imageAt}`] : []),
    ...(chart ? [`cosign sign --yes ${chartAt}`] : []),
    `cosign sign-blob --yes --bundle ${sums}.sigstore.json ${sums}`,
    `git tag --sign v${version} --message 'Assent ${version}' && git push origin v${version}`,
  ];
}

async function release({ 'dry-run': isDry, out, check, ...targets }) {
  const manifest = await json('package.json');
  const { version } = manifest;
  const faults = await faultsOf(version, { isDry });
  if (faults.length > 0) throw new Refused(faults.join('\n'));
  const [revision, seconds] = (await git('log', '-1', '--format=%H %ct')).split(' ');
  const date = new Date(Number(seconds) * 1_000);

  await run(process.execPath, ['.config/build.mjs']);
  const stale = await git('status', '--porcelain');
  if (stale !== '') throw new Refused(`The build changes what is committed:\n${stale}`);
  await show([process.execPath, '.config/manifest.mjs', '--check']);
  const everything = check ?? '.ci/run';
  if (!isDry || check !== undefined) await show(['sh', '-c', everything]);

  console.log(`Assent ${version} of ${revision}, in ${out}:`);
  await make(out, manifest, date);

  const packages = await readdir(join(out, 'packages'));
  const metadata = join(out, 'image', 'metadata.json');
  const labels = { version, revision, source: manifest.homepage, created: date.toISOString() };
  const parts = pushes(out, version, targets, { labels, date, metadata, packages });
  for (const [option, part] of [
    ['image', 'image'],
    ['chart', 'chart'],
    ['registry', 'packages'],
  ]) {
    if (!(part in parts)) console.log(`Not pushed without --${option}: ${part}.`);
  }
  const digests = { image: 'sha256:…', chart: 'sha256:…' };
  console.log(isDry ? '\nNothing is pushed now. A release runs:' : '');
  if (isDry) console.log(`  ${everything}`);
  for (const [part, { commands, input, env = {} }] of Object.entries(parts)) {
    const before = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    for (const command of commands) {
      console.log(`  ${[...before, line(command), ...(input ? [`< ${line([input])}`] : [])].join(' ')}`);
      if (isDry) continue;
      const output = await show(command, { input, env });
      if (part === 'image') digests.image = (await json(metadata))['containerimage.digest'];
      if (part === 'chart') digests.chart = /sha256:[0-9a-f]{64}/.exec(output)?.[0] ?? digests.chart;
    }
  }
  console.log(`\nThen sign:\n  ${recipe(out, version, targets, digests).join('\n  ')}`);
}

try {
  const { values } = parseArgs({ options, allowNegative: true });
  if (values.version === undefined) await release(values);
  else await setVersion(values.version);
} catch (error) {
  console.error(error instanceof Refused ? error.message : error);
  process.exitCode = 1;
}
