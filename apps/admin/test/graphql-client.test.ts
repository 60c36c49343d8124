import { readFileSync } from 'node:fs';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { clientFile, clientText } from '../../../scripts/write-graphql-client.ts';
import { ask } from '../client/ask.ts';
import { CancelMessageDocument, RecentMessagesDocument } from '../client/operations.ts';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

describe('the typed client', () => {
  it('matches the schema and its documents (regenerate with node scripts/write-graphql-client.ts)', async () => {
    expect(readFileSync(clientFile, 'utf8')).toBe(await clientText());
  });

  it('reads and changes data', async () => {
    const server = { url: graphql.url, key: world.secret };
    const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Typed', text: 'Hi' };
    const { id } = await invoke(world.as(world.workspace_id), sendMessage, mail);

    const { messages } = await ask(server, RecentMessagesDocument, { first: 1, filter: { status: ['QUEUED'] } });
    const { messageCancel } = await ask(server, CancelMessageDocument, { id });
    const repeat = await ask(server, CancelMessageDocument, { id: 'msg_nothing' });

    expect(messages.nodes).toMatchObject([{ id, subject: 'Typed', timeline: { nodes: [{ type: 'email.queued' }] } }]);
    expect(messageCancel).toEqual({ __typename: 'MessagePayload', email: { id, status: 'CANCELED' } });
    expect(repeat.messageCancel).toMatchObject({ __typename: 'NotFoundError', reason: 'message_not_found' });
  });

  it('throws an error that includes the reason when the server rejects a request', async () => {
    const pending = ask({ url: graphql.url, key: `pr_live_${'0'.repeat(64)}` }, RecentMessagesDocument, {});

    await expect(pending).rejects.toMatchObject({ reason: 'unknown_key', request_id: expect.stringMatching(/^req_/) });
  });
});
