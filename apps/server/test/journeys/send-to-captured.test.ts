import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Journey, openJourney } from '../journey.ts';
import { secretIn } from '../server-process.ts';

let journey: Journey;
beforeAll(async () => {
  journey = await openJourney({ DELIVERY: 'capture' });
});
afterAll(() => journey.stop());

const hello = { from: 'Ada <ada@sandbox.test>', to: 'bob@example.com', subject: 'Hello there', html: '<p>Hi</p>' };

describe('a first start on an empty database', () => {
  it('hides a preset key, and preserves a captured email across a second start', async () => {
    const first = await journey.start();
    expect(first.stdout()).toMatch(/API key +from BOOTSTRAP_API_KEY/);
    expect(first.stdout()).not.toContain(journey.secret);

    const sent = await first.call('POST', '/v1/email/send', { body: hello });
    expect(sent).toMatchObject({ status: 202, body: { status: 'queued' } });
    const path = `/v1/email/logs/${sent.body.id}`;
    await expect
      .poll(async () => (await first.call('GET', path)).body, { timeout: 30_000 })
      .toMatchObject({
        status: 'delivered',
        recipients: [{ email: 'bob@example.com', status: 'delivered', attempts: 1 }],
        attempts: [{ number: 1, outcome: 'accepted', stage: 'after_dot', reply: { code: 250 } }],
        events: [{ type: 'email.queued' }, { type: 'email.delivered' }],
      });

    const list = await first.call('GET', '/v1/captures');
    expect(list).toMatchObject({ status: 200, body: { data: [{ subject: 'Hello there', email_id: sent.body.id }] } });
    const [{ id }] = list.body.data as [{ id: string }];
    const response = await first.call('GET', `/v1/captures/${id}`);
    expect(response).toMatchObject({ status: 200, body: { html: '<p>Hi</p>' } });
    expect(response.text).toContain('Ada <ada@sandbox.test>');
    expect(response.text).toContain(`<${sent.body.id}@sandbox.test>`);
    expect(await first.end()).toEqual({ code: 0, signal: null });

    const second = await journey.start();
    expect(second.stdout()).not.toContain(journey.secret);
    expect(second.stdout()).not.toMatch(/pr_live_|first-start/);
    expect((await second.call('GET', path)).body).toMatchObject({ id: sent.body.id, status: 'delivered' });
    expect((await second.call('GET', `/v1/captures/${id}`)).body).toMatchObject({ subject: 'Hello there' });
    expect(await journey.sql`select from workspaces`).toHaveLength(1);
    expect(await second.end()).toEqual({ code: 0, signal: null });
  });

  it('fairness P35: writes its secrets to files with mode 0600, and prints an email command ready to paste', async () => {
    const empty = await openJourney({ DELIVERY: 'capture', BOOTSTRAP_API_KEY: '' });
    const first = await empty.start();
    const secrets = (['api-key', 'operator-password', 'login-link'] as const).map((name) =>
      secretIn(first.stdout(), name),
    );
    expect(secrets[0]).toMatch(/^pr_live_[0-9a-f]{64}$/);
    for (const value of secrets) {
      expect(value).not.toBe('');
      expect(first.stdout() + first.stderr()).not.toContain(value);
    }
    const [command = ''] = /^curl http:\/\/localhost:\d+\/v1\/email\/send .*$/m.exec(first.stdout()) ?? [];
    const sent = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'queued' });
    for (const name of await readdir(join(empty.env.DATA_DIR ?? '', 'first-start')))
      expect((await stat(join(empty.env.DATA_DIR ?? '', 'first-start', name))).mode & 0o777).toBe(0o600);
    expect(await first.end()).toEqual({ code: 0, signal: null });

    const second = await empty.start();
    expect(second.stdout()).not.toMatch(/pr_live_|first-start/);
    expect(await second.end()).toEqual({ code: 0, signal: null });
    await empty.stop();
  });

  it('returns a docs_url that links to an existing page at its own address', async () => {
    const server = await journey.start();

    const response = await server.call('POST', '/v1/email/send', { body: { ...hello, to: 'nobody' } });

    expect(response.status).toBe(400);
    const { docs_url } = response.body.error as { docs_url: string };
    expect(docs_url).toBe(
      `http://localhost:${server.port}/errors/${(response.body.error as { reason: string }).reason}`,
    );
    expect((await fetch(docs_url)).status).toBe(200);
    await server.end();
  });
});
