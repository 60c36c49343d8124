import { z } from 'zod';
import { recordAudit } from '../../audit/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField, objectName } from '../../fields/wire.ts';
import { operation } from '../../operation/operation.ts';
import { requirePerson } from '../person.ts';
import { chainOf } from '../roles.ts';
import { writeName } from '../store.ts';

const MAX_CHARS = 100;
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Sets the name that others see beside the caller's email address. */
export const setName = operation({
  name: 'people.set_name',
  scope: null,
  summary: 'Set your name',
  input: z.object({
    name: z
      .string()
      .trim()
      .max(MAX_CHARS)
      .refine((text) => !UNSEEN.test(text), 'The name contains characters that cannot be seen.')
      .meta({ description: 'Empty: no name.' }),
  }),
  output: z.object({ object: objectName('user'), id: idField(idPrefixes.user), name: z.string().nullable() }),
  async run(ctx, { name: text }) {
    const actor = requirePerson(ctx);
    const name = text === '' ? null : text;
    await ctx.sql.begin(async (tx) => {
      if (!(await writeName(tx, actor.user_id, name))) return;
      // Not the name itself: the chain cannot be erased.
      await recordAudit(tx, ctx, [{ action: 'user.renamed', target_id: actor.user_id, workspace_id: chainOf(actor) }]);
    });
    return { object: 'user' as const, id: actor.user_id, name };
  },
});
