import type { JobName } from '../process/jobs.ts';

export const holdScopes = ['instance', 'queue', 'destination', 'sender_domain', 'api_key', 'webhook'] as const;
export type HoldScope = (typeof holdScopes)[number];

/** The target of a hold on the instance. */
export const EVERYTHING = 'all';
/** The queues that a hold on the instance stops: those whose jobs send anything out of the instance. */
export const instanceQueues = ['delivery.attempt', 'webhook.deliver'] as const satisfies readonly JobName[];
