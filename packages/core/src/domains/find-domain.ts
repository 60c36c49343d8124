import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import type { ActorContext } from '../operation/context.ts';
import { domainNotFound } from './domain-entry.ts';
import { type DomainRow, domainByName } from './store.ts';

/** A domain in a path, in any spelling. */
export const domainParameter = z.string().meta({ description: 'The name of the domain.', examples: ['example.com'] });

export async function findDomain(ctx: ActorContext, text: string): Promise<DomainRow> {
  const name = canonicalDomain(text);
  const row = name === null ? null : await domainByName(ctx.sql, ctx.actor.workspace_id, name);
  if (!row) throw domainNotFound(text);
  return row;
}
