import type { Services } from '../operation/context.ts';
import { lockBulk, openBulks, passTurn } from './store.ts';

// Longer than pg-boss takes to detect a dead worker.
const OVERDUE_SECONDS = 60;

/**
 * Creates a job for each open operation without one, so that every operation ends. In steady state every open operation
 * has a job, so each one created here is logged as an error.
 */
export async function reconcileBulk({
  sql,
  jobs,
  log,
  metrics,
}: Pick<Services, 'sql' | 'jobs' | 'log' | 'metrics'>): Promise<number> {
  const open = await openBulks(sql, OVERDUE_SECONDS);
  if (open.length === 0) return 0;
  const worked = await jobs.liveAbout(sql, 'bulk.run', 'bulk_id', open);
  const rescued: string[] = [];
  for (const bulk_id of open.filter((id) => !worked.has(id))) {
    const has_job = await sql.begin(async (tx) => {
      const bulk = await lockBulk(tx, bulk_id);
      const is_open = bulk?.status === 'queued' || bulk?.status === 'running';
      // Another process may have been faster.
      if (!is_open || (await jobs.liveAbout(tx, 'bulk.run', 'bulk_id', [bulk_id])).size > 0) return false;
      const { turn, start_after } = await passTurn(tx, bulk_id);
      await jobs.send(tx, 'bulk.run', [{ data: { bulk_id, turn }, start_after }]);
      return true;
    });
    if (has_job) rescued.push(bulk_id);
  }
  if (rescued.length > 0) {
    metrics.shift('invariant_violations', ['bulk_without_job'], rescued.length);
    log.error({ ids: rescued }, 'rescheduled bulk operations that had no live job');
    jobs.wakeAll('bulk.run');
  }
  return rescued.length;
}
