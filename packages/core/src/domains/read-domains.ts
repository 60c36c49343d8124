import { z } from 'zod';
import type { ActorContext } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { type DomainEntry, domainEntry, domainSchema } from './domain-entry.ts';
import { type DomainRow, domainsByIds, domainsByNames, publicKeysOf } from './store.ts';

const MAX_IDS = 1000;
const output = z.array(domainSchema.nullable()).readonly();

/** Returns domains by id, in the order given; null for those not in the workspace. */
export const readDomains = operation({
  name: 'domains.read_many',
  scope: 'domains:read',
  sandbox: true,
  summary: 'Domains by ID',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output,
  async run(ctx, { ids }) {
    const entries = await entriesOf(ctx, await domainsByIds(ctx.sql, ctx.actor.workspace_id, ids));
    const by_id = new Map(entries.map((entry) => [entry.id, entry]));
    return ids.map((id) => by_id.get(id) ?? null);
  },
});

/** Returns domains by canonical name, in the order given; null for those not in the workspace. */
export const readDomainsByName = operation({
  name: 'domains.read_named',
  scope: 'domains:read',
  sandbox: true,
  summary: 'Domains by name',
  input: z.object({ ids: z.array(z.string()).max(MAX_IDS) }),
  output,
  async run(ctx, { ids }) {
    const entries = await entriesOf(ctx, await domainsByNames(ctx.sql, ctx.actor.workspace_id, ids));
    const by_name = new Map(entries.map((entry) => [entry.name, entry]));
    return ids.map((name) => by_name.get(name) ?? null);
  },
});

async function entriesOf(ctx: ActorContext, rows: readonly DomainRow[]): Promise<DomainEntry[]> {
  const keys = await publicKeysOf(
    ctx.sql,
    rows.map((row) => row.id),
  );
  const byDomain = Map.groupBy(keys, (key) => key.domain_id);
  return rows.map((row) => domainEntry(row, byDomain.get(row.id) ?? [], ctx));
}
