import { once } from 'node:events';
import { connect } from 'node:net';
import { openWorld } from '@postrider/testing/open-world';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCapture } from '../src/capture.ts';

const world = await openWorld();
let capture: Awaited<ReturnType<typeof startCapture>>;
beforeAll(async () => {
  capture = await startCapture(world.services, 0);
});
afterAll(() => capture.stop());

const mail = { from: 'app@example.com', to: 'ada@example.com', subject: 'Captured', text: 'Hi' };

async function send(pass: string | null): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: capture.port,
    ignoreTLS: true,
    ...(pass !== null && { auth: { user: 'api', pass } }),
  });
  try {
    await transport.sendMail(mail);
  } finally {
    transport.close();
  }
}

const owners = async () =>
  (await world.services.sql<{ workspace_id: string }[]>`select workspace_id from captures order by id`).map(
    ({ workspace_id }) => workspace_id,
  );

const addressWindow = () => world.services.sql`select used from rate_windows where class = 'address'
  and minute = date_trunc('minute', clock_now())`;

describe('SMTP capture for other programs', () => {
  it('stores email in the workspace of the key used as the password, or otherwise in the first workspace', async () => {
    const other = await world.workspace('free');

    await send(other.secret);
    await send(null);

    expect(await owners()).toEqual([other.workspace_id, world.workspace_id]);
  });

  it('rejects a password that is not a valid key', async () => {
    const before = await owners();

    await expect(send(`pr_live_${'0'.repeat(64)}`)).rejects.toThrow(/535/);

    expect(await owners()).toEqual(before);
  });

  it('rejects a key without permission to send', async () => {
    const { secret } = await world.key({ scopes: ['webhooks:manage'] });
    const before = await owners();

    await expect(send(secret)).rejects.toThrow(/requires a key with the scope email:send/);

    expect(await owners()).toEqual(before);
  });

  it('counts wrong passwords per IP address, and closes the connection once the limit is reached', async () => {
    await world.clock.freeze(new Date(Math.floor(world.clock.now() / 60_000) * 60_000 + 5000));
    await world.services.sql`delete from rate_windows`;
    const tryWrong = (password: string) => send(password).then(String, String);

    expect(await tryWrong(`pr_live_${'0'.repeat(64)}`)).toMatch(/535/);
    expect(await tryWrong('secret')).toMatch(/535.*must be an API key/);
    expect([...(await addressWindow())]).toEqual([{ used: 2 }]);
    await world.services.sql`update rate_windows set used = 119 where class = 'address'`;
    expect(await tryWrong('secret')).toMatch(/535/);
    expect(await tryWrong('secret')).toMatch(/421/);
    await send(world.secret);
    await world.clock.advance(60_000);
    await expect(send('secret')).rejects.toThrow(/535/);
  });

  it('fairness L5: accepts a connection from another network despite fifty idle ones from the first', async () => {
    const rejected = () =>
      world.services.metrics
        .read()
        .find(({ name }) => name === 'share_rejected_total')
        ?.points.find(({ labels }) => labels[0] === 'capture_clients')?.value;
    const idle = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: capture.port, localAddress: '127.0.0.2' });
        const [banner] = await once(socket.setEncoding('latin1'), 'data');
        return { socket, banner: String(banner) };
      }),
    );
    const before = (await owners()).length;

    await send(null);

    expect(idle.filter(({ banner }) => banner.startsWith('220 '))).toHaveLength(25);
    expect(idle.filter(({ banner }) => banner.startsWith('421 '))).toHaveLength(25);
    expect(rejected()).toBe(25);
    expect(await owners()).toHaveLength(before + 1);
    for (const { socket } of idle) socket.destroy();
  });

  it('fairness L5: frees a slot when a connection closes', async () => {
    const greet = async () => {
      const socket = connect({ host: '127.0.0.1', port: capture.port, localAddress: '127.0.0.3' });
      const [banner] = await once(socket.setEncoding('latin1'), 'data');
      return { socket, banner: String(banner) };
    };
    const idle = await Promise.all(Array.from({ length: 25 }, greet));
    for (const { socket } of idle) socket.destroy();

    await expect
      .poll(async () => {
        const { socket, banner } = await greet();
        socket.destroy();
        return banner;
      })
      .toMatch(/^220 /);
  });
});
