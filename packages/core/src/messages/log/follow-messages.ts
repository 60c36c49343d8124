import { z } from 'zod';
import { eventTypes, type FollowedEvent, followEvents } from '../../events/index.ts';
import { idPrefixes } from '../../fields/ids.ts';
import { idField } from '../../fields/wire.ts';
import { invoke, operation } from '../../operation/operation.ts';
import { messageNotFound } from './get-message.ts';
import { readMessages } from './read-messages.ts';

const ofMail = eventTypes.filter((type) => type.startsWith('email.')).join(',');

/** Streams the events of all mail of a workspace; email.queued and email.scheduled announce new mail. */
export const followMessages = operation({
  name: 'email.follow',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Follow what happens to mail',
  input: z.object({ after: z.string().optional() }),
  output: z.custom<AsyncGenerator<FollowedEvent | null>>(),
  run: (ctx, { after }) => invoke(ctx, followEvents, { type: ofMail, ...(after !== undefined && { after }) }),
});

/** Streams the events of one mail. */
export const followMessage = operation({
  name: 'email.follow_one',
  scope: 'email:logs:read',
  sandbox: true,
  summary: 'Follow what happens to one mail',
  input: z.object({ id: idField(idPrefixes.message), after: z.string().optional() }),
  output: z.custom<AsyncGenerator<FollowedEvent | null>>(),
  async run(ctx, { id, after }) {
    const [found] = await invoke(ctx, readMessages, { ids: [id] });
    if (!found) throw messageNotFound(id);
    return invoke(ctx, followEvents, { email_id: id, ...(after !== undefined && { after }) });
  },
});
