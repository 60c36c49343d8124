import type { Tx } from '@postrider/db';
import { addDeliveryJobs, transition } from '../../delivery/index.ts';
import { newJobId } from '../../fields/ids.ts';
import type { Services } from '../../operation/context.ts';
import type { Unsent } from './unsent.ts';
import { setSchedule } from './unsent-store.ts';

/**
 * Reschedules locked messages with new jobs. The old jobs do nothing, because their recipients are not due or have
 * already been sent to.
 */
export async function moveUnsent(
  tx: Tx,
  { jobs, clock }: Pick<Services, 'jobs' | 'clock'>,
  workspace_id: string,
  messages: readonly Unsent[],
  due_at: Date,
): Promise<void> {
  if (messages.length === 0) return;
  const now_ms = clock.now();
  const moves = messages.flatMap(({ waiting }) => waiting.map((key) => ({ ...key, due_at, job_id: newJobId(now_ms) })));
  await transition(tx, 'reschedule', moves);
  await setSchedule(
    tx,
    workspace_id,
    messages.map(({ message }) => message.id),
    due_at,
  );
  await addDeliveryJobs(
    tx,
    jobs,
    moves.map((move) => ({ ...move, start_after: due_at })),
  );
}
