import { connect, type Socket } from 'node:net';
import { openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { startSubmission } from '../src/submission.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

const world = await openWorld();
await world.domain('good.test');
const submission = await startSubmission(world.services, 0, { implicit: false });
afterAll(() => submission.stop());

const program = (pass: string) =>
  createTransport({ host: '127.0.0.1', port: submission.port, auth: { user: 'api', pass } });
const hello = { from: 'shop@good.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };

/** Returns an 80 kB message with more parts than the parser accepts, and its envelope. */
function manyParts() {
  const part = '--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment\r\n\r\nx\r\n';
  const head = 'From: shop@good.test\r\nTo: ada@example.com\r\nSubject: Parts\r\nMIME-Version: 1.0\r\n';
  const raw = `${head}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(1100)}--b--\r\n`;
  return { raw, envelope: { from: 'shop@good.test', to: ['ada@example.com'] } };
}

const responseOf = (sending: Promise<{ readonly response: string }>): Promise<string> =>
  sending.then(
    ({ response }) => response,
    (error: { readonly response?: string }) => error.response ?? String(error),
  );

describe('parsing of submitted messages', () => {
  it('fairness N2: rejects a message with too many parts, without delaying another workspace', async () => {
    const neighbor = await world.workspace('business');
    await world.domain('neighbor.test', neighbor.workspace_id);
    const greedy = Array.from({ length: 8 }, () => responseOf(program(world.secret).sendMail(manyParts())));

    const started_at = performance.now();
    const response = await responseOf(program(neighbor.secret).sendMail({ ...hello, from: 'shop@neighbor.test' }));

    expect(response).toMatch(/^250 /);
    expect(performance.now() - started_at).toBeLessThan(5000);
    for (const rejected of await Promise.all(greedy)) expect(rejected).toMatch(/^554 5\.6\.0/);
    expect(world.logged).toContainEqual(
      expect.objectContaining({
        msg: 'failed to parse a submitted message',
        why: expect.stringContaining('Max allowed child nodes exceeded'),
        workspace_id: world.workspace_id,
      }),
    );
  });

  it('fairness N2: first counts a message toward the send limit, and rejects it once the limit is reached', async () => {
    const { secret, id } = await world.key({ scopes: ['email:send'] });
    const used = async () => {
      const [row] = await world.services.sql<{ used: number }[]>`
        select used from rate_windows where class = 'send' and subject = ${id} order by minute desc limit 1`;
      return row?.used ?? 0;
    };

    await responseOf(program(secret).sendMail(manyParts()));
    expect(await used()).toBe(1);
    await responseOf(program(secret).sendMail(hello));
    expect(await used()).toBe(2);
  });
});

/**
 * Opens a connection that stays open and returns the reply to its login, or whatever the server sent instead. Without a
 * login, returns the greeting.
 */
function stay(localAddress: string, secret?: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: submission.port, localAddress });
  open.push(socket);
  const login = Buffer.from(`\0api\0${secret}`).toString('base64');
  const lines = secret === undefined ? [] : ['EHLO program.test', `AUTH PLAIN ${login}`];
  return new Promise((resolve) => {
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
      if (!/^\d{3} .*\r\n/m.test(received)) return;
      const next = lines.shift();
      if (next === undefined || /^421/.test(received)) resolve(received);
      else socket.write(`${next}\r\n`);
      received = '';
    });
    socket.on('error', () => undefined).once('close', () => resolve('closed'));
  });
}

const countOf = (replies: readonly string[], reply: RegExp) => replies.filter((one) => reply.test(one)).length;

describe('submission connections', () => {
  it('fairness N6: are limited to a hundred per workspace, regardless of keys and addresses', async () => {
    const [neighbor, second] = [await world.workspace('business'), await world.key({ scopes: ['email:send'] })];
    const logins: Promise<string>[] = [];
    for (let index = 0; index < 120; index++) {
      const secret = index % 2 === 0 ? world.secret : second.secret;
      logins.push(stay(`127.0.1.${index % 12}`, secret));
      if (index % 10 === 9) await Promise.all(logins);
    }
    const replies = await Promise.all(logins);

    expect([countOf(replies, /^235/), countOf(replies, /^421 4\.7\.0/)]).toEqual([100, 20]);
    expect(await stay('127.0.0.1', neighbor.secret)).toMatch(/^235/);
  });

  it('fairness N6: remain available to other networks, however many silent connections one network holds', async () => {
    const networks = Array.from({ length: 11 }, (_, index) => `127.0.2.${index + 1}`);
    const silent = await Promise.all(networks.flatMap((address) => Array.from({ length: 20 }, () => stay(address))));

    // Each network gets one connection from the reserve.
    expect(countOf(silent, /^220/)).toBeLessThanOrEqual(140 + networks.length);
    expect(await stay('127.0.0.1', world.secret)).toMatch(/^235/);
    const rejected = world.services.metrics.read().find(({ name }) => name === 'share_rejected_total');
    expect(rejected?.points).toContainEqual(expect.objectContaining({ labels: ['submission_strangers', 'full'] }));
  });
});
