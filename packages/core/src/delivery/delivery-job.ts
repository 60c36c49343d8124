import type { Job } from '@postrider/queue';
import { keyOf, type RecipientKey } from '../states/index.ts';

export type DeliveryJob = Job<RecipientKey>;

/** The next job of a recipient. */
export function jobFor({ job_id, start_after, ...key }: RecipientKey & { job_id: string; start_after: Date }) {
  return { id: job_id, start_after, data: keyOf(key) };
}
