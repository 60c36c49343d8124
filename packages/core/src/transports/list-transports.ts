import { z } from 'zod';
import { objectName } from '../fields/wire.ts';
import type { Services } from '../operation/context.ts';
import { operation } from '../operation/operation.ts';
import { allTransports } from './store.ts';
import { DEFAULT_TRANSPORT, signingFor, type TransportEntry, transportEntry, transportSchema } from './transport.ts';

/** Lists the transports, first the default one, which is DELIVERY and cannot be changed here. */
export const listTransports = operation({
  name: 'transports.list',
  scope: 'operator',
  summary: 'List transports, the default one first',
  input: z.object({}),
  output: z.object({ object: objectName('list'), data: z.array(transportSchema).readonly() }),
  async run(ctx) {
    const rows = await allTransports(ctx.sql);
    return { object: 'list', data: [defaultEntry(ctx.config), ...rows.map(transportEntry)] } as const;
  },
});

function defaultEntry({ DELIVERY }: Services['config']): TransportEntry {
  const [first] = DELIVERY;
  const relay = first?.kind === 'smtp' ? first : null;
  return {
    object: 'transport',
    id: DEFAULT_TRANSPORT,
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
