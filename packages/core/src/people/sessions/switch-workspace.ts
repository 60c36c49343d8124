import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { workspaceNotFound } from '../../operation/access.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf, workspaceRoles } from '../roles.ts';
import { workspaceFor } from '../store.ts';
import { moveSession } from './session-store.ts';

/** Sets the session's default workspace, for requests that do not name one, such as the dashboard's front page. */
export const switchWorkspace = operation({
  name: 'people.switch_workspace',
  scope: null,
  without_factor: true,
  summary: 'Set the default workspace of this session',
  input: z.object({ workspace_id: idField(idPrefixes.workspace) }),
  output: z.object({
    object: objectName('session'),
    workspace_id: idField(idPrefixes.workspace),
    name: z.string(),
    role: z.enum(workspaceRoles).nullable(),
  }),
  async run(ctx, { workspace_id }) {
    const actor = requirePerson(ctx);
    const person = { id: actor.user_id, operator: actor.scopes.includes('operator') };
    return ctx.sql.begin(async (tx) => {
      const access = await workspaceFor(tx, person, workspace_id);
      if (!access) throw workspaceNotFound(workspace_id);
      await moveSession(tx, actor.session_id, workspace_id);
      await recordAudit(tx, ctx, [
        {
          action: 'user.switched_workspace',
          target_id: actor.user_id,
          diff: { from: actor.workspace_id, to: workspace_id },
          workspace_id: person.operator ? chainOf(actor) : workspace_id,
        },
      ]);
      return { object: 'session' as const, workspace_id, name: access.name, role: access.role };
    });
  },
});
