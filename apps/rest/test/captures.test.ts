import { recordCapture, trimCaptures } from '@postrider/core/captures';
import { openWorld } from '@postrider/testing/open-world';
import { beforeEach, describe, expect, it } from 'vitest';
import { detailsOf, errorOf, openRest } from './rest-server.ts';

const DAY_MS = 86_400_000;
const MEGABYTE = 1024 * 1024;

const world = await openWorld();
const rest = await openRest(world);
beforeEach(async () => void (await world.services.sql`delete from captures`));

async function capture(
  to: string,
  { subject = 'Your code', body = 'Hi', workspace_id = world.workspace_id as string | null } = {},
): Promise<void> {
  const raw = Buffer.from(`From: Shop <shop@sandbox.test>\r\nTo: ${to}\r\nSubject: ${subject}\r\n${body}`);
  await world.clock.advance(1);
  await recordCapture(world.services, { envelope_from: 'shop@sandbox.test', envelope_to: [to], raw }, workspace_id);
}

const subjects = (body: Readonly<Record<string, unknown>>) =>
  (body.data as { subject: string }[]).map(({ subject }) => subject);
const firstId = async () => String(((await rest.call('GET', '/captures')).body.data as { id: string }[])[0]?.id);

describe('GET /captures: 200', () => {
  it("the list shows the workspace's captured email, newest first, filtered by address and subject", async () => {
    await capture('ada@example.com', { subject: 'First' });
    await capture('bob@example.net', { subject: 'Second' });

    expect(subjects((await rest.call('GET', '/captures')).body)).toEqual(['Second', 'First']);
    for (const [filter, expected] of [
      ['to=ADA@', ['First']],
      ['from=shop@sandbox', ['Second', 'First']],
      ['subject=sec', ['Second']],
      ['to=cy@example.com', []],
    ] as const)
      expect(subjects((await rest.call('GET', `/captures?${filter}`)).body), filter).toEqual(expected);
  });

  it('a request waits for the first match, up to its time limit', async () => {
    const waiting = rest.call('GET', '/captures?to=late@example.com&wait=20');
    await capture('late@example.com', { subject: 'At last' });

    expect(subjects((await waiting).body)).toEqual(['At last']);
    expect(subjects((await rest.call('GET', '/captures?to=never@example.com&wait=1')).body)).toEqual([]);
  });

  it('a request waits no longer than its key remains valid', async () => {
    const key = await world.key({ scopes: ['email:logs:read'] });
    const waiting = rest.call('GET', '/captures?to=late@example.org&wait=30', { key: key.secret });
    const admitted = () => world.services.sql`select from rate_windows where subject = ${key.id}::uuid`;
    await expect.poll(async () => (await admitted()).length).toBe(1);
    // Once a later request has been answered, the earlier one has found nothing and waits.
    await rest.call('GET', '/captures?to=early@example.org', { key: key.secret });
    await rest.call('DELETE', `/api-keys/${key.id}`);
    await capture('late@example.org');

    const response = await waiting;

    expect(response.status).toBe(401);
    expect(errorOf(response).reason).toBe('revoked_key');
  });

  it("another workspace's captured email is never shown", async () => {
    const other = await world.workspace('free');
    await capture('ada@example.com');

    const listed = await rest.call('GET', '/captures', { key: other.secret });
    const read = await rest.call('GET', `/captures/${await firstId()}`, { key: other.secret });

    expect(listed.body.data).toEqual([]);
    expect([read.status, errorOf(read).reason]).toEqual([404, 'capture_not_found']);
  });
});

describe('GET /captures: 400', () => {
  it('a wait longer than 30 seconds is rejected', async () => {
    const response = await rest.call('GET', '/captures?wait=31');

    expect(response.status).toBe(400);
    expect(detailsOf(response)).toEqual(['wait invalid_type']);
  });
});

describe('GET /captures/{id}', () => {
  it('returns the content with its links and one-time codes', async () => {
    const html =
      '<p>Your code is <b>493 817</b>.</p><a href="https://shop.test/in?a=1&amp;b=2">Sign in</a> in 2030, for 1999.99 EUR';
    await capture('ada@example.com', {
      body: `MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${html}\r\n`,
    });

    const { status, body } = await rest.call('GET', `/captures/${await firstId()}`);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      links: ['https://shop.test/in?a=1&b=2'],
      codes: ['493817'],
      text: null,
      html: expect.stringContaining('493 817'),
      raw: expect.stringContaining('Subject: Your code'),
      headers: expect.arrayContaining([{ name: 'Subject', value: 'Your code' }]),
    });
  });

  it('is available to administrators and to sandbox keys, which see only the sandbox', async () => {
    const reader = await world.key({ scopes: ['email:logs:read'] });
    const sandbox = await world.key({ scopes: ['email:send', 'email:logs:read'], mode: 'sandbox' });
    const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: 'Live', text: 'Hi' };
    const live = await rest.call('POST', '/email/send', { body: mail });
    await capture('ada@example.com', { body: `Message-ID: <${live.body.id}@sandbox.test>\r\n\r\nHi` });
    const id = await firstId();
    await capture('bob@example.com');
    const other = await firstId();

    const read = await rest.call('GET', `/captures/${id}`, { key: reader.secret });
    const hidden = await rest.call('GET', `/captures/${id}`, { key: sandbox.secret });
    const response = await rest.call('GET', `/captures/${other}`, { key: sandbox.secret });
    const listed = await rest.call('GET', '/captures', { key: sandbox.secret });

    expect([read.status, hidden.status, response.status]).toEqual([403, 404, 200]);
    expect(errorOf(read)).toMatchObject({ required_scope: 'admin' });
    expect(listed.body.data).toMatchObject([{ id: other }]);
  });
});

describe('DELETE /captures and POST /captures/{id}/release', () => {
  it('a single message can be deleted, and then all remaining ones', async () => {
    for (const to of ['a@example.com', 'b@example.com', 'c@example.com']) await capture(to);
    const id = await firstId();

    const one = await rest.call('DELETE', `/captures/${id}`);
    const repeat = await rest.call('DELETE', `/captures/${id}`);
    const all = await rest.call('DELETE', '/captures');

    expect(one.body).toEqual({ object: 'capture', id, deleted: true });
    expect(repeat.status).toBe(404);
    expect(all.body).toEqual({ object: 'captures', deleted: 2 });
  });

  it('the content can be released to a different address as a new message', async () => {
    await capture('ada@example.com', { subject: 'Hello', body: '\r\nHow are you?' });

    const released = await rest.call('POST', `/captures/${await firstId()}/release`, {
      body: { to: 'eve@example.org' },
    });
    await world.drain();

    expect(released.status).toBe(202);
    expect(released.headers.get('x-ratelimit-limit')).toBe('120');
    const arrived = world.smtp.messages.find(({ envelope_to }) => envelope_to.includes('eve@example.org'));
    expect(arrived?.raw.toString()).toMatch(/Subject: Hello[\s\S]*How are you\?/);
  });
});

describe('a captured message', () => {
  it('expires after a week, or earlier if the workspace exceeds its capture quota', async () => {
    const { workspace_id } = await world.workspace('free');
    await capture('old@example.com');
    await world.clock.advance(8 * DAY_MS);
    for (let count = 0; count < 3; count++) await capture('big@example.com', { body: `\r\n${'x'.repeat(MEGABYTE)}` });
    await capture('other@example.com', { workspace_id });

    await trimCaptures(world.services.sql, { seconds: 7 * 86_400, bytes_per_workspace: 2.5 * MEGABYTE });

    const rows = await world.services.sql`select workspace_id, count(*)::int as n from captures group by 1 order by 2`;
    expect(rows).toMatchObject([
      { workspace_id, n: 1 },
      { workspace_id: world.workspace_id, n: 2 },
    ]);
  });
});
