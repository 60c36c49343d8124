import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Postrider } from '@postrider/sdk';
import { createReceiver } from './receiver.ts';
import { Store } from './store.ts';

test('a bounced address is recorded once, and a forged event is rejected', { timeout: 60_000 }, async () => {
  const postrider = new Postrider();
  const store = new Store(':memory:');

  // The webhook's secret is known only after its URL, so a first server finds the port.
  const first = createReceiver(store, '').listen(0, '127.0.0.1');
  await once(first, 'listening');
  const { port } = first.address() as AddressInfo;
  first.close();
  await once(first, 'close');
  const url = `http://127.0.0.1:${port}/`;
  const { id, secret } = await postrider.webhooks.create({ url, events: ['email.bounced'] });
  const server = createReceiver(store, secret).listen(port, '127.0.0.1');

  try {
    // The simulator rejects this address as an unknown user.
    const to = `bounce+5.1.1+${crypto.randomUUID()}@simulator.test`;
    await postrider.email.send({ from: 'hello@sandbox.test', to, subject: 'Your receipt', text: 'Thank you.' });
    while (store.causeOf(to) === null) await pause(50);
    assert.equal(store.causeOf(to), 'bounce');

    // The same event again, as after a response that was lost.
    const [delivery] = (await postrider.webhooks.deliveries(id, { limit: 1 })).data;
    assert.ok(delivery);
    const postsAre = async (count: number) => {
      while ((await postrider.webhooks.delivery(id, delivery.id)).posts.length < count) await pause(200);
    };
    await postsAre(1);
    await postrider.webhooks.replay(id, delivery.id);
    await postsAre(2);
    assert.equal(store.countEvents(), 1);

    const forged = await fetch(url, { method: 'POST', body: '{"type":"email.bounced"}' });
    assert.equal(forged.status, 400);
    assert.equal(store.countEvents(), 1);
  } finally {
    await postrider.webhooks.delete(id);
    server.close();
    server.closeAllConnections();
    store.close();
  }
});
