import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { requireOwn } from './ownership.ts';
import { allRules, dropTransport, lockTransports, noteChange, rulesOfWorkspaces, transportById } from './store.ts';

/** Deletes a transport that no rule names. Email that is being sent through it is finished. */
export const deleteTransport = operation({
  name: 'transports.delete',
  scope: null,
  summary: 'Delete a transport',
  reasons: ['transport_not_found', 'transport_in_use'],
  input: z.object({ transport_id: idField(idPrefixes.transport) }),
  output: z.object({ id: z.string(), deleted: z.literal(true) }),
  async run(ctx, { transport_id: id }) {
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      const row = requireOwn(ctx, id, await transportById(tx, id));
      const { workspace_id } = row;
      const rules = workspace_id === null ? await allRules(tx) : await rulesOfWorkspaces(tx, [workspace_id]);
      const position = rules.findIndex(({ transports }) => transports.includes(id)) + 1;
      if (position > 0)
        throw new AppError('transport_in_use', `Rule ${position} names ${row.name}. Change the rules first.`);
      await dropTransport(tx, id);
      await noteChange(tx, workspace_id);
      const diff = { name: row.name, kind: row.kind, host: row.host };
      const chain = { workspace_id: workspace_id ?? INSTANCE };
      await recordAudit(tx, ctx, [{ action: 'transport.deleted', target_id: id, ...chain, diff }]);
      return { id, deleted: true } as const;
    });
  },
});
