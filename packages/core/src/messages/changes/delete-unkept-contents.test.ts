import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendMessage } from '../../accept/index.ts';
import { invoke } from '../../operation/operation.ts';
import { getContent } from '../log/get-content.ts';
import { getMessage } from '../log/get-message.ts';
import { cancelMessage } from './cancel-message.ts';
import { deleteUnkeptContents } from './delete-unkept-contents.ts';
import { resendMessage } from './resend-message.ts';

const world = await openWorld({ RETRY_SCHEDULE: '1h' });
beforeEach(async () => {
  world.smtp.script(() => ({ kind: 'accept' }));
  await deleteUnkeptContents(world.services);
});

const ctx = () => world.as(world.workspace_id);
async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi', retain: 'none' };
  return (await invoke(ctx(), sendMessage, { ...mail, ...fields })).id;
}
const hasBody = async (id: string) =>
  (await world.services.sql`select from bodies where message_id = ${id}`).length > 0;
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error.reason,
  );

describe('a message with retain: none', () => {
  it('loses its content once its last recipient is closed, and keeps its log', async () => {
    const id = await send({ attachments: [{ filename: 'a.txt', content: 'SGk=' }] });
    await world.drain();

    const at_once = await reasonOf(invoke(ctx(), getContent, { id }));
    const deleted = await deleteUnkeptContents(world.services);

    expect(at_once).toBe('content_gone');
    expect(deleted).toBe(1);
    expect(await hasBody(id)).toBe(false);
    expect(await reasonOf(invoke(ctx(), getContent, { id }))).toBe('content_gone');
    expect(await reasonOf(invoke(ctx(), resendMessage, { id }))).toBe('content_gone');
    expect(await invoke(ctx(), getMessage, { id })).toMatchObject({
      status: 'delivered',
      retain: 'none',
      subject: 'Hello',
      attempts: [{ outcome: 'accepted' }],
      events: [{ type: 'email.queued' }, { type: 'email.delivered' }],
    });
    expect(await deleteUnkeptContents(world.services)).toBe(0);
  });

  it('keeps its content while one of its recipients is open', async () => {
    world.smtp.script(({ to }) =>
      String(to).includes('late') ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' },
    );
    const id = await send({ to: ['ada@example.com', 'late@example.com'] });
    await world.drain();

    const early_count = await deleteUnkeptContents(world.services);
    const content = await invoke(ctx(), getContent, { id });
    world.smtp.script(() => ({ kind: 'accept' }));
    await world.clock.advance(3_600_000 + 1000);
    await world.drain();

    expect(early_count).toBe(0);
    expect(content).toMatchObject({ text: 'Hi' });
    expect(await deleteUnkeptContents(world.services)).toBe(1);
    expect(await hasBody(id)).toBe(false);
  });

  it('loses its content when it is canceled', async () => {
    const id = await send({ scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() });
    expect(await deleteUnkeptContents(world.services)).toBe(0);

    await invoke(ctx(), cancelMessage, { id });

    expect(await deleteUnkeptContents(world.services)).toBe(1);
    expect(await hasBody(id)).toBe(false);
  });
});

describe('a message without a retain setting', () => {
  it('keeps its content, and a resent copy has the same retention and priority', async () => {
    const id = await send({ retain: undefined, priority: 'bulk' });
    await world.drain();
    await deleteUnkeptContents(world.services);

    const copy = await invoke(ctx(), resendMessage, { id });

    expect(await hasBody(id)).toBe(true);
    expect(await invoke(ctx(), getMessage, { id: copy.id })).toMatchObject({ retain: 'default', priority: 'bulk' });
  });
});
