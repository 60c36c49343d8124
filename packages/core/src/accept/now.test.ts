import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelMessage } from '../messages/changes/cancel-message.ts';
import { retryMessageNow } from '../messages/changes/retry-message.ts';
import { sendMessageNow } from '../messages/changes/send-message-now.ts';
import { getMessage } from '../messages/log/get-message.ts';
import type { LogEntry } from '../messages/log/log-entry.ts';
import type { Operation } from '../operation/operation.ts';
import { invoke } from '../operation/operation.ts';
import { sendMessage } from './send-message.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld({ RETRY_SCHEDULE: '1h,1h' });
beforeAll(async () => {
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
});
beforeEach(() => world.clock.advance(60_000));
afterEach(() => world.smtp.script(() => ({ kind: 'accept' })));

const ctx = () => world.as(world.workspace_id);
const inAnHour = () => new Date(world.clock.now() + HOUR_MS).toISOString();
async function send(to: string | string[], fields: Record<string, unknown> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi', ...fields };
  return (await invoke(ctx(), sendMessage, mail)).id;
}
const detail = (id: string) => invoke(ctx(), getMessage, { id });
const copiesOf = (id: string) => world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${id}@`)).length;
const deferAll = () => world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 later' }));
const audited = (target_id: string) => world.services.sql<{ action: string; via: string }[]>`
  select action, via from audit_log where target_id = ${target_id} order by id`;
const refusal = (operation: Operation<typeof sendMessageNow.input, LogEntry>, id: string) =>
  invoke(ctx(), operation, { id }).then(
    () => null,
    (error) => error.reason,
  );

describe('sending now', () => {
  it('sends a scheduled email immediately, exactly once', async () => {
    const id = await send(['ada@example.com', 'bob@example.com'], { scheduled_at: inAnHour() });

    const entry = await invoke(ctx(), sendMessageNow, { id });
    const now = new Date(world.clock.now()).toISOString();
    await world.drain();
    await world.clock.advance(2 * HOUR_MS);
    await world.drain();

    expect(entry).toMatchObject({ status: 'scheduled', recipients: [{ next_attempt_at: now }, {}] });
    expect(await detail(id)).toMatchObject({ status: 'delivered', scheduled_at: entry.scheduled_at });
    expect(copiesOf(id)).toBe(2);
    expect(await audited(id)).toEqual([{ action: 'message.sent_now', via: 'worker' }]);
  });

  it('returns the same response for an email that is already due, without writing an audit entry', async () => {
    const id = await send('ada@example.com');

    expect(await invoke(ctx(), sendMessageNow, { id })).toMatchObject({ id, status: 'queued' });

    expect(await audited(id)).toEqual([]);
    await world.drain();
    expect(copiesOf(id)).toBe(1);
  });

  it('either wins or loses a race with a cancellation, never both', async () => {
    const id = await send('ada@example.com', { scheduled_at: inAnHour() });

    const [sent, canceled] = await Promise.all([
      refusal(sendMessageNow, id),
      invoke(ctx(), cancelMessage, { id }).then((entry) => entry.status),
    ]);

    await world.drain();
    expect([null, 'already_canceled']).toContain(sent);
    expect(canceled).toBe('canceled');
    expect(await detail(id)).toMatchObject({ status: 'canceled' });
    expect(copiesOf(id)).toBe(0);
  });

  it('rejects a message that is canceled, sent or unknown', async () => {
    const canceled = await send('ada@example.com', { scheduled_at: inAnHour() });
    await invoke(ctx(), cancelMessage, { id: canceled });
    const sent = await send('ada@example.com');
    await world.drain();

    expect(await refusal(sendMessageNow, canceled)).toBe('already_canceled');
    expect(await refusal(sendMessageNow, sent)).toBe('already_sent');
    expect(await refusal(sendMessageNow, 'msg_unknown')).toBe('message_not_found');
    const other = await world.workspace('free');
    await expect(invoke(world.as(other.workspace_id), sendMessageNow, { id: sent })).rejects.toMatchObject({
      reason: 'message_not_found',
    });
  });
});

describe('retrying now', () => {
  it('retries deferred recipients immediately, counts the attempt, and leaves no duplicate retry scheduled', async () => {
    deferAll();
    const id = await send(['ada@example.com', 'bob@example.com']);
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));
    expect(await world.drain()).toEqual([]);

    await invoke(ctx(), retryMessageNow, { id });
    await world.drain();
    await world.clock.advance(2 * HOUR_MS);
    await world.drain();

    expect(await detail(id)).toMatchObject({ status: 'delivered', recipients: [{ attempts: 2 }, { attempts: 2 }] });
    expect(copiesOf(id)).toBe(2);
    expect(await audited(id)).toEqual([{ action: 'message.retried', via: 'worker' }]);
  });

  it('makes one attempt even if requested twice', async () => {
    deferAll();
    const id = await send('ada@example.com');
    await world.drain();
    world.smtp.script(() => ({ kind: 'accept' }));

    await Promise.all([invoke(ctx(), retryMessageNow, { id }), invoke(ctx(), retryMessageNow, { id })]);
    await world.drain();

    expect(await audited(id)).toHaveLength(1);
    expect(copiesOf(id)).toBe(1);
  });

  it('resumes the retry schedule where the previous attempts left off', async () => {
    deferAll();
    const id = await send('ada@example.com');
    await world.drain();

    await invoke(ctx(), retryMessageNow, { id });
    await world.drain();
    await invoke(ctx(), retryMessageNow, { id });
    await world.drain();

    expect(await detail(id)).toMatchObject({ status: 'failed', recipients: [{ attempts: 3 }] });
  });

  it('rejects a message without a deferred recipient', async () => {
    const waiting = await send('ada@example.com');
    expect(await refusal(retryMessageNow, waiting)).toBe('not_deferred');
    await world.drain();
    expect(await refusal(retryMessageNow, waiting)).toBe('not_deferred');
    expect(await refusal(retryMessageNow, 'msg_unknown')).toBe('message_not_found');
  });
});
