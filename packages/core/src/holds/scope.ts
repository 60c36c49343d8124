import type { JobName } from '../process/jobs.ts';

export const holdScopes = ['instance', 'queue', 'destination', 'sender_domain', 'api_key', 'webhook'] as const;
export type HoldScope = (typeof holdScopes)[number];

/** What a hold of the instance is on. */
export const EVERYTHING = 'all';
/** The queues that a hold of the instance stops: all that leaves it. */
export const instanceQueues = ['delivery.attempt', 'webhook.deliver'] as const satisfies readonly JobName[];
