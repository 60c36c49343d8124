// npm run release: writes a release of the commit into dist: an archive with the code, its production dependencies, the
// built dashboard and Node for each architecture, whose deploy/install.sh installs it; the packages of the SDK and the
// command line; the bill of materials, the notes and the checksums. With --image, the container image too. Two builds
// of one commit write the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCli, cliPackage } from '../build-cli.ts';
import { buildSdk, sdkPackage } from '../build-sdk.ts';
import { root } from '../image/buildah.ts';
import { addNode, architectures, createTree, writeArchive } from './archive.ts';
import { bundleService } from './bundle.ts';
import { releaseNotes } from './notes.ts';
import { checkNotices } from './notices.ts';
import { billOfMaterials } from './sbom.ts';
import { readVersion } from './version.ts';

const target = join(root, 'dist');

async function buildRelease(): Promise<void> {
  if (process.platform !== 'linux') throw new Error('A release is built on Linux.');
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changes !== '') throw new Error(`A release is built from a commit, and these files differ from it:\n${changes}`);
  const version = readVersion();
  const notes = releaseNotes(version);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  run('npm', ['run', '--silent', 'build', '--workspace=@postrider/dashboard']);
  const bill = billOfMaterials();
  checkNotices(bill);
  writeFileSync(join(target, `postrider-${version}.cdx.json`), bill);
  writeFileSync(join(target, `postrider-${version}-notes.md`), notes);
  await writeArchives(version, bill);
  await buildSdk();
  await buildCli();
  for (const folder of [sdkPackage, cliPackage]) run('npm', ['pack', '--silent', '--pack-destination', target, folder]);
  if (process.argv.includes('--image')) buildImage(version, bill);
  writeChecksums();
}

async function writeArchives(version: string, bill: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-release-'));
  const name = `postrider-${version}`;
  try {
    createTree(join(folder, name), version, bill);
    await bundleService(join(folder, name));
    for (const architecture of architectures) {
      addNode(join(folder, name), architecture);
      const archive = `${name}-linux-${architecture}.tar.gz`;
      writeArchive(join(folder, archive), folder, name);
      run('mv', [join(folder, archive), join(target, archive)]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function buildImage(version: string, bill: string): void {
  const file = join(root, 'sbom.cdx.json');
  writeFileSync(file, bill);
  try {
    const archive = join(target, `postrider-${version}-image-${process.arch}.tar`);
    run('npm', ['run', '--silent', 'image:build', '--', `--archive=${archive}`]);
  } finally {
    rmSync(file);
  }
}

/** Writes the checksums last, so that an interrupted build has none. */
function writeChecksums(): void {
  const files = readdirSync(target).toSorted();
  const lines = files.map((file) => {
    const hash = createHash('sha256').update(readFileSync(join(target, file)));
    return `${hash.digest('hex')}  ${file}\n`;
  });
  writeFileSync(join(target, 'SHA256SUMS.part'), lines.join(''));
  renameSync(join(target, 'SHA256SUMS.part'), join(target, 'SHA256SUMS'));
  console.log(lines.join('').trimEnd());
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, [...args], { cwd: root, stdio: 'inherit' });
}

if (import.meta.main) await buildRelease();
