import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { listEvents } from '../events/index.ts';
import { getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { claimDeliveries } from './claim.ts';
import { settleDeliveries } from './settle.ts';

const world = await openWorld({ RETRY_SCHEDULE: '1m,5m' });
beforeEach(async () => {
  await world.services.sql`delete from suppressions`;
});

const asWorkspace = () => world.as(world.workspace_id);

async function sendTo(to: string | string[], replies: Readonly<Record<string, string>>) {
  world.smtp.script(({ to: address }) => {
    const text = replies[address];
    return text ? { kind: 'reply', code: Number(text.slice(0, 3)), text: text.slice(4) } : { kind: 'accept' };
  });
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
  const { id } = await invoke(asWorkspace(), sendMessage, mail);
  await world.drain();
  return invoke(asWorkspace(), getMessage, { id });
}

async function suppressed() {
  return [
    ...(await world.services.sql<{ email: string; source: string; source_event_id: string }[]>`
      select email, source, source_event_id from suppressions order by email`),
  ];
}

it('a mailbox rejection bounces the email and suppresses the address, with the cause in the event', async () => {
  const email = await sendTo('gone@example.com', { 'gone@example.com': '550 5.1.1 User unknown' });

  expect(email).toMatchObject({
    status: 'bounced',
    attempts: [{ outcome: 'rejected', category: 'mailbox' }],
    events: [{ type: 'email.queued' }, { type: 'email.bounced', data: { category: 'mailbox', attempt: 1 } }],
  });
  const [row, ...others] = await suppressed();
  expect(others).toEqual([]);
  expect(row).toEqual({ email: 'gone@example.com', source: 'bounce', source_event_id: email.events[1]?.id });
  const added = await invoke(asWorkspace(), listEvents, { type: 'suppression.added' });
  expect(added.data[0]?.data.suppression).toMatchObject({
    email: 'gone@example.com',
    source_event_id: email.events[1]?.id,
  });
  expect(await world.services.sql`select from recipients where reason = 'mailbox'`).toHaveLength(1);
  await expect(sendTo('gone@example.com', {})).rejects.toMatchObject({ reason: 'all_recipients_suppressed' });
});

it.each([
  ['550 5.7.1 Message rejected due to local policy', 'policy'],
  ['554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org', 'reputation'],
  ['552 5.2.2 Mailbox full', 'quota'],
  ['554 5.6.0 Message content rejected', 'content'],
])('a rejection for another reason bounces the email without suppressing the address: %s', async (reply, category) => {
  const email = await sendTo('ada@example.com', { 'ada@example.com': reply });

  expect(email).toMatchObject({ status: 'bounced', attempts: [{ outcome: 'rejected', category }] });
  expect(await suppressed()).toEqual([]);
});

it.each([
  ['450 4.1.1 User unknown', 'deferred', 'mailbox'],
  [
    '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery',
    'rejected',
    'throttled',
  ],
])('a temporary rejection is retried without suppressing the address: %s', async (reply, outcome, category) => {
  const email = await sendTo('ada@example.com', { 'ada@example.com': reply });

  expect(email).toMatchObject({ status: 'deferred', attempts: [{ outcome, category }] });
  expect(await suppressed()).toEqual([]);
});

it('each recipient gets the result and suppression that match its own reply', async () => {
  const email = await sendTo(['a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'], {
    'a@example.com': '550 5.1.1 User unknown',
    'b@example.com': '550 5.7.1 No',
    'c@example.com': '550 5.1.10 Recipient not found',
  });

  expect(Object.fromEntries(email.recipients.map((one) => [one.email, one.status]))).toEqual({
    'a@example.com': 'bounced',
    'b@example.com': 'bounced',
    'c@example.com': 'bounced',
    'd@example.com': 'delivered',
  });
  expect((await suppressed()).map((row) => row.email)).toEqual(['a@example.com', 'c@example.com']);
});

it('a late result does not suppress the address once its lease is lost', async () => {
  await invoke(asWorkspace(), sendMessage, {
    from: 'hello@sandbox.test',
    to: 'late@example.com',
    subject: 'Hello',
    text: 'Hi',
  });
  const [claimed] = await claimDeliveries(world.services, await world.services.jobs.fetch('delivery.attempt', 1));
  if (!claimed) throw new Error('nothing was claimed');
  await world.services.sql`update recipients set lease = gen_random_uuid() where email = 'late@example.com'`;

  await settleDeliveries(world.services, [
    {
      claimed,
      duration_ms: 1,
      handed_back: false,
      outcome: {
        kind: 'rejected',
        reply: { code: 550, enhanced: '5.1.1', text: 'User unknown' },
        error: null,
        target: 'sink',
        address: null,
        tls_policy: 'none',
        tls: null,
        phases_ms: { connect: 0, tls: 0, mail: 0, data: 0 },
        stage: 'rcpt',
        transcript: '',
      },
    },
  ]);

  expect(await suppressed()).toEqual([]);
});
