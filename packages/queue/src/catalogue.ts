import type { z } from 'zod';

export interface JobOptions {
  /** How often pg-boss may hand a job out again after a fault of the process that ran it. */
  readonly retry_limit: number;
  readonly retry_delay_seconds: number;
  /** When an active job counts as lost although its process still sends heartbeats. */
  readonly expire_seconds: number;
  /** Without a touch for this long, an active job goes back to the queue. At least 10. */
  readonly heartbeat_seconds?: number;
  /** Makes this a schedule: one job at each match, in UTC. */
  readonly cron?: string;
  /** The name of a function that adds jobs from inside the database, for triggers: one for each element of a jsonb[]. */
  readonly sql_function?: string;
  /** How long a job is kept whose retries are used up; 30 days where none is given. */
  readonly dead_seconds?: number;
}

/** Job name → what its payload is and how it is kept. Every function of the queue is typed by one. */
export type Catalogue = Readonly<Record<string, { readonly payload: z.ZodType; readonly options: JobOptions }>>;

export type Data<C extends Catalogue, N extends keyof C> = z.output<C[N]['payload']>;

export interface Job<D> {
  readonly id: string;
  readonly data: D;
  readonly retry_count: number;
}

/** A job and the attempt under which it was fetched, so that a late worker settles nothing. */
export type JobHold = Pick<Job<unknown>, 'id' | 'retry_count'>;

export interface NewJob<D> {
  readonly data: D;
  /** Given where our own row remembers its job. */
  readonly id?: string;
  readonly start_after?: Date;
}
