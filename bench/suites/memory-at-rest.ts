import { setTimeout as delay } from 'node:timers/promises';
import { residentMegabytes } from '../measure/process-memory.ts';
import { treeOf } from '../measure/process-tree.ts';
import { measureRounds } from '../measure/rounds.ts';
import { median } from '../measure/statistics.ts';
import type { BenchOptions } from '../options.ts';
import { startAllInOne } from '../product/all-in-one.ts';
import { inScratchFolder } from '../product/scratch-folder.ts';
import { line, type Report } from '../report/table.ts';

const GOAL_MB = 250;
const NODE = 'Node, MB';
const POSTGRES = 'Postgres, MB';
const NPM = 'npm, MB';
const BOTH = 'Node and Postgres, MB';

/** Measures S1: the memory of all-in-one some time after a second start, without any load in between. */
export async function benchMemoryAtRest({ rounds: count, rest_seconds }: BenchOptions): Promise<Report[]> {
  // Memory does not depend on who else uses the CPUs.
  const rounds = await measureRounds({ rounds: count, max_steal: 100 }, (keep) =>
    inScratchFolder('memory', async (folder) => {
      const first = await startAllInOne(folder);
      await first.stop();
      const running = await startAllInOne(folder);
      try {
        await delay(rest_seconds * 1000);
        const node = residentMegabytes([running.node]);
        const postgres = residentMegabytes(treeOf([running.postmaster]));
        keep(NODE, node);
        keep(POSTGRES, postgres);
        keep(BOTH, node + postgres);
        keep(NPM, residentMegabytes([running.npm]));
      } finally {
        await running.stop();
      }
    }),
  );
  const figure = (series: string) => `${median(rounds.values(series)).toFixed(0)} MB`;
  const parts = `${figure(BOTH)} (${figure(NODE)} + ${figure(POSTGRES)})`;
  const ratios = rounds.values(BOTH).map((megabytes) => megabytes / GOAL_MB);
  const lines = [
    line('S1', `Node and Postgres ÷ ${GOAL_MB} MB`, parts, ratios, { at_most: 1 }),
    line('', 'npm, the parent process', figure(NPM)),
  ];
  return [{ title: `Memory at rest, ${rest_seconds} s after a second start, median Pss`, lines, rounds }];
}
