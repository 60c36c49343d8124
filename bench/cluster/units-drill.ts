import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from '../faults/check.ts';
import type { Drill } from './drill.ts';
import { need } from './needs.ts';
import { printChecks } from './outcome.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const UNITS = join(ROOT, 'deploy/systemd');

/** Verifies the units of deploy/systemd with systemd, plus a broken one to prove that errors would show. */
export const unitsDrill: Drill = {
  about: 'systemd-analyze verify reads the units of deploy/systemd',
  async run({ folder }) {
    need('systemd-analyze');
    const names = readdirSync(UNITS).filter((name) => name.endsWith('.service'));
    // systemd looks for the programs, which are where install.sh puts them.
    const unitOf = (name: string) =>
      readFileSync(join(UNITS, name), 'utf8').replaceAll('/opt/postrider/current/', ROOT);
    for (const name of names) writeFileSync(join(folder, name), unitOf(name));
    const problems = names.flatMap((name) => problemsOf(join(folder, name)));
    const spoiled = join(folder, 'spoiled', 'postrider.service');
    mkdirSync(join(folder, 'spoiled'));
    writeFileSync(spoiled, unitOf('postrider.service').replace('ExecStart=', 'ExecStrat='));
    return printChecks('units', [
      check('units with systemd errors', problems),
      check('a misspelled setting in a unit is not reported', problemsOf(spoiled).length > 0 ? [] : [spoiled]),
      check('no units were read', names.length > 0 ? [] : [UNITS]),
    ]);
  },
};

/**
 * Returns every problem that systemd reports for a unit, including warnings: an unknown setting is only a warning,
 * which does not change the exit code.
 */
function problemsOf(path: string): string[] {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  const lines = `${stdout}${stderr}`.split('\n').filter(Boolean);
  return status === 0 ? lines : [`${path}: ends with ${status}`, ...lines];
}
