import { z } from 'zod';
import { recordAudit } from '../audit/index.ts';
import { newId } from '../fields/ids.ts';
import { INSTANCE } from '../operation/access.ts';
import { AppError } from '../operation/errors.ts';
import { operation } from '../operation/operation.ts';
import { requireFreeName, requireWhole, sealed } from './requirements.ts';
import { allTransports, lockTransports, noteChange, putTransport } from './store.ts';
import {
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
  scope: 'operator',
  summary: 'Create a transport',
  reasons: ['transport_exists', 'transport_limit'],
  input: z.object({
    name: nameField,
    kind: z.enum(transportKinds).meta({ description: 'mx: to the recipients’ servers. smtp: through a relay.' }),
    ...settingFields,
  }),
  output: transportSchema,
  async run(ctx, input): Promise<TransportEntry> {
    const { kind, name } = input;
    requireWhole(kind, input);
    return ctx.sql.begin(async (tx) => {
      await lockTransports(tx);
      const rows = await allTransports(tx);
      if (rows.length >= MAX_TRANSPORTS)
        throw new AppError('transport_limit', `There are ${MAX_TRANSPORTS} transports already. Delete one first.`);
      await requireFreeName(tx, name, null);
      const id = newId('transport', ctx.clock.now());
      const row = await putTransport(tx, {
        id,
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
      await noteChange(tx);
      const { object: _, id: _id, created_at: _created, updated_at: _updated, ...diff } = transportEntry(row);
      await recordAudit(tx, ctx, [{ action: 'transport.created', target_id: id, workspace_id: INSTANCE, diff }]);
      return transportEntry(row);
    });
  },
});
