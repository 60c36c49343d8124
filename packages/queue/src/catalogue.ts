import type { z } from 'zod';

export interface JobOptions {
  /** How many times a job is retried after its process has failed. */
  readonly retry_limit: number;
  readonly retry_delay_seconds: number;
  /** After this time, an active job counts as lost even if its process sends heartbeats. */
  readonly expire_seconds: number;
  /** Without a heartbeat for this long, an active job returns to the queue. At least 10. */
  readonly heartbeat_seconds?: number;
  /** Turns the queue into a schedule, with one job at each match, in UTC. */
  readonly cron?: string;
  /** The name of a database function for triggers that adds a job for each element of a jsonb[]. */
  readonly sql_function?: string;
  /** How long a dead job is retained; 30 days by default. */
  readonly dead_seconds?: number;
}

/** Job name → payload and options; the type parameter of the queue. */
export type Catalogue = Readonly<Record<string, { readonly payload: z.ZodType; readonly options: JobOptions }>>;

export type Data<C extends Catalogue, N extends keyof C> = z.output<C[N]['payload']>;

export interface Job<D> {
  readonly id: string;
  readonly data: D;
  readonly retry_count: number;
}

/** A job and its attempt number, so that a late worker cannot settle a later attempt. */
export type JobHold = Pick<Job<unknown>, 'id' | 'retry_count'>;

export interface NewJob<D> {
  readonly data: D;
  /** Set if one of our tables stores the id of the job. */
  readonly id?: string;
  readonly start_after?: Date;
}
