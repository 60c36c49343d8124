import { z } from 'zod';
import { scopeField } from '../../api-keys/index.ts';
import { isoTime } from '../../fields/clock.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName, timeField } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { readFactorDueAt } from '../factors/policy-store.ts';
import { requirePerson } from '../person.ts';
import { workspaceRoles } from '../roles.ts';
import { readName, workspaceFor, workspacesOf } from '../store.ts';

const MAX_SHOWN = 100;

const accessSchema = z.object({
  id: idField(idPrefixes.workspace),
  name: z.string(),
  role: z.enum(workspaceRoles).nullable().meta({ description: 'null: an operator who is not a member.' }),
});

const personSchema = z.object({
  object: objectName('user'),
  id: idField(idPrefixes.user),
  email: z.string(),
  name: z.string().nullable(),
  operator: z.boolean(),
  workspace_id: idField(idPrefixes.workspace).meta({ description: 'The current workspace.' }),
  scopes: z.array(scopeField).readonly().meta({ description: 'Permissions there.' }),
  workspaces: z
    .array(accessSchema)
    .readonly()
    .meta({ description: `Their workspaces, oldest first, up to ${MAX_SHOWN}, and always the current one.` }),
  factor_due: z.boolean().meta({ description: 'Whether nothing else is possible until they have one.' }),
  factor_due_at: timeField.nullable().meta({
    description: 'When a policy requires a second factor; null if none does or they have one.',
  }),
});

type Person = z.output<typeof personSchema>;

/** Returns the signed-in user, with their scopes and workspace. */
export const whoAmI = operation({
  name: 'people.me',
  scope: null,
  without_factor: true,
  summary: 'The signed-in user with workspaces and roles',
  input: z.object({}),
  output: personSchema,
  async run(ctx): Promise<Person> {
    const { user_id, email, workspace_id, scopes, factor_due } = requirePerson(ctx);
    const operator = scopes.includes('operator');
    const person = { id: user_id, operator };
    const oldest = await workspacesOf(ctx.sql, person, MAX_SHOWN);
    const current = oldest.some(({ id }) => id === workspace_id)
      ? null
      : await workspaceFor(ctx.sql, person, workspace_id);
    const workspaces = current === null ? oldest : [...oldest, current];
    const due_at = await readFactorDueAt(ctx.sql, user_id, workspace_id);
    return {
      object: 'user',
      ...{ id: user_id, email, operator, workspace_id, scopes, workspaces },
      name: await readName(ctx.sql, user_id),
      factor_due,
      factor_due_at: due_at && isoTime(due_at),
    };
  },
});
