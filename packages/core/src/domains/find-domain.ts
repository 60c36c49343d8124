import { canonicalDomain } from '@postrider/mail';
import { z } from 'zod';
import { isId } from '../fields/ids.ts';
import type { ActorContext } from '../operation/context.ts';
import { domainNotFound } from './domain-entry.ts';
import { type DomainRow, domainByName, domainsByIds } from './store.ts';

/** A domain in a path: its name in any spelling, or its id, which cannot be a name because of the underscore. */
export const domainParameter = z.string().meta({ description: 'The domain name.', examples: ['example.com'] });

export async function findDomain(ctx: ActorContext, text: string): Promise<DomainRow> {
  const { workspace_id } = ctx.actor;
  const [identified] = isId('domain', text) ? await domainsByIds(ctx.sql, workspace_id, [text]) : [];
  if (identified) return identified;
  const name = canonicalDomain(text);
  const row = name === null ? null : await domainByName(ctx.sql, workspace_id, name);
  if (!row) throw domainNotFound(text);
  return row;
}
