import { recordCapture } from '@postrider/core/captures';
import { provision } from '@postrider/core/workspaces';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from './admin-server.ts';
import { signedIn } from './signed-in.ts';

const operator = { email: 'ops@sandbox.test', password: 'correct horse: battery' };

const world = await openWorld({ ADMIN_EMAIL: operator.email, ADMIN_PASSWORD: operator.password });
const admin = await openAdmin(world);
let page: string;
beforeAll(async () => {
  await world.services.sql`delete from users`;
  await provision(world.services);
  await recordCapture(world.services, {
    envelope_from: 'bounce@sandbox.test',
    envelope_to: ['ada@example.com'],
    raw: Buffer.from(
      [
        'From: =?utf-8?Q?B=C3=B6b?= <bob@sandbox.test>',
        'To: ada@example.com',
        'Subject: <script>alert(1)</script>',
        'Content-Type: text/html; charset=utf-8',
        '',
        '<p>Hi</p><script>alert(2)</script><img src="http://evil.test/x.png">',
        '',
      ].join('\r\n'),
    ),
  });
  page = /\/captured\/cap_[0-9a-z]{26}/.exec((await admin.get('/captured')).text)?.[0] ?? '';
});

const basic = (email: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`,
});
const foreign = { host: 'evil.test' };

describe('captured mail', () => {
  it.each(['localhost', '127.0.0.1', '127.0.0.2', '[::1]'])(
    'is shown to the machine itself, asked as %s, without a login',
    async (name) => {
      const list = await admin.get('/captured', { host: `${name}:${admin.port}` });

      expect(list.status).toBe(200);
      expect(list.text).toContain('ada@example.com');
    },
  );

  it.each([
    ['a foreign Host name, as a re-bound page would send', foreign],
    ['a Host name that only begins like ours', { host: 'localhost.evil.test' }],
    ['a Host name with credentials before it', { host: 'localhost@evil.test' }],
    ['X-Forwarded-For, as a proxy adds it', { 'x-forwarded-for': '127.0.0.1' }],
    ['an empty X-Forwarded-For', { 'x-forwarded-for': '' }],
    ['Forwarded', { forwarded: 'for=127.0.0.1' }],
    ['a wrong password', { ...foreign, ...basic(operator.email, 'wrong') }],
    ['an unknown operator', { ...foreign, ...basic('nobody@sandbox.test', operator.password) }],
    ['no password at all', { ...foreign, ...basic(operator.email, '') }],
    ['an API key instead of a login', { ...foreign, authorization: `Bearer pr_live_${'0'.repeat(64)}` }],
  ])('is refused to a request with %s', async (_, headers) => {
    for (const path of ['/captured', page, `${page}/html`]) {
      const answer = await admin.get(path, headers);

      expect([400, 401]).toContain(answer.status);
      expect(answer.text).not.toContain('ada@example.com');
      if (answer.status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
    }
  });

  it('is shown to an operator from anywhere, whose password may hold a colon', async () => {
    const list = await admin.get('/captured', { ...foreign, ...basic(operator.email, operator.password) });

    expect(list.status).toBe(200);
    expect(list.text).toContain(page);
  });

  it('leaves an entry in the log of the instance for each mail that an operator reads, by session or by password', async () => {
    const { sql } = world.services;
    const person = await signedIn(world, admin, 'operator');
    const ways = [basic(operator.email, operator.password), { cookie: person.cookie }];

    for (const way of ways) {
      await admin.get('/captured', { ...foreign, ...way });
      await admin.get(page, { ...foreign, ...way });
    }
    await admin.get(`${page}/html`, { ...foreign, cookie: person.cookie });
    const entries = await sql`
      select actor_name, via, target_id, diff from audit_log
      where workspace_id = no_id() and action = 'message.content_read' order by sequence`;

    const capture_id = page.slice('/captured/'.length);
    const diff = JSON.stringify({ capture_id, workspace_id: world.workspace_id });
    const read = { via: 'dashboard', target_id: capture_id, diff };
    expect(entries).toEqual([
      { actor_name: operator.email, ...read },
      { actor_name: person.email, ...read },
      { actor_name: person.email, ...read },
    ]);
  });

  it('has a page that runs nothing of the mail and loads nothing from elsewhere', async () => {
    const answer = await admin.get(page);

    expect(answer.status).toBe(200);
    expect(answer.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(answer.text).toContain('Böb &lt;bob@sandbox.test&gt;');
    expect(answer.text).not.toContain('<script>');
    expect(answer.text).toContain(`<iframe sandbox title="HTML of the mail" src="${page}/html">`);
    expect(answer.headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('has a preview with the policy of hostile mail: no script, no form, no remote anything', async () => {
    const answer = await admin.get(`${page}/html`);

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
    const policy = String(answer.headers['content-security-policy']).split('; ').sort();
    expect(policy).toEqual(
      ['sandbox', "default-src 'none'", 'img-src data:', "style-src 'unsafe-inline'", "frame-ancestors 'self'"].sort(),
    );
    expect(answer.text).toContain('<script>alert(2)</script>');
  });

  it('that is not there is a 404, whatever the id looks like', async () => {
    for (const id of [`cap_${'0'.repeat(26)}`, 'cap_', '..%2f', "'", '%00', 'x'.repeat(5000)]) {
      expect((await admin.get(`/captured/${id}`)).status).toBe(404);
      expect((await admin.get(`/captured/${id}/html`)).status).toBe(404);
    }
  });
});
