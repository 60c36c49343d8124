import { setTimeout as pause } from 'node:timers/promises';
import { retryingDeadlock, type Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { endTurn, lockNextTurn, postpone, type Turn, type TurnLine } from './turn-store.ts';

// What is due may be under way in another process, or become due.
const POLL_MS = 1000;
const RETRY_MS = 30_000;
// Less than the time after which the job counts as lost.
const MAX_RUN_MS = 600_000;

export interface Turns {
  readonly line: TurnLine;
  /** The row for which the job was added. */
  readonly own: string;
  /** Whether that row has ended. */
  isOver(): Promise<boolean>;
  /** One slice of a row, in the transaction that locks it. */
  work(tx: Tx, turn: Turn): Promise<void>;
  /** After the commit of a slice. */
  onSlice?(): void;
}

/**
 * Works in turns of workspaces until the job's own row has ended: it may be a slice of any row that is next, so the order
 * of the jobs in the queue does not matter. False if the time is up.
 */
export async function takeTurns({ sql, log }: Pick<Services, 'sql' | 'log'>, turns: Turns): Promise<boolean> {
  const until = performance.now() + MAX_RUN_MS;
  while (!(await turns.isOver())) {
    if (performance.now() >= until) return false;
    let turn: Turn | null = null;
    try {
      await retryingDeadlock(() =>
        sql.begin(async (tx) => {
          turn = await lockNextTurn(tx, turns.line);
          if (!turn) return;
          await turns.work(tx, turn);
          await endTurn(tx, turns.line, turn.workspace_id);
        }),
      );
    } catch (error) {
      // Assigned in the callback, which the type checker does not follow.
      const failed = turn as Turn | null;
      if (!failed) throw error;
      // A row that fails must not stay the first of the line.
      await postpone(sql, turns.line, failed.key, RETRY_MS);
      if (failed.key === turns.own) throw error;
      log.error({ err: error, line: turns.line, key: failed.key }, 'a slice of queued work failed');
    }
    if (turn) turns.onSlice?.();
    else await pause(POLL_MS);
  }
  return true;
}
