import { Postrider, safe, UnprocessableError } from '@postrider/sdk';
import { startWebhookSink } from '@postrider/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hello, type Journey, openJourney } from '../journey.ts';

let journey: Journey;
let postrider: Postrider;
beforeEach(async () => {
  journey = await openJourney({ WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8' });
  const { url } = await journey.start();
  postrider = new Postrider({ url, key: journey.secret });
});
afterEach(() => journey.stop());

describe('the TypeScript client', () => {
  it('sends an email, tracks it, and verifies its webhook post', async () => {
    const sink = await startWebhookSink();
    const { secret } = await postrider.webhooks.create({ url: `${sink.url}/hook`, events: ['email.delivered'] });

    const { id } = await postrider.email.send({ ...hello, metadata: { order: '1815' } });

    const [post] = await sink.waitFor(1);
    const event = await postrider.webhooks.verify(post?.body ?? '', post?.headers ?? {}, secret);
    expect(event).toMatchObject({ type: 'email.delivered', data: { email: { id, metadata: { order: '1815' } } } });
    await expect.poll(async () => (await postrider.email.get(id)).status).toBe('delivered');
    await sink.stop();
  });

  it('schedules, reschedules and cancels an email', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const { id } = await postrider.email.send({ ...hello, scheduled_at: at(1) });

    const moved = await postrider.email.reschedule(id, { scheduled_at: at(2) });
    const canceled = await postrider.email.cancel(id);

    expect(moved).toMatchObject({ id, status: 'scheduled' });
    expect(canceled).toMatchObject({ id, status: 'canceled' });
  });

  it('reports a rejection as a value or as a thrown error', async () => {
    const { error } = await safe(postrider.email.send({ ...hello, from: 'hello@elsewhere.test' }));

    expect(error).toBeInstanceOf(UnprocessableError);
    expect(error).toMatchObject({
      reason: 'domain_not_verified',
      status: 422,
      docs_url: expect.stringMatching(/^http/),
    });
  });

  it('iterates over all pages in a list', async () => {
    await postrider.email.batch(Array.from({ length: 7 }, (_, index) => ({ ...hello, subject: `Mail ${index}` })));

    const subjects: string[] = [];
    for await (const { subject } of postrider.email.logs({ limit: 3 })) subjects.push(subject);

    expect(subjects.sort()).toEqual(Array.from({ length: 7 }, (_, index) => `Mail ${index}`));
  });
});
