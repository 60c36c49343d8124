import type { JobName } from '../process/jobs.ts';

export const holdScopes = ['instance', 'queue', 'destination', 'sender_domain', 'api_key', 'webhook'] as const;
export type HoldScope = (typeof holdScopes)[number];

/** The target of a hold on the instance. */
export const EVERYTHING = 'all';
/** The queues stopped by a hold on the instance: everything that leaves it. */
export const instanceQueues = ['delivery.attempt', 'webhook.deliver'] as const satisfies readonly JobName[];
