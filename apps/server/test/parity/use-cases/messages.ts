import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { findThings, summarizeAddress } from '@postrider/core/find';
import { createHold } from '@postrider/core/holds';
import {
  cancelMessage,
  createContentLink,
  getContent,
  getMessage,
  giveUpMessage,
  listMessages,
  rescheduleMessage,
  resendMessage,
  retryMessageNow,
  sendMessageNow,
} from '@postrider/core/messages';
import { createSuppressions } from '@postrider/core/suppressions';
import type { World } from '@postrider/testing';
import * as shapes from '../shapes.ts';
import { absent, connection, mutation, reading, type Setup, useCase } from '../use-case.ts';
import { hoursAhead, idOnly, NO_PAGE, node, scheduled, send, sent, several, withInput } from './setup.ts';

/** Sends a message and lets it fail with a temporary error, so that it is deferred. */
async function deferred(world: World, workspace_id: string, number: number): Promise<Setup> {
  const subject = await send(world, workspace_id, number);
  world.smtp.script(() => ({ kind: 'reply', code: 451, text: '4.3.0 Later' }));
  await world.drain();
  world.smtp.script(() => ({ kind: 'accept' }));
  return subject;
}

export const messages = [
  useCase(sendMessage, {
    rest: 'POST /email/send',
    trpc: 'POST test.send',
    graphql: absent('GraphQL sends no mail.'),
    given: withInput({ from: 'shop@sandbox.test', to: 'reader@example.com', subject: 'Hello', text: 'Hi' }),
    writes: true,
    bad: { to: 'nobody' },
  }),
  useCase(findThings, {
    rest: absent('A program knows what it looks for.'),
    trpc: 'GET find',
    graphql: reading(
      'find',
      { text: 'String!', first: 'Int' },
      'id',
      ({ input: { text, limit } }) => ({ text, first: limit }),
      (data) => ({ data }),
    ),
    async given(world, workspace_id, number) {
      await send(world, workspace_id, number, { subject: `Invoice ${number}` });
      return { input: { text: `invoice ${number}` } };
    },
    bad: { text: '' },
  }),
  useCase(summarizeAddress, {
    rest: absent('A program reads suppressions and the log.'),
    trpc: 'GET addresses.summary',
    graphql: reading(
      'addressSummary',
      { address: 'EmailAddress!' },
      `email: address suppression { ${shapes.suppression} } holds { id scope reason expires_at: expiresAt }
       emails: recipients { recipient_id: id status captured message { id subject created_at: createdAt } }`,
      ({ input: { email } }) => ({ address: email }),
      (response) => {
        const { emails, ...others } = response as { readonly emails: readonly { readonly message: object }[] };
        return { ...others, emails: emails.map(({ message, ...recipient }) => ({ ...message, ...recipient })) };
      },
    ),
    async given(world, workspace_id, number) {
      const email = `reader@nr${number}.example.com`;
      await send(world, workspace_id, number);
      await invoke(world.as(workspace_id), createSuppressions, { email });
      await invoke(world.as(workspace_id), createHold, {
        scope: 'destination',
        value: `nr${number}.example.com`,
        reason: 'An outage',
      });
      return { input: { email } };
    },
    bad: { email: 'nobody' },
  }),
  useCase(listMessages, {
    rest: 'GET /email/logs',
    trpc: 'GET emails.list',
    graphql: connection('messages', shapes.message, { filter: 'MessageFilter' }, ({ input: { to } }) => ({
      filter: { to },
    })),
    given: (world, workspace_id, number) =>
      several(() => send(world, workspace_id, number), { to: `reader@nr${number}.example.com` }),
    paged: true,
    bad: { limit: 0 },
  }),
  useCase(getMessage, {
    rest: 'GET /email/logs/{id}',
    trpc: 'GET emails.get',
    graphql: node(
      'Message',
      `${shapes.message} events: timeline(first: 50) { nodes { ${shapes.event} } }
       attempts(first: 50) { nodes { id number outcome } }`,
    ),
    given: sent,
    target: 'id',
    looks_up: true,
  }),
  useCase(getContent, {
    rest: 'GET /email/{id}/content',
    trpc: 'GET emails.content',
    graphql: reading(
      'node',
      { id: 'ID!' },
      `... on Message { content { html text attachments { filename content_type: contentType
         size_bytes: sizeBytes content_id: contentId } } headers }`,
      idOnly,
      (response) => {
        if (response === null) return null;
        const { content, headers } = response as Record<'content' | 'headers', Record<string, unknown>>;
        return { ...content, headers };
      },
    ),
    scope_on: { graphql: absent('The message that it is a field of is refused before.') },
    given: sent,
    target: 'id',
    looks_up: true,
  }),
  useCase(createContentLink, {
    rest: absent('A program reads the content itself.'),
    trpc: NO_PAGE,
    graphql: mutation('messageContentLink', 'ContentLinkInput', 'ContentLinkPayload', 'expires_at: expiresAt'),
    given: sent,
    target: 'id',
    writes: true,
    varying: ['url'],
    bad: { attachment: -1 },
  }),
  useCase(cancelMessage, {
    rest: 'POST /email/{id}/cancel',
    trpc: 'POST emails.cancel',
    graphql: mutation('messageCancel', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: sent,
    target: 'id',
    writes: true,
  }),
  useCase(rescheduleMessage, {
    rest: 'PATCH /email/{id}',
    trpc: 'POST emails.reschedule',
    graphql: mutation('messageReschedule', 'RescheduleInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    async given(world, workspace_id, number) {
      const { input } = await scheduled(world, workspace_id, number);
      return { input: { ...input, scheduled_at: hoursAhead(world, 2) } };
    },
    target: 'id',
    writes: true,
    bad: { scheduled_at: 'tomorrow' },
  }),
  useCase(sendMessageNow, {
    rest: absent('A program reschedules to the present.'),
    trpc: 'POST emails.sendNow',
    graphql: mutation('messageSendNow', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: scheduled,
    target: 'id',
    writes: true,
  }),
  useCase(retryMessageNow, {
    rest: absent('Retries are decided by people.'),
    trpc: 'POST emails.retryNow',
    graphql: mutation('messageRetry', 'TargetInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    given: deferred,
    target: 'id',
    writes: true,
  }),
  useCase(giveUpMessage, {
    rest: 'POST /email/{id}/give-up',
    trpc: 'POST emails.giveUp',
    graphql: mutation('messageGiveUp', 'GiveUpInput', 'MessagePayload', `of: email { ${shapes.message} }`),
    async given(world, workspace_id, number) {
      const { input } = await deferred(world, workspace_id, number);
      return { input: { ...input, reason: 'It is too late' } };
    },
    target: 'id',
    writes: true,
  }),
  useCase(resendMessage, {
    rest: 'POST /email/{id}/resend',
    trpc: 'POST emails.resend',
    graphql: mutation('messageResend', 'TargetInput', 'MessagePayload', 'of: email { id status createdAt }'),
    async given(world, workspace_id, number) {
      const subject = await sent(world, workspace_id, number);
      await world.drain();
      return subject;
    },
    target: 'id',
    writes: true,
  }),
  useCase(listEvents, {
    rest: 'GET /events',
    trpc: 'GET events.list',
    graphql: connection('events', shapes.event, { filter: 'EventFilter' }, ({ input: { type } }) => ({
      filter: { types: [type] },
    })),
    given: (world, workspace_id, number) =>
      several(
        async () => invoke(world.as(workspace_id), cancelMessage, (await sent(world, workspace_id, number)).input),
        { type: 'email.canceled' },
      ),
    paged: true,
    bad: { limit: 101 },
  }),
];
