import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from '../faults/check.ts';
import type { Drill } from './drill.ts';
import { need } from './needs.ts';
import { printChecks } from './outcome.ts';

const UNITS = fileURLToPath(new URL('../../deploy/systemd/', import.meta.url));

/** Verifies the units of deploy/systemd with systemd, plus a broken one to prove that errors would show. */
export const unitsDrill: Drill = {
  about: 'systemd-analyze verify reads the units of deploy/systemd',
  async run({ folder }) {
    need('systemd-analyze');
    const names = readdirSync(UNITS).filter((name) => name.endsWith('.service'));
    const problems = names.flatMap((name) => problemsOf(join(UNITS, name)));
    const spoiled = join(folder, 'postrider.service');
    const unit = readFileSync(join(UNITS, 'postrider.service'), 'utf8');
    writeFileSync(spoiled, unit.replace('ExecStart=', 'ExecStrat='));
    return printChecks('units', [
      check('units that systemd faults', problems),
      check('a unit with a misspelled setting is not faulted', problemsOf(spoiled).length > 0 ? [] : [spoiled]),
      check('no unit was read', names.length > 0 ? [] : [UNITS]),
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
