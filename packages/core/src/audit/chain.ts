import { z } from 'zod';
import type { ActorContext } from '../context.ts';
import { scopeRefusal } from '../operation.ts';
import { INSTANCE } from './record.ts';

export const auditChains = ['workspace', 'instance'] as const;

export const chainField = z
  .enum(auditChains)
  .default('workspace')
  .meta({ description: 'instance: what belongs to no workspace; it needs the scope operator.' });

/** The chain that somebody may read: an admin the one of their workspace, an operator that of the instance. */
export function chainOf({ actor }: ActorContext, chain: z.output<typeof chainField>): string {
  const refusal = scopeRefusal(actor, chain === 'instance' ? 'operator' : 'admin');
  if (refusal) throw refusal;
  return chain === 'instance' ? INSTANCE : actor.workspace_id;
}
