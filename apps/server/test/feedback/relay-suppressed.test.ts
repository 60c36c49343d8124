import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { setFeedback } from '@postrider/core/feedback';
import { getMessage } from '@postrider/core/messages';
import { listSuppressions } from '@postrider/core/suppressions';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { expect, it } from 'vitest';
import { openStage } from './stage.ts';
import { stubs } from './stubs.ts';

// Each provider says in its own way that it did not try, because the address is on a list of its own.

const { world, relay, deliver } = await openStage();
const operator = () => world.as(world.workspace_id);

const { generic: _, ...providers } = stubs;

it.each(Object.entries(providers))(
  'a suppression list of %s bounces the email, and suppresses nothing',
  async (provider, stub) => {
    const relay_transport = { name: provider, kind: 'smtp', host: '127.0.0.1', port: relay.port, tls: 'none' };
    const { id: transport_id } = await invoke(operator(), createTransport, relay_transport);
    const feedback = await invoke(operator(), setFeedback, { transport_id, provider, secret: stub.secret });
    await invoke(operator(), setTransportRules, { rules: [{ transports: [transport_id] }] });
    const to = `${provider}@example.com`;
    const { id } = await invoke(operator(), sendMessage, { from: 'a@shop.example', to, subject: 'Hi', text: 'Hi' });
    await world.drain();
    const copy = await relay.waitFor(({ envelope_to }) => envelope_to.includes(to));
    const reference = stub.referenceIn?.(copy.raw.toString('latin1')) ?? '';

    const message_id = `${id}@shop.example`;
    const report = { kind: 'suppressed', id: 'suppressed', recipient: to, message_id, reference } as const;
    const request = stub.post(report, feedback.secret ?? stub.secret ?? '');
    expect(await deliver(new URL(feedback.url).pathname, request)).toBe(200);

    const bounce = { class: 'soft', category: 'policy', reason: 'relay_suppressed' };
    await expect
      .poll(() => invoke(operator(), getMessage, { id }))
      .toMatchObject({ status: 'bounced', recipients: [{ bounce }], events: [{}, {}, { data: { bounce } }] });
    expect((await invoke(operator(), listSuppressions, {})).data).toEqual([]);
  },
);
