import { startWebhookSink, type WebhookSink } from '@postrider/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';

const PATIENCE = { timeout: 30_000, interval: 50 };

let journey: Journey;
let sink: WebhookSink;
beforeAll(async () => {
  journey = await openJourney({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  sink = await startWebhookSink();
});
afterAll(async () => {
  await journey.stop();
  await sink.stop();
});

it('real R20: a webhook deleted while its first delivery is being fetched delays no other webhook', async () => {
  const api = await journey.start({ ROLES: 'rest' });
  const listen = async (path: string) => {
    const webhook = await api.call('POST', '/v1/webhooks', {
      body: { url: `${sink.url}${path}`, events: ['email.queued'] },
    });
    return String(webhook.body.id);
  };
  const removed_id = await listen('/doomed');
  await listen('/other');
  await api.call('POST', '/v1/email/send', { body: hello });
  const deleted = Promise.withResolvers<void>();
  const fetched = Promise.withResolvers<void>();
  const deleting = journey.sql.begin(async (tx) => {
    // A worker may take longer to start than a transaction may be idle.
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await tx`delete from webhooks where id = id_of(${removed_id})`;
    deleted.resolve();
    await fetched.promise;
  });
  await deleted.promise;

  // The worker fetches before it reports that it is ready, and waits only two seconds for the lock.
  const starting = journey.start({ ROLES: 'worker' });
  const waiting = () => journey.sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%endpoint_leases%'`;
  await expect.poll(waiting, PATIENCE).not.toHaveLength(0);
  fetched.resolve();
  await deleting;
  const worker = await starting;

  expect((await sink.waitFor(1)).map(({ path }) => path)).toEqual(['/other']);
  expect(worker.stderr()).not.toContain('foreign key');
});
