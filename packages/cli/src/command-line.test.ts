import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type DnsZone, startDnsZone, startWebhookSink } from '@postrider/testing';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createWholeProgram, groups } from './program.ts';
import { runCommand } from './run-command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const serverMain = join(root, 'apps/server/src/main.ts');
const launcher = join(root, 'packages/cli/src/launch.mjs');

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let data_dir: string;
let zone: DnsZone;
let server: ChildProcessWithoutNullStreams;
let url: string;
let key: string;

/** Starts a child with only this environment, so that no setting of the machine affects a test. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return spawn(process.execPath, [program, ...args], { cwd: root, env });
}

/** Resolves once the output contains the text; rejects if the program ends before. */
function watch(child: ChildProcessWithoutNullStreams): (text: string) => Promise<string> {
  let out = '';
  let open = true;
  const waiting = new Set<() => void>();
  const look = () => {
    for (const wait of waiting) wait();
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    out += chunk;
    look();
  });
  child.on('close', () => {
    open = false;
    look();
  });
  return (text) =>
    new Promise((resolve, reject) => {
      const wait = () => {
        if (out.includes(text)) resolve(out);
        else if (!open) reject(new Error(`it ended without printing ${text}: ${out}`));
        else return;
        waiting.delete(wait);
      };
      waiting.add(wait);
      wait();
    });
}

/** The usual ports are for people. */
async function freePort(): Promise<string> {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  const address = holder.address();
  await new Promise((resolve) => holder.close(resolve));
  return String(typeof address === 'object' ? address?.port : 0);
}

function ended(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  return new Promise((resolve) => {
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk;
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

type Environment = Readonly<Record<string, string>>;
const environment = (env: Environment) => ({
  POSTRIDER_URL: url,
  POSTRIDER_API_KEY: key,
  DATA_DIR: data_dir,
  HOME: data_dir,
  ...env,
});

/** Runs a command in this process, which saves the second that a new process takes to start. */
async function postrider(args: readonly string[], env: Environment = {}): Promise<Ended> {
  let [out, err] = ['', ''];
  const code = await runCommand(args, {
    env: environment(env),
    print: (text) => {
      out += `${text}\n`;
    },
    note: (text) => {
      err += `${text}\n`;
    },
  });
  return { code, out, err };
}

/** Runs a command as on a terminal. */
function launched(args: readonly string[], env: Environment = {}): Promise<Ended> {
  return ended(start(launcher, [...args, '--output', 'text'], environment(env)));
}

function send(...more: string[]): Promise<Ended> {
  return postrider(['send', '--from', 'hello@sandbox.test', '--subject', 'Hello', '--text', 'Hi', ...more]);
}

/** Postgres may run as another user, which must be able to reach the directory. */
async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postrider-cli-'));
  await chmod(directory, 0o711);
  return directory;
}

beforeAll(async () => {
  data_dir = await emptyDirectory();
  zone = await startDnsZone();
  const ports = { PORT: await freePort(), CAPTURE_PORT: await freePort(), INBOUND_PORT: await freePort() };
  server = start(serverMain, [], { DATA_DIR: data_dir, DNS_SERVERS: zone.address, ...ports });
  const banner = await watch(server)('Ctrl-C stops it');
  url = /ready at (\S+)/.exec(banner)?.[1] ?? '';
  key = /pr_live_[0-9a-f]{64}/.exec(banner)?.[0] ?? '';
});
afterAll(async () => {
  const stopped = ended(server);
  server.kill('SIGTERM');
  expect((await stopped).code).toBe(0);
  await zone.stop();
  await rm(data_dir, { recursive: true, force: true });
});

describe('send', () => {
  it('sends a mail that email get then shows', async () => {
    const sent = await send('--to', 'ada@example.com', 'bob@example.com', '--tag', 'first', '--json');

    expect(sent).toMatchObject({ code: 0, err: '' });
    const { id } = JSON.parse(sent.out);
    const shown = await launched(['email', 'get', id]);
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toContain('ada@example.com');
    expect(shown.out).toContain('email.queued');
    const detail = JSON.parse((await postrider(['email', 'get', id, '--json'])).out);
    expect(detail).toMatchObject({ id, subject: 'Hello', tags: ['first'] });
    expect(detail.recipients.map((recipient: { email: string }) => recipient.email).sort()).toEqual([
      'ada@example.com',
      'bob@example.com',
    ]);
  });

  it('passes headers, metadata, a schedule and an idempotency key on', async () => {
    const more = ['--header', 'X-Campaign: a:b', '--metadata', 'order=7', '--scheduled-at', '2000-01-01T00:00:00Z'];

    const refused = await send('--to', 'ada@example.com', ...more, '--json');

    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.err).error.reason).toBe('scheduled_in_past');
    const once = ['--to', 'ada@example.com', '--idempotency-key', 'order-7', ...more.slice(0, 4), '--json'];
    const [first, second] = [await send(...once), await send(...once)];
    expect(JSON.parse(second.out)).toEqual(JSON.parse(first.out));
    const { metadata } = JSON.parse((await postrider(['email', 'get', JSON.parse(first.out).id, '--json'])).out);
    expect(metadata).toEqual({ order: '7' });
  });

  it('attaches files under their own names, with the types of their extensions', async () => {
    const [report, odd] = [join(data_dir, 'report 1.pdf'), join(data_dir, 'notes.unheard')];
    await writeFile(report, '%PDF-1.7');
    await writeFile(odd, Buffer.from([0, 255]));

    const sent = await send('--to', 'ada@example.com', '--attach', report, '--attach', odd, '--json');

    expect(sent).toMatchObject({ code: 0, err: '' });
    const answer = await fetch(`${url}/v1/email/${JSON.parse(sent.out).id}/content`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { attachments, raw } = (await answer.json()) as { attachments: unknown; raw: string };
    expect(attachments).toMatchObject([
      { filename: 'report 1.pdf', size_bytes: 8 },
      { filename: 'notes.unheard', size_bytes: 2 },
    ]);
    expect(raw).toMatch(/^Content-Type: application\/pdf\r?$/m);
    expect(raw).toMatch(/^Content-Type: application\/octet-stream\r?$/m);
    expect(raw).toContain(Buffer.from('%PDF-1.7').toString('base64'));
  });

  it('attaches nothing that is too large or cannot be read, and says which', async () => {
    const [large, missing] = [join(data_dir, 'large.bin'), join(data_dir, 'none.pdf')];
    await writeFile(large, '');
    await truncate(large, 10 * 1024 * 1024 + 1);

    const refused = await send('--to', 'ada@example.com', '--attach', large);
    const absent = await send('--to', 'ada@example.com', '--attach', missing);
    const directory = await send('--to', 'ada@example.com', '--attach', data_dir, '--json');

    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^body_too_large: .* 10485761 bytes/);
    expect(absent.err).toMatch(/^unreadable_file: .*none\.pdf cannot be read: ENOENT/);
    expect(JSON.parse(directory.err).error).toMatchObject({ reason: 'unreadable_file' });
  });

  it('leaves a mail that is too large with its bodies to the server', async () => {
    const most = join(data_dir, 'most.bin');
    await writeFile(most, '');
    await truncate(most, 10 * 1024 * 1024);

    const refused = await send('--to', 'ada@example.com', '--attach', most);

    expect(refused.err).toMatch(/^body_too_large: html, text and attachments together/);
    expect(refused.err).toContain(`See ${url}/errors/body_too_large`);
  });

  it('schedules a mail that email cancel then stops', async () => {
    const later = '2100-01-01T00:00:00Z';
    expect(JSON.parse((await send('--to', 'ada@example.com', '--schedule', later, '--json')).err).error.reason).toBe(
      'scheduled_too_far',
    );
    const due = new Date(Date.now() + 86_400_000).toISOString();
    const sent = await send('--to', 'ada@example.com', '--schedule', due);
    const [id = ''] = sent.out.split(' ');

    expect(sent.out).toBe(`${id}  scheduled for ${due}\n`);
    const canceled = await postrider(['email', 'cancel', id]);

    expect(canceled).toMatchObject({ code: 0, out: `${id} is canceled\n` });
    const again = await postrider(['email', 'cancel', id, '--json']);
    expect(JSON.parse(again.out)).toMatchObject({ id, status: 'canceled' });
  });

  it('gives up what is deferred, and says of the rest that none is', async () => {
    const sent = await send(
      '--to',
      'defer+3+give-up@simulator.test',
      '--priority',
      'high',
      '--retain',
      'none',
      '--json',
    );
    const { id } = JSON.parse(sent.out);
    await expect
      .poll(async () => JSON.parse((await postrider(['email', 'get', id, '--json'])).out).status, { timeout: 30_000 })
      .toBe('deferred');

    const given_up = await postrider(['email', 'give-up', id, '--reason', 'the address is wrong', '--yes']);
    const again = await postrider(['email', 'give-up', id, '--yes']);
    const shown = JSON.parse((await postrider(['email', 'get', id, '--json'])).out);

    expect(given_up).toMatchObject({ code: 0, out: `${id} is failed\n` });
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('not_deferred');
    expect(shown).toMatchObject({ priority: 'high', retain: 'none', status: 'failed' });
  });

  it('waits for captured mail, and prints its links and one-time codes', async () => {
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
    const found = await waiting;
    const none = await postrider(['captures', 'wait', '--to', 'no-mail@example.com', '--timeout', '0']);

    expect(found).toMatchObject({ code: 0, err: '' });
    expect(found.out).toMatch(/code +493817/);
    expect(found.out).toMatch(/link +https:\/\/example\.com\/confirm\/7/);
    expect(none).toMatchObject({ code: 3 });
  });

  it('says reason, message, every bad field and where to read on', async () => {
    const refused = await launched(['send', '--from', 'a@sandbox.test', '--to', 'nobody', '--subject', 'x']);

    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/^invalid_email: to\[0\]/);
    expect(refused.err).toContain('Give html or text');
    expect(refused.err).toContain(`See ${url}/errors/invalid_email (request req_`);
  });
});

describe('logs list', () => {
  it('shows the newest mails that all filters find, and says where there are more', async () => {
    await send('--to', 'ada@example.com', '--tag', 'listed');
    await send('--to', 'bob@example.com', '--tag', 'listed');

    const both = await postrider(['logs', 'list', '--tag', 'listed', '--domain', 'sandbox.test', '--limit', '1']);
    const one = await postrider(['logs', 'list', '--tag', 'listed', '--to', 'ada@example.com', '--json']);
    const none = await postrider(['logs', 'list', '--tag', 'listed', '--from', 'nobody@sandbox.test']);

    expect(both.out).toMatch(/^\S+ {2}msg_\w+ {2}\w+ +bob@example\.com {2}Hello\nThere are more/);
    expect(JSON.parse(one.out).data).toMatchObject([{ to: ['ada@example.com'] }]);
    expect([none.code, none.out]).toEqual([0, 'nothing matches\n']);
  });

  it('says which status is none', async () => {
    const refused = await postrider(['logs', 'list', '--status', 'lost']);

    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('status')]);
  });
});

describe('logs tail', () => {
  it('prints each new mail once, oldest first, and ends well on Ctrl-C', async () => {
    const before = JSON.parse((await send('--to', 'before@example.com', '--json')).out);
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const tail = start(launcher, ['logs', 'tail', '-n', '1', '--interval', '1', '--json'], env);
    const end = ended(tail);
    const printed = watch(tail);
    await printed(before.id);

    const [first, second] = [
      await send('--to', 'a@example.com', '--json'),
      await send('--to', 'b@example.com', '--json'),
    ];
    await printed(JSON.parse(second.out).id);
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

describe('webhooks listen', () => {
  it('posts each new event once to a program here, signed with the secret that it prints', async () => {
    await send('--to', 'before@example.com');
    const sink = await startWebhookSink();
    sink.script(({ nth }) => ({ kind: 'reply', status: nth === 1 ? 200 : 500 }));
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const port = new URL(sink.url).port;
    const listener = start(launcher, ['webhooks', 'listen', '--forward-to', port, '--events', 'email.queued'], env);
    const end = ended(listener);
    const printed = watch(listener);
    await printed('signed with');

    const sent = [await send('--to', 'a@example.com', '--json'), await send('--to', 'b@example.com', '--json')];
    const requests = await sink.waitFor(2);
    await printed('  500');
    listener.kill('SIGINT');

    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [, secret = ''] = /signed with (whsec_\S+)/.exec(out) ?? [];
    const posted = requests.map(({ body, headers }) =>
      new Webhook(secret).verify(body.toString(), headers as Record<string, string>),
    );
    expect(posted).toMatchObject(
      sent.map(({ out }) => ({ type: 'email.queued', data: { email: { id: JSON.parse(out).id } } })),
    );
    expect(sink.requests).toHaveLength(2);
    await sink.stop();
  });

  it('retries a refused connection, and posts in order once a receiver listens', async () => {
    const sink = await startWebhookSink();
    const { port } = new URL(sink.url);
    await sink.stop();
    const env = { POSTRIDER_URL: url, POSTRIDER_API_KEY: key };
    const listener = start(launcher, ['webhooks', 'listen', '--forward-to', port, '--events', 'email.queued'], env);
    const end = ended(listener);
    const printed = watch(listener);
    await printed('signed with');

    const { id } = JSON.parse((await send('--to', 'late@example.com', '--json')).out);
    await printed('trying again in 1 s');
    const posted = Promise.withResolvers<string>();
    const receiver = createServer(async (request, response) => {
      posted.resolve(await text(request));
      response.end();
    });
    receiver.listen(Number(port));

    expect(JSON.parse(await posted.promise)).toMatchObject({ data: { email: { id } } });
    await printed('  200');
    listener.kill('SIGINT');
    expect((await end).code).toBe(0);
    receiver.close();
  });

  it('says what is wrong with its options', async () => {
    const nowhere = await launched(['webhooks', 'listen']);
    const file = await postrider(['webhooks', 'listen', '--forward-to', 'file:///etc/passwd']);
    const type = await postrider(['webhooks', 'listen', '--forward-to', '4000', '--events', 'email.opened']);

    expect([nowhere.code, file.code, type.code]).toEqual([2, 2, 1]);
    expect(nowhere.err).toContain('--forward-to');
    expect(file.err).toContain('http://localhost:4000/hooks');
    expect(type.err).toContain('email.queued');
  });
});

describe('webhooks', () => {
  it('registers one, receives what is posted to it, and proves that it is genuine', async () => {
    const port = await freePort();
    const created = await postrider(['webhooks', 'create', `http://localhost:${port}/`, '--events', 'email.delivered']);
    const [secret = '', id = ''] = /^(whsec_\S+)\n(whk_\w+) to /.exec(created.out)?.slice(1) ?? [];

    const receiving = postrider(['webhooks', 'receive', '--once', '--port', port], { WEBHOOK_SECRET: secret });
    const forged = await vi.waitFor(() => fetch(`http://localhost:${port}/`, { method: 'POST', body: '{}' }));
    expect(forged.status).toBe(400);
    await send('--to', 'hooked@example.com');

    const { code, out, err } = await receiving;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ type: 'email.delivered' });
    expect(err).toContain('refused a post: ');
    expect((await postrider(['webhooks', 'list'])).out).toMatch(
      new RegExp(`^${id} +enabled +live .* email.delivered$`, 'm'),
    );
    expect((await postrider(['webhooks', 'test', id])).out).toMatch(/^whd_/);
    expect((await postrider(['webhooks', 'remove', id])).code).toBe(2);
    expect((await postrider(['webhooks', 'remove', id, '--yes'])).out).toBe(`${id}  removed\n`);
    expect((await postrider(['webhooks', 'receive'])).err).toMatch(/^missing_option: WEBHOOK_SECRET/);
  });
});

describe('keys', () => {
  it('makes, lists and revokes a key, which then opens nothing', async () => {
    const made = JSON.parse(
      (await postrider(['keys', 'create', '--name', 'Reader', '--scope', 'admin', '--json'])).out,
    );
    const listed = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: made.secret });
    expect(listed.out).toMatch(new RegExp(`${made.id} .*active.*Reader`));

    const revoked = await postrider(['keys', 'revoke', made.id, '--yes']);

    expect(revoked.out).toContain(`${made.id}  revoked`);
    const refused = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: made.secret });
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^revoked_key: .*\nSet POSTRIDER_API_KEY/);
  });

  it('puts another key in the place of one', async () => {
    const made = JSON.parse((await postrider(['keys', 'create', '--name', 'Old', '--scope', 'admin', '--json'])).out);

    const rotated = await postrider(['keys', 'rotate', made.id]);

    const [secret, line] = rotated.out.split('\n');
    expect(line).toMatch(new RegExp(`^key_\\w+ instead of ${made.id}; shown this once$`));
    const listed = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: secret ?? '' });
    const [successor] = line?.split(' ') ?? [];
    expect(listed.out).toMatch(new RegExp(`^${made.id} +active .* until \\S+ +replaced by ${successor}$`, 'm'));
  });

  it('makes one with every scope on the machine itself, beside the running server', async () => {
    const made = await launched(['keys', 'create', '--local', '--json'], { POSTRIDER_API_KEY: '' });

    expect(made).toMatchObject({ code: 0, err: '' });
    const { secret } = JSON.parse(made.out);
    expect((await postrider(['keys', 'list'], { POSTRIDER_API_KEY: secret })).code).toBe(0);
  });

  it('opens no database where none is installed', async () => {
    const refused = await launched(['keys', 'create', '--local'], { DATA_DIR: join(data_dir, 'elsewhere') });

    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^not_installed: .*\nRun npm start once/);
  });
});

describe('domains', () => {
  interface Shown {
    readonly fqdn: string;
    readonly type: string;
    readonly value: string;
    readonly host: string;
  }

  it('adds a domain, says what to publish, and verifies it once that is there', async () => {
    const added = await postrider(['domains', 'add', 'Example.test', '--selector', 'acme', '--json']);
    expect(added).toMatchObject({ code: 0, err: '' });
    const { dns_records } = JSON.parse(added.out) as { dns_records: Shown[] };
    const early = await postrider(['domains', 'verify', 'example.test']);
    const zoneText = (await postrider(['domains', 'doctor', 'example.test', '--format', 'zone'])).out;
    const steps = (await postrider(['domains', 'doctor', 'example.test', '--format', 'steps'])).out;
    for (const { fqdn, value } of dns_records) zone.set(fqdn, 'TXT', [value]);

    const verified = await postrider(['domains', 'verify', 'EXAMPLE.test.']);

    expect(early).toMatchObject({ code: 1, err: '' });
    expect(early.out).toMatch(/^example\.test {2}pending {2}The ownership record /);
    expect(early.out).toContain('Publish a TXT record with the host acme._domainkey;');
    expect(zoneText).toContain('$ORIGIN example.test.');
    for (const text of [zoneText, steps])
      expect(text).toMatch(/^(; |1\. )Set HELO_NAME to the public name of this server/);
    for (const { host, value } of dns_records) {
      expect(steps).toContain(`host ${host}, value ${value}, TTL 3600.`);
      const line = zoneText.split('\n').find((text) => text.startsWith(`${host} 3600 IN TXT `)) ?? '';
      const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
      expect(strings.join('')).toBe(value);
      expect(Math.max(...strings.map((text) => text.length))).toBeLessThanOrEqual(255);
    }
    expect(verified.out).toMatch(/^example\.test {2}verified\n/);
    expect(verified.code).toBe(0);
    const healthy = await postrider(['domains', 'doctor', 'example.test', '--format', 'steps']);
    expect(healthy).toMatchObject({ code: 0, out: 'Nothing to do.\n' });
    expect((await postrider(['domains', 'list'])).out).toMatch(/^example\.test +verified +next check /);
    const unnamed = await postrider(['domains', 'add', 'other.test', '--return-path', 'bounces']);
    expect(unnamed.out).toMatch(/^Set HELO_NAME .* publish nothing that names (localhost|127\.0\.0\.1)\.$/m);
    const removed = await postrider(['domains', 'remove', 'Other.test', '--yes']);
    expect(removed).toMatchObject({ code: 0, out: 'other.test  removed\n' });
    expect((await postrider(['domains', 'remove', 'other.test', '--yes'])).err).toMatch(/^domain_not_found: /);
    expect((await postrider(['domains', 'rotate-keys', 'example.test'])).out).toContain('acme2._domainkey');
  });

  it('examines a domain that is not added, and shows what strangers publish as text', async () => {
    zone.set('stranger.test', 'TXT', ['v=spf1 -all', 'v=spf1 \u001b[31m ~all']);

    const ill = await postrider(['domains', 'doctor', 'stranger.test']);

    expect(ill).toMatchObject({ code: 1, err: '' });
    expect(ill.out).toContain('stranger.test  not added yet');
    expect(ill.out).toMatch(/^multiple +spf +TXT +@ /m);
    expect(ill.out).toContain('There are 2 records of this kind');
    expect(ill.out).not.toContain('\u001b');
    const refused = await postrider(['domains', 'doctor', 'gmail.com', '--json']);
    expect(JSON.parse(refused.err).error.reason).toBe('domain_not_allowed');
  });

  it('suspends and resumes a domain', async () => {
    await postrider(['domains', 'add', 'halted.test']);

    const suspended = await postrider(['domains', 'suspend', 'halted.test', 'spam']);
    const resumed = await postrider(['domains', 'resume', 'halted.test', '--json']);

    expect(suspended).toMatchObject({ code: 0, out: 'halted.test  suspended  Suspended by an operator: spam\n' });
    expect(JSON.parse(resumed.out).status).toBe('pending');
  });
});

describe('queues, workers and schedules', () => {
  it('shows what waits, who works and what runs by the clock', async () => {
    const workers = await postrider(['workers', 'list']);
    const schedules = await postrider(['schedules', 'list']);

    await vi.waitFor(
      async () => {
        const top = await postrider(['queues', 'top', '--json']);
        expect(top).toMatchObject({ code: 0, err: '' });
        const { data } = JSON.parse(top.out) as { data: { name: string; measured_at: string | null }[] };
        expect(data.find(({ name }) => name === 'delivery.attempt')?.measured_at).not.toBeNull();
      },
      { timeout: 30_000, interval: 500 },
    );
    const shown = (await postrider(['queues', 'top'])).out;
    expect(shown).toMatch(/^queue +ready +deferred /);
    expect(shown).toMatch(/^delivery\.attempt +\d/m);
    expect(workers.out).toMatch(/:\d+ +live +last heartbeat 20/);
    expect(schedules.out).toMatch(/^storage\.maintain +every hour at minute 7 +UTC +next 20/m);
    const run = await postrider(['schedules', 'run', 'storage.maintain', '--reason', 'rows in a default partition']);
    expect(run).toMatchObject({ code: 0, out: expect.stringMatching(/^job_\w+ {2}storage\.maintain \w+\n$/) });
  });

  it('lists jobs and pulls the admin actions of one', async () => {
    const listed = await postrider(['queues', 'jobs', '--queue', 'domain.recheck', '--json']);
    const preview = await postrider(['queues', 'redrive', 'domain.recheck', '--preview']);
    const set = await postrider(['queues', 'concurrency', 'domain.recheck', '2', '--reason', 'many domains']);

    expect(JSON.parse(listed.out).object).toBe('list');
    const none_dead = await postrider(['queues', 'jobs', '--queue', 'domain.recheck', '--state', 'dead']);
    expect(none_dead).toMatchObject({ code: 0, out: 'nothing matches\n' });
    expect(preview.out).toMatch(/^\d+ jobs are dead\n$/);
    expect(set.out).toBe('domain.recheck runs 2 at once on each worker\n');
    const none = await postrider(['queues', 'retry', 'job_none']);
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^job_not_found: /) });
  });
});

describe('an import from another provider', () => {
  const data = (name: string) => fileURLToPath(new URL(`../test-data/${name}`, import.meta.url));
  const files = [
    ...['--suppressions', data('postmark-suppressions.json')],
    ...['--domains', data('postmark-domains.json')],
    ...['--webhooks', data('postmark-webhooks.json')],
  ];
  const parts = ({ out }: Ended) => (JSON.parse(out) as { parts: Record<string, unknown>[] }).parts;

  it('shows what it would do, does it when told, and changes nothing when it is run again', async () => {
    const dry = await postrider(['import', 'postmark', ...files]);
    const applied = await postrider(['import', 'postmark', ...files, '--apply', '--json']);
    const again = await postrider(['import', 'postmark', ...files, '--apply', '--json']);

    expect(dry.out).toContain('3 found, 3 to add');
    expect(dry.out).toMatch(/Nothing was written\. Add --apply to write it\.\n$/);
    expect(dry.out).toContain('added without Open, which never happen here');
    expect(parts(applied)).toMatchObject([
      { what: 'suppressions', added: 3, present: 0, refused: [] },
      { what: 'domains', added: 1, present: 0 },
      { what: 'webhooks', added: 1, secrets: [{ secret: expect.stringMatching(/^whsec_/) }] },
    ]);
    expect(parts(again)).toMatchObject([
      { added: 0, present: 3 },
      { added: 0, present: 1 },
      { added: 0, present: 1 },
    ]);
    expect((await postrider(['domains', 'list', '--output', 'text'])).out).toMatch(/moved\.example\s+pending/);
    expect((await postrider(['suppressions', 'list', '--email', 'bounced@example.com'])).out).toContain(
      'from Postmark, HardBounce',
    );
  });

  it('asks for a file, and refuses one of another kind before it writes any', async () => {
    expect(await postrider(['import', 'resend'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing_option'),
    });
    const mixed = ['--suppressions', data('resend-suppressions.json'), data('resend-domains.json'), '--apply'];

    const refused = await postrider(['import', 'resend', ...mixed]);

    expect(refused.err).toMatch(/^missing_column: .*has no column email/);
    expect((await postrider(['suppressions', 'list', '--email', 'steve@example.com'])).out).toBe('nothing matches\n');
  });
});

describe('suppressions', () => {
  it('adds, lists and removes an address', async () => {
    const added = await postrider(['suppressions', 'add', 'Ada@Example.com', '--reason', 'asked by phone']);
    expect(added.out).toMatch(/ada@example\.com +manual .*asked by phone/);
    expect((await postrider(['suppressions', 'list', '--email', 'ADA@example.com'])).out).toBe(added.out);
    expect((await postrider(['suppressions', 'add', 'ada@example.com'])).err).toMatch(/^suppression_exists: /);

    const removed = await postrider(['suppressions', 'remove', 'ada@EXAMPLE.com']);

    expect(removed).toMatchObject({ code: 0, out: 'ada@example.com  removed\n' });
    expect((await postrider(['suppressions', 'list', '--email', 'ada@example.com'])).out).toBe('nothing matches\n');
    expect((await postrider(['suppressions', 'remove', 'ada@example.com'])).err).toMatch(/^suppression_not_found: /);
  });

  it('imports a file in parts, says which lines are wrong, and changes nothing when it is run again (newcomer N19)', async () => {
    const file = join(data_dir, 'addresses.csv');
    const addresses = Array.from({ length: 450 }, (_, index) => `m${index}@example.com,"left, in May"`);
    await writeFile(file, ['email,reason', ...addresses, '', 'nobody', 'last@example.com'].join('\r\n'));

    const first = await postrider(['suppressions', 'import', file]);
    const again = await postrider(['suppressions', 'import', file, '--json']);

    expect(first).toMatchObject({ code: 1, out: '451 added, 0 were on the list already, 1 refused\n' });
    expect(first.err).toMatch(/^line 453: email: .*\npartly_imported: /);
    expect(JSON.parse(again.out)).toMatchObject({ added: 0, present: 451, refused: [{ line: 453, email: 'nobody' }] });
    const listed = await postrider(['suppressions', 'list', '--source', 'import', '--limit', '150', '--json']);
    const { data } = JSON.parse(listed.out);
    expect(data).toHaveLength(150);
    expect(data.at(-1)).toMatchObject({ source: 'import', reason: 'left, in May' });
  });

  it('reads no file that is not there', async () => {
    expect((await postrider(['suppressions', 'import', join(data_dir, 'none.txt')])).err).toMatch(
      /^unreadable_file: .*ENOENT/,
    );
  });
});

describe('operators', () => {
  it('gives an operator a new password that opens the pages for people', async () => {
    const reset = await postrider(['operators', 'reset-password', 'admin@sandbox.test', '--json']);

    const { password } = JSON.parse(reset.out);
    const signIn = async (given: string) =>
      (
        await fetch(`${url}/login`, {
          method: 'POST',
          redirect: 'manual',
          headers: { origin: url },
          body: new URLSearchParams({ email: 'admin@sandbox.test', password: given }),
        })
      ).status;
    expect([await signIn(password), await signIn('wrong')]).toEqual([303, 401]);
  });

  it('refuses an e-mail address that no operator has', async () => {
    const refused = await postrider(['operators', 'reset-password', 'nobody@sandbox.test']);

    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^user_not_found: /);
  });

  it('prints a link that signs the only operator in once, at the address that people open', async () => {
    const made = await postrider(['operators', 'login-link', '--json']);
    const link = JSON.parse(made.out);
    const press = () => fetch(link.url, { method: 'POST', redirect: 'manual', headers: { origin: url } });

    expect(link).toMatchObject({ email: 'admin@sandbox.test', url: expect.stringContaining(`${url}/login/link/`) });
    expect((await press()).status).toBe(303);
    expect((await press()).status).toBe(401);
  });

  it('makes another one and unmakes them, and keeps the last', async () => {
    const added = await postrider(['operators', 'add', 'Second@people.test', '--password']);
    expect(added.out).toMatch(/^\S{20}\ntheir password; shown this once\nsecond@people\.test is an operator\n$/);
    expect((await postrider(['operators', 'login-link'])).err).toMatch(/^missing_option: There are 2 operators/);

    expect((await postrider(['operators', 'remove', 'SECOND@people.test', '--yes'])).code).toBe(0);

    const listed = await postrider(['operators', 'list', '--json']);
    expect(JSON.parse(listed.out).data).toMatchObject([{ object: 'operator', email: 'admin@sandbox.test' }]);
    expect((await postrider(['operators', 'remove', 'admin@sandbox.test', '--yes'])).err).toMatch(/^last_admin: /);
  });
});

describe('members', () => {
  it('are added, get another role, and are removed', async () => {
    const added = await postrider(['members', 'add', 'ada@people.test', '--role', 'admin']);
    const promoted = await postrider(['members', 'add', 'bob@people.test', '--role', 'viewer', '--json']);
    const changed = await postrider(['members', 'set-role', 'bob@people.test', 'member']);
    const listed = await postrider(['members', 'list', '--json']);

    expect(added.out).toMatch(
      /^http\S+\/login\/link\/\S{43}\nsigns them in once, until .*\nada@people\.test is admin of wsp_\S+\n$/,
    );
    expect(JSON.parse(promoted.out)).toMatchObject({ role: 'viewer', login_url: expect.any(String) });
    expect(changed.out).toMatch(/^bob@people\.test is member of wsp_/);
    expect(JSON.parse(listed.out).data).toMatchObject([
      { email: 'bob@people.test', role: 'member' },
      { email: 'ada@people.test', role: 'admin' },
    ]);
    expect(listed.out).not.toContain('link');
    expect((await postrider(['members', 'remove', 'ada@people.test', '--yes'])).err).toMatch(/^last_admin: /);
    expect((await postrider(['members', 'remove', 'bob@people.test', '--yes'])).code).toBe(0);
    expect((await postrider(['members', 'remove', 'bob@people.test', '--yes'])).err).toMatch(/^member_not_found: /);
  });

  it('have a role that there is, in a workspace that there is', async () => {
    const owner = await postrider(['members', 'add', 'eve@people.test', '--role', 'owner']);
    expect([owner.code, owner.err]).toEqual([2, expect.stringContaining('viewer, member, admin')]);
    expect((await postrider(['members', 'list', '--workspace', 'wsp_none'])).err).toMatch(/^workspace_not_found: /);
  });
});

describe('numbers', () => {
  it('shows what became of mail, what waits and what fails, each in words and as JSON', async () => {
    const stats = await postrider(['stats', '--json', '--by', 'provider', '--metrics', 'accepted', 'delivered']);
    const backlog = await postrider(['backlog', '--json', '--by', 'tag', '--top', '5']);
    const failures = await postrider(['failures', '--json', '--kind', 'webhook']);

    expect(JSON.parse(stats.out)).toMatchObject({ object: 'stats', bucket: 'hour', group_by: 'provider' });
    expect(JSON.parse(backlog.out)).toMatchObject({ object: 'backlog', dimension: 'tag', total: { key: '' } });
    expect(JSON.parse(failures.out)).toMatchObject({ object: 'list', data: [] });
    expect((await postrider(['stats', '--bucket', 'minute'])).out).toMatch(/accepted +delivered[\s\S]*Counted up to /);
    expect((await postrider(['backlog'])).out).toMatch(/^destination +waiting +<5 min[\s\S]*\nin all +\d/);
    expect((await postrider(['failures'])).out).toBe('No failures.\n');
  });

  it('refuses a range that is not kept', async () => {
    const refused = await postrider(['stats', '--bucket', 'minute', '--since', '2020-01-01T00:00:00Z']);

    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^invalid_range: /)]);
  });
});

describe('destinations', () => {
  it('limits a domain in its one spelling, shows it, and lets it go again', async () => {
    const limited = await postrider([
      'destinations',
      'limit',
      'Example.COM',
      '--connections',
      '5',
      '--per-minute',
      '100',
    ]);
    expect([limited.code, limited.out]).toEqual([0, 'example.com is limited\n']);

    const listed = await postrider(['destinations', 'list', '--json']);
    expect(JSON.parse(listed.out).data).toEqual([
      {
        destination: 'example.com',
        connections: 5,
        messages_per_minute: 100,
        closed_until: null,
        reason: null,
        last_reply: null,
        held_until: null,
        hold_id: null,
        parked: 0,
      },
    ]);
    expect((await postrider(['destinations', 'list'])).out).toMatch(
      /^example\.com +open +5 connections +100 a minute +0 waiting/,
    );

    await postrider(['destinations', 'limit', 'example.com', '--off']);
    expect(JSON.parse((await postrider(['destinations', 'list', '--json'])).out).data).toEqual([]);
    const empty = await postrider(['destinations', 'list']);
    expect(empty.out).toBe('nothing is limited, closed, held or waited for\n');
  });

  it('refuses a limit without a number, and what is no destination', async () => {
    const empty = await postrider(['destinations', 'limit', 'example.com']);
    expect([empty.code, empty.err]).toEqual([1, expect.stringMatching(/^missing_field: /)]);

    const strange = await postrider(['destinations', 'limit', 'not a domain', '--per-minute', '5']);
    expect([strange.code, strange.err]).toEqual([1, expect.stringMatching(/^invalid_domain: /)]);
  });
});

describe('workspaces and plans', () => {
  it('makes a plan and a workspace on it, changes both, and lists them', async () => {
    const plan = await postrider(['plans', 'create', 'tiny', '--recipients', '5', '--monthly', '100', '--json']);
    const made = await postrider(['workspaces', 'create', 'Shop', '--plan', 'tiny', '--json']);
    const { id, api_key } = JSON.parse(made.out);
    const keys = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: api_key.secret });

    const stops = await postrider(['workspaces', 'update', id, '--unknown-policy', 'stop']);
    const moved = await postrider(['workspaces', 'set-plan', id, 'growth', '--reason', 'grown']);
    const wider = await postrider(['plans', 'update', 'tiny', '--monthly', 'none']);
    const gone = await postrider(['plans', 'delete', 'tiny', '--yes']);

    expect(JSON.parse(plan.out)).toMatchObject({ name: 'tiny', monthly_emails: 100, send_per_minute: 1000 });
    expect(keys.out).toMatch(new RegExp(`^${api_key.id} +active .* First key +admin .*\n$`));
    expect(stops.out).toMatch(/tiny +stop after a lost answer/);
    expect(moved.out).toMatch(/growth +stop after a lost answer .* Shop$/m);
    expect(wider.out).toContain('no monthly limit');
    expect(gone).toMatchObject({ code: 0, out: 'tiny is deleted\n' });
    const listed = (await postrider(['workspaces', 'list'])).out.trimEnd().split('\n');
    expect(listed).toEqual([expect.stringContaining(id), expect.stringMatching(/business .* Default$/)]);
    expect((await postrider(['plans', 'list'])).out).toMatch(/^business +no monthly limit/);
    expect((await postrider(['plans', 'delete', 'growth', '--yes'])).err).toMatch(/^plan_in_use: /);
  });
});

describe('audit', () => {
  it('lists, exports and verifies what was done', async () => {
    const { id } = JSON.parse(
      (await postrider(['keys', 'create', '--name', 'Seen', '--scope', 'email:send', '--json'])).out,
    );

    const listed = await postrider(['audit', 'list', '--target', id]);
    const exported = await postrider(['audit', 'export', '--action', 'api_key.created']);
    const verified = await postrider(['audit', 'verify']);

    expect(listed.err).toBe('');
    expect(listed.out).toMatch(/key First key +rest +api_key\.created +key_\S+ +\{"name":"Seen"/);
    const targets = exported.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).target_id);
    expect(targets).toContain(id);
    expect(verified.out).toMatch(/^\d+ entries are intact\nhead [0-9a-f]{64}\n$/);
    expect((await postrider(['audit', 'verify', '--instance', '--json'])).code).toBe(0);
  });
});

describe('bulk', () => {
  it('shows what it would do, does it once told so, and keeps a receipt', async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const sent = await send('--to', 'ada@example.com', '--tag', 'bulk', '--schedule', scheduled_at, '--json');
    const { id } = JSON.parse(sent.out);

    const seen = await postrider(['bulk', 'preview', 'cancel', '--tag', 'bulk']);
    expect(seen.err).toBe('');
    expect(seen.out).toContain(`cancel would process 1\n  ${id}\n`);
    const token = /bulk run (\S+)/.exec(seen.out)?.[1] ?? '';
    const unasked = await postrider(['bulk', 'run', token, '--reason', 'a mistake']);
    expect([unasked.code, unasked.err]).toEqual([2, expect.stringMatching(/^missing_option: .*nothing was started/)]);
    const miscounted = await postrider(['bulk', 'run', token, '--reason', 'a mistake', '--count', '2']);
    expect([miscounted.code, miscounted.err]).toEqual([1, expect.stringContaining('matched 1, not 2')]);
    const started = await postrider(['bulk', 'run', token, '--reason', 'a mistake', '--count', '1', '--json']);
    const bulk = JSON.parse(started.out);
    expect(bulk).toMatchObject({ action: 'cancel', filter: { tag: ['bulk'] }, reason: 'a mistake', matched: 1 });

    const read = async () => JSON.parse((await postrider(['bulk', 'get', bulk.id, '--json'])).out);
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'completed', done: 1 }), {
      timeout: 30_000,
      interval: 100,
    });
    expect((await postrider(['bulk', 'items', bulk.id])).out).toBe(`${id}  done\n`);
    expect((await postrider(['bulk', 'list'])).out).toMatch(
      new RegExp(`^${bulk.id} .* cancel +completed +1 done +0 failed +0 skipped +a mistake\n$`),
    );
    const not_written = await postrider(['bulk', 'download', bulk.id]);
    expect(not_written).toMatchObject({ code: 1, out: '' });
    expect(not_written.err).toContain(`bulk_not_found: ${bulk.id} is not an export but cancel`);
    const ended = await postrider(['bulk', 'cancel', bulk.id]);
    expect([ended.code, ended.err.split(':')[0]]).toEqual([1, 'bulk_finished']);
  });

  it('aims at the domain of the sender, and gives no token for what nothing matches', async () => {
    const sent = await send('--to', 'ada@example.com', '--tag', 'aimed', '--json');
    const { id } = JSON.parse(sent.out);

    const aimed = await postrider(['bulk', 'preview', 'export', '--tag', 'aimed', '--sender-domain', 'sandbox.test']);
    expect(aimed.out).toContain(`export would process 1\n  ${id}\n`);
    const sent_to = await postrider(['bulk', 'preview', 'export', '--tag', 'aimed', '--to-domain', 'example.com']);
    expect(sent_to.out).toContain(`export would process 1\n  ${id}\n`);
    for (const option of ['--sender-domain', '--domain']) {
      const missed = await postrider(['bulk', 'preview', 'export', '--tag', 'aimed', option, 'example.com']);
      expect([missed.code, missed.out]).toEqual([
        0,
        expect.stringMatching(/^nothing matches; export would do nothing/),
      ]);
      expect(missed.out).not.toContain('bulk run');
    }
  });

  it('writes down an export as JSON lines', async () => {
    const sent = await send('--to', 'ada@example.com', '--tag', 'exported', '--json');
    const seen = await postrider(['bulk', 'preview', 'export', '--tag', 'exported', '--json']);
    const started = await postrider([
      'bulk',
      'run',
      JSON.parse(seen.out).token,
      '--reason',
      'asked for',
      '--yes',
      '--json',
    ]);
    const { id } = JSON.parse(started.out);

    const lines = await vi.waitFor(
      async () => {
        const { out } = await postrider(['bulk', 'download', id]);
        expect(out).not.toBe('');
        return out.trimEnd().split('\n');
      },
      { timeout: 30_000, interval: 100 },
    );

    expect(lines.map((line) => JSON.parse(line).id)).toEqual([JSON.parse(sent.out).id]);
  });
});

describe('migrate', () => {
  it('prepares an empty database once', async () => {
    const empty = await emptyDirectory();
    try {
      const first = await launched(['migrate', '--json'], { DATA_DIR: empty });
      const second = await launched(['migrate'], { DATA_DIR: empty });

      expect(JSON.parse(first.out).ran[0]).toBe('0001_baseline');
      expect(second).toEqual({ code: 0, out: 'The database is current.\n', err: '' });
      const tooEarly = await postrider(['keys', 'create', '--local'], { DATA_DIR: empty });
      expect(tooEarly.err).toMatch(/^not_installed: /);
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });
});

describe('doctor', () => {
  it('finds a running installation healthy', async () => {
    const { code, out } = await postrider(['doctor', '--json']);

    expect(code).toBe(0);
    const { healthy, checks } = JSON.parse(out);
    expect(healthy).toBe(true);
    expect(checks.map((check: { name: string; result: string }) => `${check.name} ${check.result}`)).toEqual([
      'node ok',
      'database ok',
      'migrations ok',
      'settings ok',
      'secret_key ok',
      'oldest_transaction ok',
      'transaction_ids ok',
      'vacuum ok',
      'default_partitions ok',
      'clock ok',
      'workers ok',
      'queue_age ok',
      'disk ok',
      'certificate skipped',
      'port_25 skipped',
      'helo skipped',
      'ptr skipped',
      'spf skipped',
      'blocklists skipped',
      'service ok',
      'key ok',
    ]);
  });

  it('names what is wrong, and what is merely not here', async () => {
    const { code, out } = await launched(['doctor'], {
      POSTRIDER_URL: 'http://127.0.0.1:9',
      POSTRIDER_API_KEY: '',
      DATA_DIR: join(data_dir, 'elsewhere'),
    });

    expect(code).toBe(1);
    expect(out).toMatch(/skipped +database/);
    expect(out).toMatch(/failed +service +No answer from http:\/\/127\.0\.0\.1:9/);
    expect(out).toMatch(/skipped +key/);
  });
});

describe('databases', () => {
  it('lists what is left over on this machine and not what is in use, and removes nothing unasked', async () => {
    const { code, out } = await launched(['databases', '--json']);

    expect(code).toBe(0);
    const { data } = JSON.parse(out) as { data: { made_for: string; removed: boolean }[] };
    expect(data.map(({ made_for }) => made_for)).not.toContain(data_dir);
    expect(data.every(({ removed }) => !removed)).toBe(true);
  });

  it('removes the one that is named, and only if told so where its data may be on a volume that is not mounted', async () => {
    const place = await emptyDirectory();
    const made = async (name: string, made_for: string) => {
      const directory = join(place, 'postrider-root', name);
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'owner'), made_for);
      return directory;
    };
    const gone = await made('cluster-gone', join(place, 'data'));
    const far = await made('cluster-far', join(place, 'volume', 'data'));
    const remove = (...args: string[]) => launched(['databases', '--remove', ...args, '--yes'], { TMPDIR: place });

    const none = await remove(join(place, 'cluster-none'));
    const refused = await remove(far);
    const before = await readdir(join(place, 'postrider-root'));
    const removed = await remove(gone);
    const between = await readdir(join(place, 'postrider-root'));
    const told = await remove(far, '--deleted');

    expect(none).toMatchObject({ code: 1, err: expect.stringContaining('not_left_over') });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('folder_missing') });
    expect(before.sort()).toEqual(['cluster-far', 'cluster-gone']);
    expect(removed.out).toMatch(/cluster-gone +0 MB +made for .+ +removed/);
    expect(removed.code).toBe(0);
    expect(between).toEqual(['cluster-far']);
    expect(told.code).toBe(0);
    expect(await readdir(join(place, 'postrider-root'))).toEqual([]);
    await rm(place, { recursive: true });
  });
});

/** What a shell prints, on both of its outputs. */
async function printedBy(shell: string, args: readonly string[]): Promise<string> {
  const { out, err } = await ended(spawn(shell, args));
  return err + out;
}

const has = (program: string) => existsSync(join('/usr/bin', program));

describe('the program', () => {
  it('says its version, and the code and the commands in its help', async () => {
    const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

    expect(await launched(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
    const { out } = await postrider(['--help']);
    for (const name of Object.keys(groups)) expect(out).toContain(`\n  ${name}`);
    expect(out).toContain('Exit codes:');
  });

  it('describes each command in its help as the command does itself', async () => {
    const whole = await createWholeProgram({ env: {}, print() {}, note() {}, fail() {} });

    const described = whole.commands.filter((one) => one.name() !== 'completion');
    expect(Object.fromEntries(described.map((one) => [one.name(), one.description()]))).toEqual(
      Object.fromEntries(Object.entries(groups).map(([name, { description }]) => [name, description])),
    );
  });

  it('prints JSON where no terminal reads, and what --output says before that', async () => {
    const piped = await ended(start(launcher, ['keys', 'list'], environment({})));
    const refused = await ended(start(launcher, ['email', 'get', 'msg_0'], environment({})));

    expect(JSON.parse(piped.out)).toMatchObject({ object: 'list' });
    expect(JSON.parse(refused.err)).toMatchObject({ error: { reason: 'message_not_found' } });
    expect(JSON.parse((await postrider(['keys', 'list', '--output=json'])).out)).toMatchObject({ object: 'list' });
    const versioned = await postrider(['keys', 'list', '--output', 'json@1']);
    expect(JSON.parse(versioned.out)).toMatchObject({ output_version: 1, object: 'list' });
    expect(JSON.parse(refused.err)).toMatchObject({ output_version: 1 });
    expect((await postrider(['keys', 'list', '--output', 'json@2'])).code).toBe(2);
    expect((await postrider(['keys', 'list', '--output', 'yaml'])).code).toBe(2);
  });

  it('ends with 0, 1, 2 or 3, as its help says', async () => {
    const codes = [
      await postrider(['keys', 'list']),
      await postrider(['email', 'get', 'msg_0']),
      await postrider(['email', 'got', 'msg_0']),
      await postrider(['keys', 'list'], { POSTRIDER_URL: 'http://127.0.0.1:1' }),
    ];

    expect(codes.map(({ code }) => code)).toEqual([0, 1, 2, 3]);
  });

  it('takes the address of the API for that of the service', async () => {
    expect(await postrider(['keys', 'list'], { POSTRIDER_URL: `${url}/v1/` })).toMatchObject({ code: 0 });
  });

  it('completes commands and options in bash, zsh and fish', async () => {
    const bash = await postrider(['completion', 'bash']);

    expect(bash.out).toMatch(/'queues hold'\) next='.*--reason/);
    expect((await postrider(['completion', 'zsh'])).out).toMatch(/^#compdef postrider/);
    expect((await postrider(['completion', 'fish'])).out).toContain('complete -c postrider');
    const asked = `${bash.out}\nCOMP_WORDS=(postrider queues ho); COMP_CWORD=2; _postrider; echo "\${COMPREPLY[@]}"`;
    const answered = await ended(spawn('bash', ['-c', asked]));
    expect(answered.out.trim()).toBe('hold holds');
    if (!has('zsh') || !has('fish')) return;
    const zsh = `compdef() { :; }; compadd() { print -- "$@"; }
      ${(await postrider(['completion', 'zsh'])).out}
      words=(postrider queues ho); CURRENT=3; _postrider; words=(postrider ''); CURRENT=2; _postrider; print $path`;
    expect(await printedBy('zsh', ['-fc', zsh])).toMatch(
      /^-- .*\bhold release holds\b[\s\S]*^-- send logs [\s\S]*\/bin/m,
    );
    const fish = `${(await postrider(['completion', 'fish'])).out}
      complete -C 'postrider queues ho'; complete -C 'postrider web'`;
    expect(await printedBy('fish', ['--no-config', '-c', fish])).toBe('hold\nholds\nwebhooks\n');
  });
});

describe('what destroys', () => {
  /** As on a terminal where a person answers. */
  async function answering(args: readonly string[], answer: string): Promise<Ended & { readonly asked: string }> {
    let [out, err, asked] = ['', '', ''];
    const code = await runCommand(args, {
      env: environment({}),
      question: async (text) => {
        asked += text;
        return answer;
      },
      draw: (text) => {
        err += text;
      },
      print: (text) => {
        out += `${text}\n`;
      },
      note: (text) => {
        err += `${text}\n`;
      },
    });
    return { code, out, err, asked };
  }

  it('shows what it would destroy, and waits for the count of it', async () => {
    await send('--to', 'counted@example.com');
    await send('--to', 'counted@example.com');

    const unasked = await postrider(['erase', 'counted@example.com']);
    const other = await answering(['erase', 'counted@example.com'], '1');
    const typed = await answering(['erase', 'counted@example.com'], '2');

    expect([unasked.code, unasked.err]).toEqual([2, expect.stringMatching(/^missing_option: .* of 2 mails .*--yes/s)]);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('not_confirmed: ')]);
    expect(other.asked).toBe('Type 2 to go on: ');
    expect([typed.code, typed.out]).toEqual([0, expect.stringMatching(/^ers_\w+ {2}completed/)]);
  });

  it('asks for the count of one thing too, and draws a bar for what takes long', async () => {
    const made = JSON.parse((await postrider(['keys', 'create', '--name', 'K', '--scope', 'admin', '--json'])).out);
    const revoked = await answering(['keys', 'revoke', made.id], '1');
    const verified = await answering(['audit', 'verify'], '');

    expect(revoked.err).toContain(`${made.id} (K, never used) would be revoked for ever.`);
    expect(revoked.code).toBe(0);
    expect(verified.err).toMatch(/verified \[#{24}\] (\d+) of \1 /);
  });
});

describe('login', () => {
  it('keeps address and key for later commands, where only their owner can read them', async () => {
    const home = await emptyDirectory();
    const child = start(launcher, ['login', '--url', `${url}/v1`], { HOME: home });
    child.stdin.end(`${key}\n`);

    const kept = await ended(child);

    expect(kept).toMatchObject({ code: 0 });
    expect(kept.out + kept.err).not.toContain(key);
    const file = join(home, '.config/postrider/config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url, key });
    const listed = await ended(start(launcher, ['keys', 'list'], { HOME: home }));
    expect(listed).toMatchObject({ code: 0 });
    const elsewhere = await ended(
      start(launcher, ['keys', 'list'], { HOME: home, POSTRIDER_URL: 'http://127.0.0.1:1' }),
    );
    expect(JSON.parse(elsewhere.err).error.reason).toBe('missing_key');
    await chmod(file, 0o644);
    const open = await ended(start(launcher, ['keys', 'list'], { HOME: home }));
    expect(JSON.parse(open.err).error.reason).toBe('profile_is_open');
    await rm(home, { recursive: true });
  });

  it('refuses an empty input before it asks the server', async () => {
    const home = await emptyDirectory();
    const child = start(launcher, ['login', '--url', url], { HOME: home });
    child.stdin.end('\n');

    expect(JSON.parse((await ended(child)).err.replace(/^Paste.*\n/, '')).error.reason).toBe('missing_key');
    await rm(home, { recursive: true });
  });

  it('keeps no key that is refused', async () => {
    const home = await emptyDirectory();
    const child = start(launcher, ['login', '--url', url], { HOME: home });
    child.stdin.end(`pr_live_${'0'.repeat(64)}\n`);

    expect(JSON.parse((await ended(child)).err.replace(/^Paste.*\n/, '')).error.reason).toBe('unknown_key');
    await expect(stat(join(home, '.config'))).rejects.toThrow('ENOENT');
    await rm(home, { recursive: true });
  });
});

it('names the commands of a group beside one that it does not have', async () => {
  const refused = await postrider(['queues', 'list']);

  expect(refused.code).toBe(2);
  expect(refused.err).toContain('queues has top, jobs, job, ');
});

it('stops before a command when the environment names no address', async () => {
  const refused = await postrider(['keys', 'list'], { POSTRIDER_URL: 'localhost:3000' });

  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(/^invalid_environment: POSTRIDER_URL is localhost:3000/);
});

it('says why there was no answer, also where the error has no code', async () => {
  // A port that fetch itself blocks.
  const refused = await postrider(['keys', 'list'], { POSTRIDER_URL: 'http://127.0.0.1:1' });

  expect(refused.err).toMatch(/^unreachable: No answer from http:\/\/127\.0\.0\.1:1: bad port\.$/m);
});

describe('queues', () => {
  it('holds a destination, shows why a mail to it waits, and lets it go', async () => {
    const held = await postrider([
      'queues',
      'hold',
      'destination',
      'Held.Example.com',
      '--reason',
      'An outage there',
      '--for',
      '2h',
      '--rate',
      '600',
    ]);
    const [, hold_id = ''] = /^(hld_\w+) {2}destination held\.example\.com is held until \S+\n$/.exec(held.out) ?? [];
    expect([held.code, hold_id]).toEqual([0, expect.stringMatching(/^hld_/)]);
    // Mail sent before the worker knows of the hold is delivered.
    const id = await vi.waitFor(
      async () => {
        const sent = await send('--to', 'ada@held.example.com', '--json');
        const destinations = await postrider(['destinations', 'list']);
        expect(destinations.out).toMatch(
          new RegExp(`^held\\.example\\.com +held until \\S+ \\(${hold_id}\\) .*[1-9]\\d* waiting`, 'm'),
        );
        return String(JSON.parse(sent.out).id);
      },
      { timeout: 30_000, interval: 500 },
    );

    const listed = await postrider(['queues', 'holds']);
    expect(listed.out).toMatch(
      /^hld_\w+ {2}destination held\.example\.com +held until \S+ +[1-9]\d* held +First key +An outage there\n$/,
    );
    const shown = await postrider(['email', 'get', id]);
    expect(shown.out).toContain(`${hold_id}: An outage there`);
    expect(shown.out).toMatch(/waiting: hold until \S+/);

    const duplicate = await postrider(['queues', 'hold', 'destination', 'held.example.com', '--reason', 'Again']);
    expect([duplicate.code, duplicate.err]).toEqual([1, expect.stringMatching(/^hold_exists: /)]);

    const released = await postrider(['queues', 'release', 'destination', 'held.example.com']);
    expect(released.out).toBe(`${hold_id}  destination held.example.com is released, resumes at 600 a minute\n`);
    expect(JSON.parse((await postrider(['queues', 'holds', '--json'])).out).data).toEqual([]);
    const ended = JSON.parse((await postrider(['queues', 'holds', '--all', '--json'])).out).data;
    expect(ended).toMatchObject([{ id: hold_id, ended_by: 'release' }]);
  });

  it('prints fixes that are run as they stand, such as the release of the queue of mail', async () => {
    const queueAge = async () => {
      const { checks } = JSON.parse((await postrider(['doctor', '--json'])).out) as {
        checks: { name: string; result: string; fix?: string }[];
      };
      return checks.find(({ name }) => name === 'queue_age');
    };
    await postrider(['queues', 'hold', 'queue', 'delivery.attempt', '--reason', 'An outage']);
    const held = await queueAge();
    const [, command = ''] = /`npx postrider ([^`]+)`/.exec(held?.fix ?? '') ?? [];

    const released = await postrider(command.split(' '));

    expect(held).toMatchObject({ result: 'warning' });
    expect(released).toMatchObject({ code: 0, err: '' });
    expect(await queueAge()).toMatchObject({ result: 'ok' });
  });

  it('refuses a scope that is none, a queue that is none, and a release of what is not held', async () => {
    const scope = await postrider(['queues', 'hold', 'planet', 'mars']);
    expect([scope.code, scope.err]).toEqual([1, expect.stringMatching(/^invalid_type: planet is not a scope/)]);
    const unreasoned = await postrider(['queues', 'hold', 'queue', 'delivery.attempt']);
    expect([unreasoned.code, unreasoned.err]).toEqual([2, expect.stringMatching(/^missing_option: /)]);
    const queue = await postrider(['queues', 'hold', 'queue', 'mars', '--reason', 'Why not']);
    expect([queue.code, queue.err]).toEqual([1, expect.stringMatching(/^queue_not_found: /)]);
    const release = await postrider(['queues', 'release', 'queue', 'delivery.attempt']);
    expect([release.code, release.err]).toEqual([1, expect.stringMatching(/^hold_not_found: /)]);
  });
});

describe('erase', () => {
  it('prints a receipt with counts, without the address, and where it may remain', async () => {
    await send('--to', 'erased.person@example.com');
    await vi.waitFor(
      async () => {
        const { out } = await postrider(['logs', 'list', '--to', 'erased.person@example.com', '--json']);
        expect(JSON.parse(out).data[0]).toMatchObject({ status: 'delivered' });
      },
      { timeout: 30_000, interval: 200 },
    );

    const { code, out } = await postrider(['erase', 'erased.person@example.com', '--yes']);

    expect(code).toBe(0);
    expect(out).toMatch(/^ers_\w+ {2}completed\n/);
    expect(out).toMatch(/^recipients +1$/m);
    expect(out).toContain('It may remain in:');
    expect(out).not.toContain('erased.person');
    const { out: left } = await postrider(['logs', 'list', '--to', 'erased.person@example.com', '--json']);
    expect(JSON.parse(left).data).toEqual([]);
  });

  it('does not wait with --no-wait, and refuses what is no address', async () => {
    const started = await postrider(['erase', 'another.person@example.com', '--no-wait', '--yes', '--json']);
    const refused = await postrider(['erase', 'no-address', '--yes']);

    expect(JSON.parse(started.out)).toMatchObject({ object: 'erasure', id: expect.stringMatching(/^ers_/) });
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/email/)]);
  });
});

describe('restore-check', () => {
  it('holds the instance, and ends what a log knows as sent', async () => {
    await postrider(['queues', 'hold', 'queue', 'delivery.attempt', '--reason', 'A backup is to have open mail']);
    const sent = JSON.parse((await send('--to', 'sent@example.com', '--json')).out);
    const open = JSON.parse((await send('--to', 'open@example.com', '--json')).out);
    const log = join(data_dir, 'sent.log');
    await writeFile(log, `taken: <${sent.id}@sandbox.test> to=<sent@example.com>\n`);

    const told = await postrider(['restore-check', '--sent', log]);
    const closed = await postrider(['restore-check', '--sent', log, '--close', '--json']);
    const absent = await postrider(['restore-check', '--sent', join(data_dir, 'absent.log')]);

    expect(told.code).toBe(0);
    expect(told.out).toMatch(/^hld_\w+ holds all mail and webhooks until it is released$/m);
    expect(told.out).toContain('1 workers run already');
    expect(told.out).toContain(`${sent.id}  sent@example.com  ${log}`);
    const { hold, known_sent, missing } = JSON.parse(closed.out);
    expect(JSON.parse(closed.out)).toMatchObject({ object: 'restore_check', closed: 1 });
    expect([known_sent.count, missing.count]).toEqual([1, 0]);
    expect([absent.code, absent.err]).toEqual([1, expect.stringMatching(/^file_not_found: /)]);
    expect((await postrider(['queues', 'release', 'queue', 'delivery.attempt'])).code).toBe(0);
    // The hold of the instance is on.
    const shown = await postrider(['email', 'get', open.id]);
    expect(shown.out).toContain(hold.id);
    expect((await postrider(['queues', 'release', 'instance', 'all'])).out).toContain('instance all is released');
    await vi.waitFor(async () => expect((await postrider(['email', 'get', open.id])).out).toContain('delivered'), {
      timeout: 30_000,
      interval: 200,
    });
    expect((await postrider(['email', 'get', sent.id])).out).toContain('Known as sent by');
  });
});
