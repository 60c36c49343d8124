import type { AppRouter } from '@postrider/admin';
import { createTRPCClient, httpBatchLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Journey, openJourney } from '../journey.ts';
import { secretIn } from '../server-process.ts';

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney({ DELIVERY: 'capture' });
});
afterAll(() => journey.stop());

const hello = { from: 'Ada <ada@sandbox.test>', to: 'bob@example.com', subject: 'Hello there', text: 'Hi' };

describe('the operator at first start', () => {
  it('can sign in with the startup link, find an email, revoke a key, and sign out', async () => {
    const server = await journey.start();
    const link = new URL(secretIn(server.stdout(), 'login-link')).pathname;
    const form = { origin: server.url };

    const page = await server.call('GET', link, { key: null });
    const pressed = await server.call('POST', link, { key: null, headers: form });
    const repeat = await server.call('POST', link, { key: null, headers: form });
    expect([page.status, pressed.status, repeat.status]).toEqual([200, 303, 401]);
    const cookie = pressed.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const api = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${server.url}/trpc`, maxItems: 10, headers: { cookie, 'x-postrider': '1' } })],
    });

    expect(await api.people.me.query()).toMatchObject({ email: 'admin@sandbox.test', operator: true });
    const key = await api.apiKeys.create.mutate({ name: 'Shop', scopes: ['email:send'] });
    const sent = await server.call('POST', '/v1/email/send', { key: key.secret, body: hello });
    expect(sent.status).toBe(202);
    const messages = await api.emails.list.query({ to: 'bob@example.com' });
    expect(messages.data).toMatchObject([{ id: sent.body.id, subject: 'Hello there', api_key_id: key.id }]);
    const mail = await api.emails.get.query({ id: String(sent.body.id) });
    expect(mail.recipients).toMatchObject([{ email: 'bob@example.com' }]);
    await api.apiKeys.revoke.mutate({ key_id: key.id });
    expect((await server.call('POST', '/v1/email/send', { key: key.secret, body: hello })).status).toBe(401);

    await fetch(`${server.url}/logout`, { method: 'POST', headers: { cookie, origin: server.url } });

    await expect(api.emails.list.query()).rejects.toThrow(/not signed in/);
    const output = server.stdout() + server.stderr();
    for (const secret of [cookie.slice('sid='.length), key.secret, link]) expect(output).not.toContain(secret);
    const audited = await journey.sql<{ action: string; actor_name: string; via: string }[]>`
      select action, actor_name, via from audit_log where action like 'user.%' order by id`;
    expect(audited).toEqual([
      { action: 'user.login_link_made', actor_name: 'Postrider', via: 'cli' },
      { action: 'user.signed_in', actor_name: 'admin@sandbox.test', via: 'dashboard' },
      { action: 'user.signed_out', actor_name: 'admin@sandbox.test', via: 'dashboard' },
    ]);
    expect(await server.end()).toEqual({ code: 0, signal: null });
  });

  it('gets no link if the environment sets the password, or on a second start', async () => {
    const second = await journey.start();
    expect(second.stdout()).toMatch(/Dashboard +http:\/\/localhost:\d+\n/);
    await second.end();

    const other = await openJourney({ ADMIN_PASSWORD: 'known where it came from' });
    const first = await other.start();
    expect(first.stdout()).toMatch(/Dashboard +http:\/\/localhost:\d+\n/);
    expect(secretIn(first.stdout(), 'login-link')).toBe('');
    await first.end();
    await other.stop();
  });
});
