import { invoke, type List } from '@postrider/core';
import { createHold, type HoldEntry, listHolds, releaseHold } from '@postrider/core/holds';
import type { Holds } from '../connect/holds.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Machine, withMachine } from './machine.ts';

/** Manages holds without a key, for a machine on which nothing responds, as after a restore. */
export function machineHolds(terminal: Terminal): Holds {
  const onMachine = <T>(work: (machine: Machine) => Promise<T>) => withMachine(terminal, work);
  return {
    create: (hold) => onMachine(async (machine) => invoke(await machine.asWorkspace(), createHold, hold)),
    release: ({ id, ...rest }) =>
      onMachine(async (machine) => invoke(await machine.asWorkspace(), releaseHold, { hold_id: id, ...rest })),
    list: (active) =>
      onMachine(async (machine) => {
        const ctx = await machine.asWorkspace();
        const holds: HoldEntry[] = [];
        let cursor: string | undefined;
        do {
          const page: List<HoldEntry> = await invoke(ctx, listHolds, { active, limit: 100, cursor });
          holds.push(...page.data);
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        return holds;
      }),
  };
}
