import { startWebhookSink } from '@postrider/testing';
import { expect, it } from 'vitest';
import { openDatabaseProxy } from '../database-proxy.ts';
import { openJourney } from '../journey.ts';
import { ALERT_EMAIL, mailed, PATIENCE, posted } from './notices.ts';

it('a one-minute database outage is reported by webhook, and by email after the database recovers', async () => {
  const hook = await startWebhookSink();
  const journey = await openJourney({ ALERT_EMAIL, ALERT_WEBHOOK_URL: hook.url });
  const proxy = await openDatabaseProxy(journey.env.DATABASE_URL ?? '');
  try {
    await journey.start({ DATABASE_URL: proxy.url });

    await proxy.close();
    await expect.poll(() => posted(hook), PATIENCE).toEqual(['start database_gone']);
    expect(mailed(journey)).toEqual([]);
    await proxy.open();

    await expect.poll(() => mailed(journey), PATIENCE).toEqual(['Ended: The database is gone']);
    expect(posted(hook)).toEqual(['start database_gone', 'end database_gone']);
  } finally {
    await journey.stop();
    await proxy.close();
    await hook.stop();
  }
}, 400_000);
