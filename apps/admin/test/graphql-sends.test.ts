import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listCaptures, recordCapture } from '@postrider/core/captures';
import { openWorld } from '@postrider/testing/open-world';
import { expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);
const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

it('resends and releases of captured email count toward the send window', async () => {
  await world.clock.freeze(new Date('2031-05-10T12:00:05.000Z'));
  const { id } = await invoke(world.as(world.workspace_id), sendMessage, mail);
  const raw = Buffer.from('From: shop@sandbox.test\r\nTo: ada@example.com\r\nSubject: Caught\r\n\r\nHi');
  const envelope = { envelope_from: mail.from, envelope_to: [mail.to], raw };
  await recordCapture(world.services, envelope, world.workspace_id);
  const captured = (await invoke(world.as(world.workspace_id), listCaptures, {})).data[0]?.id;
  const key = await world.key({ scopes: ['admin'] });
  const ask = (field: string, target: unknown) =>
    graphql.ask(
      `mutation ($id: ID!) { sent: ${field}(input: { id: $id }) {
        __typename ... on MessagePayload { email { id } } ... on ApiError { code reason } } }`,
      { id: target },
      { key: key.secret },
    );
  await world.services.sql`
    insert into rate_windows (subject, class, minute, used)
    values (${key.id}::uuid, 'send', date_trunc('minute', clock_now()), 998)`;

  const responses = [await ask('messageResend', id), await ask('captureRelease', captured)];
  const repeats = [await ask('messageResend', id), await ask('captureRelease', captured)];

  for (const { data } of responses) expect(data).toMatchObject({ sent: { __typename: 'MessagePayload' } });
  for (const { errors } of repeats)
    expect(errors).toMatchObject([{ extensions: { code: 'rate_limited', reason: 'send_rate' } }]);
});
