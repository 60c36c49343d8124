// npm run test:upgrade -- [COMMIT]: rolls out this checkout while another release accepts and sends, by default the
// release that froze the schema, and reports how long requests took. Requires the repository's history, which a shallow
// clone lacks, and the packages of that release.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const BASELINE = 'packages/db/migrations/0001_baseline.sql';
const MAX_BYTES = 1 << 30;

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, maxBuffer: MAX_BYTES });

function baselineCommit(): string {
  const first_commit = git('log', '--diff-filter=A', '--format=%H', '--', BASELINE)
    .toString()
    .trim()
    .split('\n')
    .at(-1);
  const shallow = git('rev-parse', '--is-shallow-repository').toString().trim() === 'true';
  if (shallow || !first_commit) throw new Error('this clone has no history; git fetch --unshallow brings it');
  return first_commit;
}

/** Fills a directory with a commit's files and the packages in its lockfile. */
function fill(tree: string, commit: string): void {
  execFileSync('tar', ['-x', '-C', tree], { input: git('archive', commit) });
  const options = { cwd: tree, stdio: 'inherit' } as const;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], options);
  execFileSync(process.execPath, ['scripts/apply-patches.mjs'], options);
}

const commit = process.argv[2] ?? baselineCommit();
process.stdout.write(`From ${git('log', '-1', '--format=%h (%s)', commit).toString().trim()} to this tree\n`);
const before = mkdtempSync(join(tmpdir(), 'postrider-before-'));
try {
  fill(before, commit);
  const { status } = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      'vitest.journeys.config.ts',
      'apps/server/test/upgrade/rolling.journey.ts',
    ],
    { stdio: 'inherit', cwd: root, env: { ...process.env, POSTRIDER_RELEASE_BEFORE: before } },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(before, { recursive: true, force: true });
}
