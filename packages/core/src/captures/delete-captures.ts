import { z } from 'zod';
import { idPrefixes } from '../fields/ids.ts';
import { deletedField, idField, objectName } from '../fields/wire.ts';
import { accessibleMode } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { captureNotFound, requireCaptureContent } from './capture-entry.ts';
import { deleteCaptureRows } from './store.ts';

export const deleteCapture = operation({
  name: 'captures.delete',
  scope: null,
  sandbox: true,
  summary: 'Delete a captured email (admins and sandbox keys)',
  reasons: ['missing_scope', 'capture_not_found'],
  input: z.object({ id: idField(idPrefixes.capture) }),
  output: z.object({ object: objectName('capture'), id: idField(idPrefixes.capture), deleted: deletedField }),
  async run({ actor, sql }, { id }) {
    requireCaptureContent(actor);
    const sandbox_only = accessibleMode(actor) === 'sandbox';
    if ((await deleteCaptureRows(sql, actor.workspace_id, id, sandbox_only)) === 0) throw captureNotFound(id);
    return { object: 'capture' as const, id, deleted: true as const };
  },
});

export const clearCaptures = operation({
  name: 'captures.clear',
  scope: null,
  sandbox: true,
  summary: 'Delete all captured email in the workspace (admins), or in the sandbox (sandbox keys)',
  reasons: ['missing_scope'],
  input: z.object({}),
  output: z.object({
    object: objectName('captures'),
    deleted: z.int().meta({ description: 'Number of deleted emails.' }),
  }),
  async run({ actor, sql }) {
    requireCaptureContent(actor);
    const deleted = await deleteCaptureRows(sql, actor.workspace_id, null, accessibleMode(actor) === 'sandbox');
    return { object: 'captures' as const, deleted };
  },
});
