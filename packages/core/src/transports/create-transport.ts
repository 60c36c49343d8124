import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { requireRoomInPlan } from '../usage/index.ts';
import { ownerOf, reachField } from './ownership.ts';
import { misplaced, requireFreeName, requireWhole, sealed } from './requirements.ts';
import { allTransports, lockTransports, noteChange, putTransport } from './store.ts';
import {
  MAX_OWN_TRANSPORTS,
  MAX_TRANSPORTS,
  nameField,
  settingFields,
  signingFor,
  type TransportEntry,
  transportEntry,
  transportKinds,
  transportSchema,
} from './transport.ts';

const DEFAULT_PORT = 587;

/** Creates a transport, which sends nothing until a rule names it. */
export const createTransport = operation({
  name: 'transports.create',
  scope: null,
  summary: "Create a transport of the instance (operators) or of the workspace's own (admins)",
  reasons: ['transport_exists', 'transport_limit'],
  input: z.object({
    reach: reachField,
    name: nameField,
    kind: z.enum(transportKinds).meta({ description: 'mx: to the recipients’ servers. smtp: through a relay.' }),
    ...settingFields,
  }),
  output: transportSchema,
  async run(ctx, input): Promise<TransportEntry> {
    const { kind, name } = input;
    const workspace_id = ownerOf(ctx, input.reach);
    requireWhole(kind, input);
    if (workspace_id !== null && kind !== 'smtp')
      throw misplaced('kind', 'A transport of a workspace has the kind smtp.');
    return ctx.sql.begin(async (tx) => {
      if (workspace_id !== null) await requireRoomInPlan(tx, workspace_id, 'transports');
      await lockTransports(tx);
      const rows = await allTransports(tx, workspace_id);
      const max = workspace_id === null ? MAX_TRANSPORTS : MAX_OWN_TRANSPORTS;
      if (rows.length >= max)
        throw new AppError('transport_limit', `There are ${max} transports already. Delete one first.`);
      await requireFreeName(tx, workspace_id, name, null);
      const id = newId('transport', ctx.clock.now());
      const row = await putTransport(tx, {
        id,
        workspace_id,
        name,
        kind,
        host: input.host?.toLowerCase() ?? null,
        port: kind === 'smtp' ? (input.port ?? DEFAULT_PORT) : null,
        tls: kind === 'smtp' ? (input.tls ?? 'starttls') : null,
        username: input.username ?? null,
        password: input.password === undefined ? null : sealed(ctx, id, input.password),
        envelope_from: input.envelope_from ?? 'ours',
        signing: input.signing ?? signingFor(input.host ?? ''),
        headers: JSON.stringify(input.headers ?? {}),
        max_connections: input.max_connections ?? null,
        messages_per_minute: input.messages_per_minute ?? null,
        messages_per_day: input.messages_per_day ?? null,
      });
      await noteChange(tx, workspace_id);
      const { object: _, id: _id, created_at: _created, updated_at: _updated, ...diff } = transportEntry(row);
      const chain = { workspace_id: workspace_id ?? INSTANCE };
      await recordAudit(tx, ctx, [{ action: 'transport.created', target_id: id, ...chain, diff }]);
      return transportEntry(row);
    });
  },
});
