import { startWebhookSink } from '@postrider/testing';
import { expect, it } from 'vitest';
import { hello, openJourney } from '../journey.ts';
import { ALERT_EMAIL, mailed, PATIENCE, posted } from './notices.ts';

it('a missing worker is reported by webhook, and by email once a worker starts', async () => {
  const hook = await startWebhookSink();
  const journey = await openJourney({ ALERT_EMAIL, ALERT_WEBHOOK_URL: hook.url });
  try {
    const api = await journey.start({ ROLES: 'rest' });
    const worker = await journey.start({ ROLES: 'worker' });

    await worker.kill();
    expect((await api.call('POST', '/v1/email/send', { body: hello })).status).toBe(202);
    await expect.poll(() => posted(hook), PATIENCE).toEqual(['start no_worker']);
    expect(mailed(journey)).toEqual([]);
    await journey.start({ ROLES: 'worker' });

    await expect.poll(() => mailed(journey), PATIENCE).toContain('Raised: No live worker');
    await expect.poll(() => posted(hook), PATIENCE).toEqual(['start no_worker', 'end no_worker']);
  } finally {
    await journey.stop();
    await hook.stop();
  }
}, 400_000);
