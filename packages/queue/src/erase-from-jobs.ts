import type { Tx } from '@postrider/db';

/** Replaces text matched by a regular expression in the errors of jobs, and returns how many jobs were changed. */
export async function eraseFromJobs(tx: Tx, pattern: string, replacement: string): Promise<number> {
  const rows = await tx`
    update pgboss.job j set output = regexp_replace(j.output::text, ${pattern}::text, ${replacement}::text, 'gi')::jsonb
    where j.output is not null and j.output::text ~* ${pattern}::text
    returning true as changed`;
  return rows.length;
}
