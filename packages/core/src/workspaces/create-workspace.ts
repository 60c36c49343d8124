import { z } from 'zod';
import { insertKey, refuseLimitedKey } from '../api-keys/index.ts';
import { recordAudit } from '../audit/index.ts';
import { generateInTurn, insertProvenDomain } from '../domains/index.ts';
import { idPrefixes, newId } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { requireFreshSignIn } from '../operation/fresh-sign-in.ts';
import { operation } from '../operation/operation.ts';
import { newKeyRow } from './first-key.ts';
import { planName, planNotFound } from './plan-entry.ts';
import { lockPlan } from './plan-store.ts';
import { SANDBOX_DOMAIN } from './sandbox.ts';
import { insertWorkspace, workspaceById } from './store.ts';
import { nameField, type WorkspaceEntry, workspaceEntry, workspaceSchema } from './workspace-entry.ts';

const createdSchema = workspaceSchema.extend({
  api_key: z
    .object({ id: idField(idPrefixes.api_key), secret: z.string() })
    .meta({ description: 'Its first key, with the admin scope. The secret is only returned here.' }),
});
export type CreatedWorkspace = WorkspaceEntry & z.output<typeof createdSchema>;

/** Creates a workspace like the first one: with the sandbox domain and one key. */
export const createWorkspace = operation({
  name: 'workspaces.create',
  scope: 'operator',
  summary: 'Create a workspace with a sandbox domain and a first key, whose secret is returned once',
  reasons: ['dkim_keys_busy'],
  input: z.object({ name: nameField, plan: planName }),
  output: createdSchema,
  async run(ctx, { name, plan }): Promise<CreatedWorkspace> {
    await refuseLimitedKey(ctx);
    await requireFreshSignIn(ctx);
    // Generating the DKIM keys takes a tenth of a second, so it happens outside the transaction.
    const pairs = await generateInTurn(ctx, INSTANCE);
    const now_ms = ctx.clock.now();
    const id = newId('workspace', now_ms);
    const key = newKeyRow({ workspace_id: id, scopes: ['admin'], now_ms });
    return ctx.sql.begin(async (tx) => {
      if (!(await lockPlan(tx, plan))) throw planNotFound(plan);
      await insertWorkspace(tx, { id, name, plan });
      await insertProvenDomain(
        tx,
        ctx.encryption,
        { workspace_id: id, name: SANDBOX_DOMAIN, sandbox: true },
        pairs,
        now_ms,
      );
      await insertKey(tx, key.row);
      const row = await workspaceById(tx, id);
      if (!row) throw new Error('a workspace was inserted and not found');
      const fact = { action: 'workspace.created', target_id: id, diff: { name, plan } } as const;
      await recordAudit(tx, ctx, [
        { ...fact, workspace_id: id },
        { ...fact, workspace_id: INSTANCE },
      ]);
      return { ...workspaceEntry(row), api_key: { id: key.row.id, secret: key.secret } };
    });
  },
});
