import { createHandler as createAdmin } from '@postrider/admin';
import { createServices } from '@postrider/core';
import { createRole } from '@postrider/inbound';
import { createResendHandler, createHandler as createRest } from '@postrider/rest';
import { Postrider } from '@postrider/sdk';
import { listenHttp } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { Resend } from 'resend';
import { describe, expect, it } from 'vitest';
import { callerOf } from './parity/apis.ts';

const world = await openWorld();
await world.domain('good.test');

const listen = async (handle: Parameters<typeof listenHttp>[0]) => endAfterTests(await listenHttp(handle)).url;

const rest = await listen(createRest(world.services));
const admin = await listen(createAdmin(world.services));
const resend = await listen(createResendHandler(world.services));
const inbound = endAfterTests(
  createRole(
    createServices({
      ...world.services,
      config: { ...world.services.config, SUBMISSION_PORT: 0, INBOUND_PORT: 0, CAPTURE_PORT: 0 },
    }),
  ),
);
await inbound.start();
const person = await callerOf(world, world.workspace_id, ['email:send'], 'member');

const content = Buffer.from('file').toString('base64');
const mail = {
  from: 'Shop <hello@good.test>',
  to: ['Ada <ada@example.com>', 'alan@example.com'],
  cc: ['Bob <bob@example.com>'],
  bcc: ['eve@example.com'],
  reply_to: 'help@good.test',
  subject: 'Grüße für Ada',
  html: '<p>Hi</p>',
  text: 'Hi',
  headers: { 'X-Order': '1815' },
  tags: ['kind:receipt'],
  attachments: [{ filename: 'a.txt', content, content_type: 'text/plain' }],
};

async function send(url: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return response.json();
}

const bearer = { authorization: `Bearer ${world.secret}` };
const postrider = new Postrider({ url: rest, key: world.secret });
const theirs = new Resend(world.secret, { baseUrl: `${resend}/resend` });

const senders: Readonly<Record<string, () => Promise<unknown>>> = {
  REST: () => send(`${rest}/v1/email/send`, mail, bearer),
  'a batch': () => send(`${rest}/v1/email/batch`, [mail], bearer),
  'a batch of all or nothing': () => send(`${rest}/v1/email/batch`, { messages: [mail], all_or_nothing: true }, bearer),
  'the TypeScript client': () => postrider.email.send(mail),
  'the client of Resend': () => {
    const { reply_to, tags: _, attachments: __, ...fields } = mail;
    return theirs.emails.send({
      ...fields,
      replyTo: reply_to,
      tags: [{ name: 'kind', value: 'receipt' }],
      attachments: [{ filename: 'a.txt', content, contentType: 'text/plain' }],
    });
  },
  SMTP: () => {
    const { reply_to, tags, headers, attachments: _, ...fields } = mail;
    const auth = { user: 'api', pass: world.secret };
    return createTransport({ host: '127.0.0.1', port: inbound.submission_ports[0], auth }).sendMail({
      ...fields,
      replyTo: reply_to,
      headers: { ...headers, 'X-Tags': tags.join(', ') },
      attachments: [{ filename: 'a.txt', content: 'file', contentType: 'text/plain' }],
    });
  },
  'the test send of the dashboard': () =>
    send(`${admin}/trpc/test.send`, mail, { cookie: person.cookie, 'x-postrider': '1' }),
};

/** Returns the stored rows of a message, without its identifiers, timestamps, and sender. */
async function rowsOf(response: unknown) {
  const id = /msg_[0-9a-z]+/.exec(JSON.stringify(response))?.[0];
  expect(id, JSON.stringify(response)).toBeDefined();
  const { sql } = world.services;
  const [message] = await sql<Record<string, unknown>[]>`select * from messages where id = ${id ?? ''}`;
  const [body] = await sql<Record<string, unknown>[]>`select * from bodies where message_id = ${id ?? ''}`;
  const recipients = await sql<Record<string, unknown>[]>`
    select * from recipients where message_id = ${id ?? ''} order by id`;
  const { message_id: _, ...metadata } = JSON.parse(String(message?.metadata)) as Record<string, unknown>;
  return {
    message: { ...without(message), metadata },
    body: { ...without(body), headers: parsed(body?.headers), attachments: parsed(body?.attachments) },
    recipients: recipients.map(without),
  };
}

const parsed = (text: unknown): unknown => JSON.parse(String(text));
const OWN = /^(id|message_id|job_id|api_key_id|request_id|trace_parent|lease|body_bytes)$|_at$/;

function without(row: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => !OWN.test(name)));
}

describe('an email', () => {
  const reference = senders.REST?.().then(rowsOf);

  it.each(Object.entries(senders))('is stored identically when sent through %s', async (_, send) => {
    const rows = await rowsOf(await send());

    expect(rows.recipients).toHaveLength(4);
    expect(rows).toEqual(await reference);
  });
});
