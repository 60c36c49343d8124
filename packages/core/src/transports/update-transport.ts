import { z } from 'zod';
import { changesOf, recordAudit } from '../audit/index.ts';
import { idPrefixes } from '../fields/ids.ts';
import { idField } from '../fields/wire.ts';
import { INSTANCE } from '../operation/access.ts';
import { operation } from '../operation/operation.ts';
import { reopenSpentLanes } from './limit-store.ts';
import { requireOwn } from './ownership.ts';
import { requireFreeName, requireWhole, sealed } from './requirements.ts';
import { lockTransports, noteChange, putTransport, transportById } from './store.ts';
import { nameField, settingFields, type TransportEntry, transportEntry, transportSchema } from './transport.ts';

/** Changes a transport. Email that is being sent through it is finished with the settings from before. */
export const updateTransport = operation({
  name: 'transports.update',
  scope: null,
  summary: 'Change a transport',
  reasons: ['transport_not_found', 'transport_exists'],
  input: z.object({
    transport_id: idField(idPrefixes.transport),
    name: nameField.optional(),
    ...settingFields,
  }),
  output: transportSchema,
  async run(ctx, { transport_id: id, ...input }): Promise<TransportEntry> {
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      const before = requireOwn(ctx, id, await transportById(tx, id));
      const username = input.username === undefined ? before.username : input.username;
      // Without a user, the stored password goes too.
      const stored = username === null ? null : before.password;
      const password = input.password === undefined ? stored : sealed(ctx, id, input.password);
      const next = {
        ...before,
        name: input.name ?? before.name,
        host: input.host?.toLowerCase() ?? before.host,
        port: input.port ?? before.port,
        tls: input.tls ?? before.tls,
        username,
        password,
        envelope_from: input.envelope_from ?? before.envelope_from,
        signing: input.signing ?? before.signing,
        headers: input.headers === undefined ? before.headers : JSON.stringify(input.headers),
        max_connections: input.max_connections === undefined ? before.max_connections : input.max_connections,
        messages_per_minute:
          input.messages_per_minute === undefined ? before.messages_per_minute : input.messages_per_minute,
        messages_per_day: input.messages_per_day === undefined ? before.messages_per_day : input.messages_per_day,
      };
      requireWhole(before.kind, next);
      await requireFreeName(tx, before.workspace_id, next.name, id);
      const row = await putTransport(tx, next);
      // The new limits decide whether they stay closed.
      await reopenSpentLanes(tx, id);
      await noteChange(tx, before.workspace_id);
      const changes = changesOf(before, row, [
        'name',
        'host',
        'port',
        'tls',
        'username',
        'envelope_from',
        'signing',
        'headers',
        'max_connections',
        'messages_per_minute',
        'messages_per_day',
      ]);
      const diff = { ...changes, ...(input.password !== undefined && { password: 'replaced' }) };
      const chain = { workspace_id: before.workspace_id ?? INSTANCE };
      await recordAudit(tx, ctx, [{ action: 'transport.updated', target_id: id, ...chain, diff }]);
      return transportEntry(row);
    });
  },
});
