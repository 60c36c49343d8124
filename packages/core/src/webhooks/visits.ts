import { randomUUID } from 'node:crypto';
import type { Services } from '../context.ts';
import type { JobData } from '../jobs.ts';
import { beginVisitRows, type Call, type Visit } from './visit-store.ts';

/** A fetched job that asks to look at an endpoint. */
export interface DeliverJob {
  readonly id: string;
  readonly retry_count: number;
  readonly data: JobData<'webhook.deliver'>;
}

export interface Begun {
  /** Endpoints that are the caller's alone from now on; each keeps one job until the visit ends. */
  readonly visits: readonly Visit[];
  /** Those that somebody visits already, or that take nothing now. */
  readonly others: readonly string[];
}

/** Merges jobs by their endpoints, and begins to look after those that nobody looks after. */
export async function beginVisits(
  { sql, jobs }: Pick<Services, 'sql' | 'jobs'>,
  fetched: readonly DeliverJob[],
  mine: readonly string[],
): Promise<Begun> {
  const kept = new Map<string, Call>();
  const surplus: Call[] = [];
  for (const { id, retry_count, data } of fetched) {
    const call = { ...data, job_id: id, retry_count };
    if (kept.has(data.webhook_id)) surplus.push(call);
    else kept.set(data.webhook_id, call);
  }
  const holder = randomUUID();
  const won = await beginVisitRows(sql, jobs, holder, [...kept.values()], surplus, mine);
  return {
    visits: [...kept.values()].filter((call) => won.has(call.webhook_id)).map((call) => ({ ...call, holder })),
    others: [...kept.keys()].filter((id) => !won.has(id)),
  };
}
