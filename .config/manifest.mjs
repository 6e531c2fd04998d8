// Renders docs/operate/kubernetes.yaml from the chart: `npm run manifest`, with Helm 3.8 or later on the PATH or in HELM.
// With --check it writes nothing, and fails if the file is stale. Without Helm it compares the hash of the chart's files.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const chart = fileURLToPath(new URL('../docs/operate/chart', import.meta.url));
const file = fileURLToPath(new URL('../docs/operate/kubernetes.yaml', import.meta.url));
const values = join(chart, 'ci/manifest-values.yaml');
const helm = process.env.HELM || 'helm';

/** Of what the text depends on. The version is left out: a release writes it into both. */
function hashOfSources() {
  const templates = readdirSync(join(chart, 'templates')).sort();
  const hash = createHash('sha256');
  for (const path of ['values.yaml', 'ci/manifest-values.yaml', ...templates.map((name) => `templates/${name}`)]) {
    hash.update(`${path}\n`).update(readFileSync(join(chart, path)));
  }
  return hash.digest('hex').slice(0, 32);
}

const head = `# The registry without Helm: kubernetes.md says what to change, and how to apply it. Postgres and the ingress are yours:
# this file names neither. The Secret \`assent\` has DATABASE_URL and ASSENT_CREDENTIAL_KEYS.
# Rendered from chart/ by \`npm run manifest\`: don't edit it in this repository. Sources: ${hashOfSources()}
`;

async function rendered() {
  const { status, stdout, stderr } = spawnSync(helm, ['template', 'assent', chart, '--values', values], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`helm failed:\n${stderr}`);
  // What only Helm uses.
  const text = stdout.replace(/^(?:# Source: .*| *app\.kubernetes\.io\/managed-by: .*| *helm\.sh\/chart: .*)\n/gm, '');
  return format(head + text.replace(/^---\n/, ''), { ...(await resolveConfig(file)), filepath: file });
}

const hasHelm = spawnSync(helm, ['version']).status === 0;
if (!process.argv.includes('--check')) {
  if (!hasHelm) throw new Error('Helm is needed: put it on the PATH, or name it in HELM.');
  writeFileSync(file, await rendered());
} else {
  const present = readFileSync(file, 'utf8');
  const isFresh = hasHelm ? present === (await rendered()) : present.startsWith(head);
  if (!isFresh) {
    console.error('docs/operate/kubernetes.yaml is stale: npm run manifest');
    process.exitCode = 1;
  }
}
