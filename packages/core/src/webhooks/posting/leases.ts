import { randomUUID } from 'node:crypto';
import type { Services } from '../../operation/context.ts';
import type { JobData } from '../../process/jobs.ts';
import { type Call, type EndpointLease, takeLeaseRows } from './lease-store.ts';

/** A fetched job for an endpoint. */
export interface DeliverJob {
  readonly id: string;
  readonly retry_count: number;
  readonly data: JobData<'webhook.deliver'>;
}

export interface LeaseStart {
  /** The leases won; each holds one job until it ends. */
  readonly endpointLeases: readonly EndpointLease[];
  /** Endpoints that are already leased or cannot be posted to now. */
  readonly others: readonly string[];
}

/** Merges jobs by endpoint and leases the endpoints that are free. */
export async function takeEndpointLeases(
  { sql, jobs }: Pick<Services, 'sql' | 'jobs'>,
  fetched: readonly DeliverJob[],
  holders: readonly string[],
): Promise<LeaseStart> {
  const calls = new Map<string, Call>();
  const surplus: Call[] = [];
  for (const { id, retry_count, data } of fetched) {
    const call = { ...data, job_id: id, retry_count };
    if (calls.has(data.webhook_id)) surplus.push(call);
    else calls.set(data.webhook_id, call);
  }
  const holder = randomUUID();
  const won = await takeLeaseRows(sql, jobs, holder, [...calls.values()], surplus, holders);
  return {
    endpointLeases: [...calls.values()].filter((call) => won.has(call.webhook_id)).map((call) => ({ ...call, holder })),
    others: [...calls.keys()].filter((id) => !won.has(id)),
  };
}
