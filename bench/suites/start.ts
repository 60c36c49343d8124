import { measureRounds } from '../measure/rounds.ts';
import { median } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { startAllInOne } from '../product/all-in-one.ts';
import { inScratchFolder } from '../product/scratch-folder.ts';
import { line, type Report } from '../report/table.ts';

const FIRST = 'first start until /readyz, s';
const SECOND = 'second start until /readyz, s';

/** Measures S1: `npm start` on a folder that already has a database. */
export async function benchStart({ rounds: count }: BenchOptions): Promise<Report[]> {
  const rounds = await measureRounds({ rounds: count }, (keep) =>
    inScratchFolder('start', async (folder) => {
      for (const series of [FIRST, SECOND]) {
        const running = await startAllInOne(folder);
        keep(series, running.ready_ms / 1000);
        await running.stop();
      }
    }),
  );
  const lines = [
    line('', 'first start until /readyz, installed already', `${median(rounds.values(FIRST)).toFixed(2)} s`),
    line('S1', 'second start until /readyz, in s', '', rounds.values(SECOND), { at_most: 2 }),
  ];
  return [{ title: 'Start of all-in-one with npm start, medians', lines, rounds }];
}
