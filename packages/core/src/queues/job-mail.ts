import { openStates } from '../delivery/index.ts';
import { isoTime } from '../fields/clock.ts';
import { jobId } from './job-id.ts';
import type { JobMatch } from './job-view.ts';
import type { JobMail } from './store.ts';

/** Returns whether a job is stale: its message is closed or deleted, or has another job after a reschedule. */
export function isLeftOver(job: JobMatch, mail: JobMail | null): boolean {
  if (mail === null || !openStates.some((open) => open === mail.state)) return true;
  return mail.job_id !== null && mail.job_id !== job.id;
}

/** Returns why a job's message cannot be sent immediately and what to do instead; null if the message can be sent. */
export function runRefusal(job: JobMatch, message_id: string, mail: JobMail | null): string | null {
  const drop = 'nothing is left to run. Use `queues cancel` to drop the job.';
  if (mail === null) return `${message_id} is gone; ${drop}`;
  if (isLeftOver(job, mail)) {
    const moved = openStates.some((open) => open === mail.state) && mail.job_id !== null;
    return moved
      ? `${message_id} waits for ${jobId(mail.job_id)} since it was moved; ${drop}`
      : `${message_id} is ${mail.state}; ${drop}`;
  }
  if (mail.held) return 'A worker is sending it now.';
  if (mail.state !== 'scheduled') return null;
  const replacement = `move it with PATCH /v1/email/${message_id}, or \`bulk preview send_now\`.`;
  return `${message_id} is scheduled for ${isoTime(mail.due_at)}: ${replacement}`;
}
