import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The bill of materials (CycloneDX) of a package and of what its dependencies are in a lock file: what npm makes, without
 * what differs from run to run. `hash` is the SHA-256 of the package itself. Needs no network.
 */
export async function makeSbom({ manifest, lock, type, omit = [], date, hash }) {
  const { name, version, description, license, homepage, repository, dependencies } = manifest;
  const folder = await mkdtemp(join(tmpdir(), 'assent-sbom-'));
  try {
    const own = { name, version, description, license, homepage, repository, dependencies };
    await writeFile(join(folder, 'package.json'), JSON.stringify(own));
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lock));
    const npm = (...args) => promisify(execFile)('npm', [...args, '--package-lock-only', '--offline'], { cwd: folder });
    await npm('install', '--ignore-scripts', '--no-audit', '--no-fund');
    const { stdout } = await npm(
      'sbom',
      '--sbom-format=cyclonedx',
      `--sbom-type=${type}`,
      ...omit.map((each) => `--omit=${each}`),
    );
    const { metadata, ...made } = JSON.parse(stdout);
    // npm names it after the folder.
    const component = { ...metadata.component, name, ...(hash && { hashes: [{ alg: 'SHA-256', content: hash }] }) };
    delete made.serialNumber;
    const content = { ...made, metadata: { ...metadata, timestamp: date.toISOString(), component } };
    const digest = createHash('sha256').update(JSON.stringify(content)).digest('hex');
    // A UUID of version 8, which says nothing of how it is made (RFC 9562, section 5.8).
    const uuid = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
    return `${JSON.stringify({ ...content, serialNumber: `urn:uuid:${uuid}` }, undefined, 2)}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
