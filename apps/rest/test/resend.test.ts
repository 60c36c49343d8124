import { openWorld } from '@postrider/testing/open-world';
import { Resend } from 'resend';
import { describe, expect, it } from 'vitest';
import { fillWindow } from './rate-windows.ts';
import { openResend } from './resend-server.ts';

const world = await openWorld();
await world.domain('good.test');
const { url: baseUrl } = await openResend(world);
const client = (secret = world.secret) => new Resend(secret, { baseUrl });
const hello = { from: 'Shop <hello@good.test>', to: 'ada@example.com', subject: 'Hello', html: '<p>Hi</p>' };

async function sent(fields: Record<string, unknown> = {}): Promise<string> {
  const { data, error } = await client().emails.send({ ...hello, ...fields });
  expect(error).toBeNull();
  return data?.id ?? '';
}

describe('the Resend client', () => {
  it('uses the log rate limit to list emails, and the default limit to read a single one', async () => {
    const id = await sent();
    const key = await world.key({ scopes: ['email:logs:read'] });
    await fillWindow(world, key.id, 'logs', 60);

    expect((await client(key.secret).emails.list()).error).toMatchObject({ statusCode: 429 });
    expect((await client(key.secret).emails.get(id)).error).toBeNull();
  });

  it('counts an email once toward the send window', async () => {
    const key = await world.key({ scopes: ['email:send'] });
    await fillWindow(world, key.id, 'send', 999);

    expect((await client(key.secret).emails.send(hello)).error).toBeNull();
    expect((await client(key.secret).emails.send(hello)).error).toMatchObject({ statusCode: 429 });
  });

  it('fairness L1: gets 429 with Retry-After until the minute or the quota month ends', async () => {
    await world.clock.freeze(new Date('2031-03-30T12:00:20.000Z'));
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('full.test', workspace_id);
    await world.services.sql`
      insert into usage_months (workspace_id, month, used)
      values (${workspace_id}, date_trunc('month', clock_now(), 'UTC')::date, 3000)`;
    const key = await world.key({ scopes: ['email:send'] });
    await fillWindow(world, key.id, 'send', 1000);
    const send = async (from: string, bearer: string) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` };
      const body = JSON.stringify({ ...hello, from });
      const { status, headers: response_headers } = await fetch(`${baseUrl}/emails`, { method: 'POST', headers, body });
      return [status, response_headers.get('retry-after')];
    };

    expect(await send('a@good.test', key.secret)).toEqual([429, '40']);
    expect(await send('a@full.test', secret)).toEqual([429, String(36 * 3600 - 20)]);
    await world.clock.unfreeze();
  });

  it('gets HTML and text only with an admin key', async () => {
    const id = await sent({ text: 'Hi' });
    const key = await world.key({ scopes: ['email:logs:read'] });

    expect((await client(key.secret).emails.get(id)).data).toMatchObject({ id, html: null, text: null });
    expect((await client().emails.get(id)).data).toMatchObject({ html: '<p>Hi</p>', text: 'Hi' });
  });

  it('sends an email that arrives, and reads it back', async () => {
    const id = await sent({ replyTo: 'help@good.test', tags: [{ name: 'kind', value: 'receipt' }] });
    await world.drain();

    const copy = world.smtp.messages.find((mail) => mail.message_id?.startsWith(`<${id}@`));
    expect(copy?.raw.toString()).toContain('Reply-To: help@good.test');
    const { data } = await client().emails.get(id);
    expect(data).toMatchObject({
      object: 'email',
      id,
      from: 'Shop <hello@good.test>',
      to: ['ada@example.com'],
      subject: 'Hello',
      html: '<p>Hi</p>',
      last_event: 'delivered',
      reply_to: ['help@good.test'],
      tags: [{ name: 'kind', value: 'receipt' }],
    });
  });

  it('can pass a single reply-to address as a list', async () => {
    const id = await sent({ replyTo: ['help@good.test'] });

    expect((await client().emails.get(id)).data?.reply_to).toEqual(['help@good.test']);
  });

  it('gets the same id for the same idempotency key, and a rejection for a different body', async () => {
    const first = await client().emails.send(hello, { idempotencyKey: 'order-1' });
    const repeat = await client().emails.send(hello, { idempotencyKey: 'order-1' });
    const other = await client().emails.send({ ...hello, subject: 'Other' }, { idempotencyKey: 'order-1' });

    expect(repeat.data).toEqual(first.data);
    expect(other.error).toMatchObject({ statusCode: 409, name: 'invalid_idempotent_request' });
  });

  it('reschedules and cancels a scheduled email', async () => {
    const at = (hours: number) => new Date(world.clock.now() + hours * 3_600_000).toISOString();
    const id = await sent({ scheduledAt: at(1) });

    const new_time = at(2);
    expect((await client().emails.update({ id, scheduledAt: new_time })).data).toEqual({ object: 'email', id });
    expect((await client().emails.get(id)).data?.scheduled_at).toBe(new_time);
    expect((await client().emails.cancel(id)).data).toEqual({ object: 'email', id });
    expect((await client().emails.get(id)).data?.last_event).toBe('canceled');
  });

  it('pages through emails by the id of the last one on each page', async () => {
    const ids = [await sent(), await sent(), await sent()].reverse();

    const first = await client().emails.list({ limit: 2 });
    const second = await client().emails.list({ limit: 1, after: first.data?.data[1]?.id ?? '' });

    expect(first.data?.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.data?.has_more).toBe(true);
    expect(second.data?.data.map(({ id }) => id)).toEqual(ids.slice(2));
  });

  it('cannot send a batch with one invalid email, unless the batch is permissive', async () => {
    const messages = [hello, { ...hello, from: 'hello@unverified.test' }];

    const strict = await client().batch.send(messages);
    const permissive = await client().batch.send(messages, { batchValidation: 'permissive' });

    expect(strict.error).toMatchObject({ statusCode: 403, name: 'validation_error' });
    expect(strict.error?.message).toContain('messages[1]');
    expect(permissive.data?.data).toHaveLength(1);
    expect(permissive.data?.errors).toMatchObject([{ index: 1 }]);
  });

  it('cannot send an unsupported email, but can send the rest of a permissive batch', async () => {
    const messages = [{ ...hello, topicId: 'news' }, hello, { ...hello, from: 'hello@unverified.test' }];

    const strict = await client().batch.send(messages);
    const permissive = await client().batch.send(messages, { batchValidation: 'permissive' });

    expect(strict.error?.message).toContain('messages[0]: topic_id is not supported');
    expect(permissive.data?.data).toHaveLength(1);
    expect(permissive.data?.errors?.map(({ index }) => index)).toEqual([0, 2]);
  });

  it('cannot send a batch that is not a list, and nothing is stored', async () => {
    const newest = async () => (await client().emails.list({ limit: 1 })).data?.data[0]?.id;
    const before = await newest();

    const refusals = await Promise.all(
      [JSON.stringify({ messages: [hello] }), JSON.stringify(hello), '"', ''].map((body) =>
        fetch(`${baseUrl}/emails/batch`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json' },
          body,
        }),
      ),
    );

    expect(refusals.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    expect(await refusals[0]?.json()).toMatchObject({ message: 'The body must be an array of emails.' });
    expect(await newest()).toBe(before);
  });

  it.each([
    ['a template', { template: { id: 'welcome' } }, 'template is not supported'],
    ['an attachment by path', { attachments: [{ filename: 'a.txt', path: '/etc/passwd' }] }, 'attachments.path is not'],
    ['two addresses for answers', { replyTo: ['a@good.test', 'b@good.test'] }, 'reply_to must be a single address'],
    ['a time in words', { scheduledAt: 'in 1 hour' }, 'scheduled_at'],
  ])('receives an error that suggests an alternative to %s', async (_, fields, message) => {
    const { data, error } = await client().emails.send({ ...hello, ...fields } as typeof hello);

    expect(data).toBeNull();
    expect(error?.message).toContain(message);
  });

  it('adds a domain, shows its records and removes it by id', async () => {
    const domain = await client().domains.create({ name: 'new.example' });
    const id = domain.data?.id ?? '';

    expect(domain.data).toMatchObject({ name: 'new.example', status: 'pending' });
    expect(domain.data?.records.map(({ record }) => record)).toContain('DKIM');
    expect((await client().domains.get(id)).data).toMatchObject({ object: 'domain', id, name: 'new.example' });
    expect((await client().domains.list()).data?.data.map(({ name }) => name)).toContain('new.example');
    expect((await client().domains.remove(id)).data).toEqual({ object: 'domain', id, deleted: true });
    expect((await client().domains.get(id)).error).toMatchObject({ statusCode: 404, name: 'not_found' });
  });

  it('creates and deletes a sending key', async () => {
    const key = await client().apiKeys.create({ name: 'Shop', permission: 'sending_access' });
    const shop = client(key.data?.token);

    expect((await shop.emails.send(hello)).error).toBeNull();
    expect((await shop.domains.list()).error).toMatchObject({ statusCode: 401, name: 'restricted_api_key' });
    expect((await client().apiKeys.list()).data?.data.map(({ name }) => name)).toContain('Shop');
    expect((await client().apiKeys.remove(key.data?.id ?? '')).error).toBeNull();
    expect((await shop.emails.send(hello)).error).toMatchObject({ statusCode: 403, name: 'invalid_api_key' });
  });

  it('adds, changes, rotates and removes a webhook', async () => {
    const new_webhook = await client().webhooks.create({
      endpoint: 'https://example.com/hook',
      events: ['email.delivered'],
    });
    const id = new_webhook.data?.id ?? '';

    expect(new_webhook.data?.signing_secret).toMatch(/^whsec_/);
    expect((await client().webhooks.update(id, { status: 'disabled' })).data).toEqual({ object: 'webhook', id });
    expect((await client().webhooks.get(id)).data).toMatchObject({ status: 'disabled', events: ['email.delivered'] });
    expect((await client().webhooks.rotateSigningSecret(id)).data?.signing_secret).not.toBe(
      new_webhook.data?.signing_secret,
    );
    expect((await client().webhooks.list()).data?.data.map((webhook) => webhook.id)).toContain(id);
    expect((await client().webhooks.remove(id)).data).toEqual({ object: 'webhook', id, deleted: true });
  });

  it('adds, looks up and removes a suppression', async () => {
    const suppression = await client().suppressions.add({ email: 'gone@example.com' });

    expect(suppression.data).toMatchObject({ object: 'suppression', email: 'gone@example.com', origin: 'manual' });
    expect((await client().suppressions.get('gone@example.com')).data?.id).toBe(suppression.data?.id);
    expect((await client().suppressions.list({ origin: 'manual' })).data?.data).toHaveLength(1);
    expect((await client().suppressions.remove('gone@example.com')).data).toMatchObject({ deleted: true });
    expect((await client().suppressions.get('gone@example.com')).error).toMatchObject({ name: 'not_found' });
  });
});

describe('a request without permission', () => {
  it('is denied with the Resend error names', async () => {
    const unknown = await client('pr_live_unknown').emails.send(hello);
    const absent = await fetch(`${baseUrl}/emails`, { method: 'POST' });
    const other = await client().templates.list();

    expect(unknown.error).toMatchObject({ statusCode: 403, name: 'invalid_api_key' });
    expect(await absent.json()).toMatchObject({ statusCode: 401, name: 'missing_api_key' });
    expect(other.error).toMatchObject({ statusCode: 404, name: 'not_found' });
  });
});
