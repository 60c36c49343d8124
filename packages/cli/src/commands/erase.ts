import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { createClient } from '../connect/client.ts';
import { show, type Terminal, table } from '../terminal/terminal.ts';

const erasure = z.looseObject({
  id: z.string(),
  status: z.string(),
  counts: z.record(z.string(), z.number()),
  remains: z.array(z.string()),
});

const POLL_MS = 500;

export function addErase(program: Command, terminal: Terminal): void {
  program
    .command('erase <email>')
    .description('erase an address and the content of its mail; prints a receipt without the address')
    .option('--no-wait', 'print the run that was started, and do not wait for its end')
    .option('--json', 'print JSON')
    .action(async (email: string, { wait, json }: { readonly wait: boolean; readonly json?: boolean }) => {
      const client = createClient(terminal);
      let run = await client.call('POST', '/erasures', erasure, { body: { email } });
      while (wait && run.status !== 'completed') {
        await pause(POLL_MS);
        run = await client.call('GET', `/erasures/${run.id}`, erasure);
      }
      show(terminal, json, run, () =>
        [
          `${run.id}  ${run.status}`,
          table(Object.entries(run.counts).map(([kind, count]) => [kind, String(count)])),
          'It may remain in:',
          ...run.remains.map((place) => `  ${place}`),
        ].join('\n'),
      );
    });
}
