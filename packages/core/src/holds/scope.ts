export const holdScopes = ['queue', 'destination', 'sender_domain', 'api_key', 'webhook'] as const;
export type HoldScope = (typeof holdScopes)[number];
