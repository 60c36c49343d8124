import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCommandLine, outcomeOf, spawnCommand, watch } from './command-line.ts';

const { directory, key, launch, postrider, send, url } = await openCommandLine();

describe('send', () => {
  it('email get shows a sent email with its recipients and events', async () => {
    const email = await send('--to', 'ada@example.com', 'bob@example.com', '--tag', 'first', '--json');

    expect(email).toMatchObject({ code: 0, err: '' });
    const { id } = JSON.parse(email.out);
    const view = await launch(['email', 'get', id]);
    expect(view).toMatchObject({ code: 0, err: '' });
    expect(view.out).toContain('ada@example.com');
    expect(view.out).toContain('email.queued');
    const detail = JSON.parse((await postrider(['email', 'get', id, '--json'])).out);
    expect(detail).toMatchObject({ id, subject: 'Hello', tags: ['first'] });
    expect(detail.recipients.map((recipient: { email: string }) => recipient.email).sort()).toEqual([
      'ada@example.com',
      'bob@example.com',
    ]);
  });

  it('passes headers, metadata, a schedule and an idempotency key to the API', async () => {
    const rest = ['--header', 'X-Campaign: a:b', '--metadata', 'order=7', '--scheduled-at', '2000-01-01T00:00:00Z'];

    const rejection = await send('--to', 'ada@example.com', ...rest, '--json');

    expect(rejection.code).toBe(1);
    expect(JSON.parse(rejection.err).error.reason).toBe('scheduled_in_past');
    const once = ['--to', 'ada@example.com', '--idempotency-key', 'order-7', ...rest.slice(0, 4), '--json'];
    const [first, second] = [await send(...once), await send(...once)];
    expect(JSON.parse(second.out)).toEqual(JSON.parse(first.out));
    const { metadata } = JSON.parse((await postrider(['email', 'get', JSON.parse(first.out).id, '--json'])).out);
    expect(metadata).toEqual({ order: '7' });
  });

  it('derives attachment names from file names, and types from extensions', async () => {
    const [report, odd] = [join(directory, 'report 1.pdf'), join(directory, 'notes.unheard')];
    await writeFile(report, '%PDF-1.7');
    await writeFile(odd, Buffer.from([0, 255]));

    const email = await send('--to', 'ada@example.com', '--attach', report, '--attach', odd, '--json');

    expect(email).toMatchObject({ code: 0, err: '' });
    const response = await fetch(`${url}/v1/email/${JSON.parse(email.out).id}/content`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { attachments, raw } = (await response.json()) as { attachments: unknown; raw: string };
    expect(attachments).toMatchObject([
      { filename: 'report 1.pdf', size_bytes: 8 },
      { filename: 'notes.unheard', size_bytes: 2 },
    ]);
    expect(raw).toMatch(/^Content-Type: application\/pdf\r?$/m);
    expect(raw).toMatch(/^Content-Type: application\/octet-stream\r?$/m);
    expect(raw).toContain(Buffer.from('%PDF-1.7').toString('base64'));
  });

  it('rejects an oversized or unreadable attachment with an error that identifies the file', async () => {
    const [large, missing] = [join(directory, 'large.bin'), join(directory, 'none.pdf')];
    await writeFile(large, '');
    await truncate(large, 10 * 1024 * 1024 + 1);

    const rejection = await send('--to', 'ada@example.com', '--attach', large);
    const unreadable = await send('--to', 'ada@example.com', '--attach', missing);
    const folder = await send('--to', 'ada@example.com', '--attach', directory, '--json');

    expect(rejection).toMatchObject({ code: 1, out: '' });
    expect(rejection.err).toMatch(/^body_too_large: .* 10485761 bytes/);
    expect(unreadable.err).toMatch(/^unreadable_file: .*none\.pdf cannot be read: ENOENT/);
    expect(JSON.parse(folder.err).error).toMatchObject({ reason: 'unreadable_file' });
  });

  it('lets the server reject an email whose bodies are too large', async () => {
    const largest_file = join(directory, 'most.bin');
    await writeFile(largest_file, '');
    await truncate(largest_file, 10 * 1024 * 1024);

    const rejection = await send('--to', 'ada@example.com', '--attach', largest_file);

    expect(rejection.err).toMatch(/^body_too_large: html, text and attachments together/);
    expect(rejection.err).toContain(`See ${url}/errors/body_too_large`);
  });

  it('email cancel cancels a scheduled email', async () => {
    const future = '2100-01-01T00:00:00Z';
    expect(JSON.parse((await send('--to', 'ada@example.com', '--schedule', future, '--json')).err).error.reason).toBe(
      'scheduled_too_far',
    );
    const due = new Date(Date.now() + 86_400_000).toISOString();
    const email = await send('--to', 'ada@example.com', '--schedule', due);
    const [id = ''] = email.out.split(' ');

    expect(email.out).toBe(`${id}  scheduled for ${due}\n`);
    const cancellation = await postrider(['email', 'cancel', id]);

    expect(cancellation).toMatchObject({ code: 0, out: `${id} is canceled\n` });
    const repeat = await postrider(['email', 'cancel', id, '--json']);
    expect(JSON.parse(repeat.out)).toMatchObject({ id, status: 'canceled' });
  });

  it('email give-up marks a deferred email as failed, and rejects an email in any other state', async () => {
    const email = await send(
      '--to',
      'defer+3+give-up@simulator.test',
      '--priority',
      'high',
      '--retain',
      'none',
      '--json',
    );
    const { id } = JSON.parse(email.out);
    await expect
      .poll(async () => JSON.parse((await postrider(['email', 'get', id, '--json'])).out).status, { timeout: 30_000 })
      .toBe('deferred');

    const failure = await postrider(['email', 'give-up', id, '--reason', 'the address is wrong', '--yes']);
    const repeat = await postrider(['email', 'give-up', id, '--yes']);
    const view = JSON.parse((await postrider(['email', 'get', id, '--json'])).out);

    expect(failure).toMatchObject({ code: 0, out: `${id} is failed\n` });
    expect(repeat).toMatchObject({ code: 1 });
    expect(repeat.err).toContain('not_deferred');
    expect(view).toMatchObject({ priority: 'high', retain: 'none', status: 'failed' });
  });

  it('captures wait waits for a captured email and prints its links and one-time codes', async () => {
    const to = 'signup-271@example.com';
    const waiting = postrider(['captures', 'wait', '--to', to]);

    await send(
      '--to',
      to,
      '--text',
      'Your code is 493817.',
      '--html',
      '<a href="https://example.com/confirm/7">Confirm</a>',
    );
    const capture = await waiting;
    const none = await postrider(['captures', 'wait', '--to', 'no-mail@example.com', '--timeout', '0']);

    expect(capture).toMatchObject({ code: 0, err: '' });
    expect(capture.out).toMatch(/code +493817/);
    expect(capture.out).toMatch(/link +https:\/\/example\.com\/confirm\/7/);
    expect(none).toMatchObject({ code: 3 });
  });

  it('email get, logs list and stats say captured, and JSON says delivered and captured', async () => {
    const { id } = JSON.parse((await send('--to', 'captured@example.com', 'too@example.com', '--json')).out);
    const view = async () => JSON.parse((await postrider(['email', 'get', id, '--json'])).out);
    await expect.poll(async () => (await view()).status, { timeout: 30_000 }).toBe('delivered');

    const text = (await postrider(['email', 'get', id])).out;
    const list = (await postrider(['logs', 'list', '--to', 'captured@example.com'])).out;

    expect(await view()).toMatchObject({ status: 'delivered', captured: true, recipients: [{ captured: true }, {}] });
    expect(text).toMatch(/^status +captured$/m);
    expect(text).not.toMatch(/^status +delivered$/m);
    expect(list).toMatch(new RegExp(`${id} +captured`));
    expect((await postrider(['stats'])).out).toMatch(/delivered +captured/);
  });

  it('shows an error’s reason, message, invalid fields and link', async () => {
    const rejection = await launch(['send', '--from', 'a@sandbox.test', '--to', 'nobody', '--subject', 'x']);

    expect(rejection).toMatchObject({ code: 1, out: '' });
    expect(rejection.err).toMatch(/^invalid_email: to\[0\]/);
    expect(rejection.err).toContain('Give html or text');
    expect(rejection.err).toContain(`See ${url}/errors/invalid_email (request req_`);
  });
});

describe('logs list', () => {
  it('shows the newest emails that match all filters, with a note if there are more', async () => {
    await send('--to', 'ada@example.com', '--tag', 'listed');
    await send('--to', 'bob@example.com', '--tag', 'listed');

    const both = await postrider(['logs', 'list', '--tag', 'listed', '--domain', 'sandbox.test', '--limit', '1']);
    const one = await postrider(['logs', 'list', '--tag', 'listed', '--to', 'ada@example.com', '--json']);
    const none = await postrider(['logs', 'list', '--tag', 'listed', '--from', 'nobody@sandbox.test']);

    expect(both.out).toMatch(/^\S+ {2}msg_\w+ {2}\w+ +bob@example\.com {2}Hello\nThere are more/);
    expect(JSON.parse(one.out).data).toMatchObject([{ to: ['ada@example.com'] }]);
    expect([none.code, none.out]).toEqual([0, 'No results.\n']);
  });

  it('rejects an unknown status', async () => {
    const rejection = await postrider(['logs', 'list', '--status', 'lost']);

    expect([rejection.code, rejection.err]).toEqual([1, expect.stringContaining('status')]);
  });
});

describe('logs tail', () => {
  it('prints each new email once, oldest first, until Ctrl-C ends it with exit code 0', async () => {
    const before = JSON.parse((await send('--to', 'before@example.com', '--json')).out);
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const tail = spawnCommand(['logs', 'tail', '-n', '1', '--interval', '1', '--json'], env);
    const end = outcomeOf(tail);
    const waitForOutput = watch(tail);
    await waitForOutput(before.id);

    const [first, second] = [
      await send('--to', 'a@example.com', '--json'),
      await send('--to', 'b@example.com', '--json'),
    ];
    await waitForOutput(JSON.parse(second.out).id);
    tail.kill('SIGINT');

    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([before.id, JSON.parse(first.out).id, JSON.parse(second.out).id]);
  });
});

describe('stats, backlog and failures', () => {
  it('are printed as text or as JSON', async () => {
    const stats = await postrider(['stats', '--json', '--by', 'provider', '--metrics', 'accepted', 'delivered']);
    const backlog = await postrider(['backlog', '--json', '--by', 'tag', '--top', '5']);
    const failures = await postrider(['failures', '--json', '--kind', 'webhook']);

    expect(JSON.parse(stats.out)).toMatchObject({ object: 'stats', bucket: 'hour', group_by: 'provider' });
    expect(JSON.parse(backlog.out)).toMatchObject({ object: 'backlog', dimension: 'tag', total: { key: '' } });
    expect(JSON.parse(failures.out)).toMatchObject({ object: 'list', data: [] });
    expect((await postrider(['stats', '--bucket', 'minute'])).out).toMatch(
      /accepted +delivered[\s\S]*Data is complete until /,
    );
    expect((await postrider(['backlog'])).out).toMatch(/^destination +waiting +<5 min[\s\S]*\ntotal +\d/);
    expect((await postrider(['failures'])).out).toBe('No failures.\n');
  });

  it('reject a time range outside the retention period', async () => {
    const rejection = await postrider(['stats', '--bucket', 'minute', '--since', '2020-01-01T00:00:00Z']);

    expect([rejection.code, rejection.err]).toEqual([1, expect.stringMatching(/^invalid_range: /)]);
  });
});
