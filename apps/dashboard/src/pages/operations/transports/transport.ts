import type { Outputs } from '../../../api/trpc.ts';

export type Transport = Outputs['transports']['list']['data'][number];
export type Rule = Outputs['transports']['rules']['data'][number];
/** A transport that a rule can name. */
export type Choice = Pick<Transport, 'id' | 'name'>;

export const DEFAULT = 'default';
/** The product limit of transports per workspace, under any plan. */
const MAX_OWN_TRANSPORTS = 10;

/** Returns how many transports a workspace may have. */
export function ownLimit({ transports: { limit } }: Outputs['usage']['get']['plan_use']): number {
  return Math.min(limit ?? MAX_OWN_TRANSPORTS, MAX_OWN_TRANSPORTS);
}
