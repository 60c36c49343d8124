import { type Context, invoke } from '@postrider/core';
import { testTransport } from '@postrider/core/doctor';
import { getFeedback, removeFeedback, setFeedback } from '@postrider/core/feedback';
import {
  createTransport,
  deleteTransport,
  getTransportHealth,
  getTransportRules,
  listTransports,
  previewRoute,
  setTransportRules,
  updateTransport,
} from '@postrider/core/transports';
import type { Transports } from '../connect/transports.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { withMachine } from './machine.ts';

/** Manages transports without a key. */
export function machineTransports(terminal: Terminal, reach: 'workspace' | 'instance' | undefined): Transports {
  const onMachine = <T>(work: (ctx: Context) => Promise<T>) =>
    withMachine(terminal, async (machine) => work(await machine.asWorkspace()));
  return {
    list: () => onMachine(async (ctx) => (await invoke(ctx, listTransports, { reach })).data),
    create: (transport) => onMachine((ctx) => invoke(ctx, createTransport, { ...transport, reach })),
    update: (id, change) => onMachine((ctx) => invoke(ctx, updateTransport, { transport_id: id, ...change })),
    delete: (id) =>
      onMachine(async (ctx) => {
        await invoke(ctx, deleteTransport, { transport_id: id });
      }),
    test: (id, email) => onMachine((ctx) => invoke(ctx, testTransport, { transport_id: id, ...email })),
    health: () => onMachine(async (ctx) => (await invoke(ctx, getTransportHealth, { reach })).data),
    rules: () => onMachine(async (ctx) => (await invoke(ctx, getTransportRules, { reach })).data),
    setRules: (rules) => onMachine(async (ctx) => (await invoke(ctx, setTransportRules, { rules, reach })).data),
    feedback: (id) => onMachine((ctx) => invoke(ctx, getFeedback, { transport_id: id })),
    setFeedback: (id, provider, secret) =>
      onMachine((ctx) => invoke(ctx, setFeedback, { transport_id: id, provider, secret })),
    removeFeedback: (id) =>
      onMachine(async (ctx) => {
        await invoke(ctx, removeFeedback, { transport_id: id });
      }),
    preview: (input) => onMachine((ctx) => invoke(ctx, previewRoute, { ...input, reach })),
  };
}
