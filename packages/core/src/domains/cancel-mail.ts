import { openStates, transition } from '../delivery/index.ts';
import { newId } from '../fields/ids.ts';
import type { Services } from '../operation/context.ts';
import type { JobData } from '../process/jobs.ts';
import { returnUsage } from '../usage/index.ts';
import { type OpenMail, type OpenRecipient, openMailOf, openRecipientsOf } from './open-mail-store.ts';

const PAGE = 1000;
const BATCH = 100;
// Retry delay for messages being sent while their domain is removed: they finish, or are deferred and can be canceled.
const RETRY_DELAY_MS = 60_000;

/**
 * Cancels the open messages of a removed domain, in batches. Messages accepted after the name was added again are kept.
 * Idempotent.
 */
export async function cancelMailOf(
  services: Pick<Services, 'sql' | 'jobs' | 'clock'>,
  { workspace_id, domain }: JobData<'domain.cancel_mail'>,
): Promise<void> {
  let sending = 0;
  for (const status of openStates) {
    for (let after = ''; ; ) {
      const page = await openMailOf(services.sql, { workspace_id, domain, status }, after, PAGE);
      for (let start = 0; start < page.messages.length; start += BATCH) {
        sending += await cancelBatch(services, workspace_id, page.messages.slice(start, start + BATCH));
      }
      if (page.last === null) break;
      after = page.last;
    }
  }
  if (sending > 0) {
    const start_after = new Date(services.clock.now() + RETRY_DELAY_MS);
    const next_job = { data: { workspace_id, domain }, start_after };
    await services.sql.begin((tx) => services.jobs.send(tx, 'domain.cancel_mail', [next_job]));
  }
}

/** Returns how many recipients are being sent to and could not be canceled. */
async function cancelBatch(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  workspace_id: string,
  messages: readonly OpenMail[],
): Promise<number> {
  return sql.begin(async (tx) => {
    const open = await openRecipientsOf(tx, workspace_id, messages);
    const now_ms = clock.now();
    const canceled = await transition(
      tx,
      'cancel',
      open.map(({ message_id, recipient_id }) => ({
        workspace_id,
        message_id,
        recipient_id,
        event_id: newId('event', now_ms),
        event_facts: { reason: 'domain_removed' },
        reason: 'domain_removed',
      })),
    );
    const recipient_ids = new Set(canceled.map((row) => row.recipient_id));
    const untried = open.filter(
      (row) => recipient_ids.has(row.recipient_id) && row.mode === 'live' && row.sent_at === null,
    );
    for (const rows of Map.groupBy(untried, dayOf).values()) {
      const [first] = rows;
      if (first) await returnUsage(tx, workspace_id, first.created_at, rows.length);
    }
    return open.length - canceled.length;
  });
}

/** Returns the day of acceptance, because usage is counted by day. */
function dayOf({ created_at }: OpenRecipient): string {
  return created_at.toISOString().slice(0, 10);
}
