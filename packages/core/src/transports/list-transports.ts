import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import type { Services } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { ownerOf, reachField } from './ownership.ts';
import { allTransports } from './store.ts';
import { DEFAULT_TRANSPORT, signingFor, type TransportEntry, transportEntry, transportSchema } from './transport.ts';

/** Lists the transports, first the default one, which is DELIVERY and cannot be changed here. */
export const listTransports = operation({
  name: 'transports.list',
  scope: null,
  summary: 'List transports; of the instance, the default one first',
  input: z.object({ reach: reachField }),
  output: z.object({ object: objectName('list'), data: z.array(transportSchema).readonly() }),
  async run(ctx, { reach }) {
    const workspace_id = ownerOf(ctx, reach);
    const entries = (await allTransports(ctx.sql, workspace_id)).map(transportEntry);
    return { object: 'list', data: workspace_id === null ? [defaultEntry(ctx.config), ...entries] : entries } as const;
  },
});

function defaultEntry({ DELIVERY }: Services['config']): TransportEntry {
  const [first] = DELIVERY;
  const relay = first?.kind === 'smtp' ? first : null;
  return {
    object: 'transport',
    id: DEFAULT_TRANSPORT,
    workspace_id: null,
    name: 'DELIVERY',
    kind: first?.kind ?? 'capture',
    host: relay?.host ?? null,
    port: relay?.port ?? null,
    tls: relay ? (relay.secure ? 'implicit' : 'opportunistic') : null,
    username: relay && relay.user !== '' ? relay.user : null,
    envelope_from: 'ours',
    signing: signingFor(relay?.host ?? ''),
    headers: {},
    max_connections: null,
    messages_per_minute: null,
    messages_per_day: null,
    created_at: null,
    updated_at: null,
  };
}
