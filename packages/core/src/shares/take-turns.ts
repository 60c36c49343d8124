import { setTimeout as pause } from 'node:timers/promises';
import { retryingDeadlock, type Tx } from '@postrider/db';
import type { Services } from '../operation/context.ts';
import { endTurn, lockNextTurn, postpone, type Turn, type TurnLine } from './turn-store.ts';

// Polls, because due work may be running in another process, or other work may become due.
const POLL_MS = 1000;
const RETRY_MS = 30_000;
// Less than the time after which the job counts as lost.
const MAX_RUN_MS = 600_000;

export interface Turns {
  readonly line: TurnLine;
  /** The row the job was added for. */
  readonly own: string;
  /** Returns whether the job's own row has finished. */
  isOver(): Promise<boolean>;
  /** Processes one slice of a row, in the transaction that locks it. */
  work(tx: Tx, turn: Turn): Promise<void>;
  /** Called after the commit of a slice. */
  onSlice?(): void;
}

/**
 * Works through workspaces round-robin until the job's own row has finished. Each slice processes whichever row is
 * next, so the order of jobs in the queue does not matter. Returns false if the time runs out first.
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
      // Assigned in the callback, which the type checker does not track.
      const failed = turn as Turn | null;
      if (!failed) throw error;
      // A row that fails must not stay at the head of the queue.
      await postpone(sql, turns.line, failed.key, RETRY_MS);
      if (failed.key === turns.own) throw error;
      log.error({ err: error, line: turns.line, key: failed.key }, 'a slice of queued work failed');
    }
    if (turn) turns.onSlice?.();
    else await pause(POLL_MS);
  }
  return true;
}
