import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { followEvents } from '@postrider/core/events';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';

const world = await openWorld();

async function send(): Promise<string> {
  const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
  return (await invoke(world.as(world.workspace_id), sendMessage, mail)).id;
}

describe('a workspace’s event stream', () => {
  it('yields the first event committed after the response, however late the stream is read', async () => {
    await send();
    const events = await invoke(world.as(world.workspace_id), followEvents, {});
    const id = await send();

    const changes: unknown[] = [];
    for await (const event of events) {
      if (event === null) continue;
      changes.push(event.node.type, event.node.email_id);
      break;
    }

    expect(changes).toEqual(['email.queued', id]);
  });
});
