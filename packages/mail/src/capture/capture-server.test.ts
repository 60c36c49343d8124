import { afterEach, describe, expect, it } from 'vitest';
import { createSmtpTransport } from '../smtp/client.ts';
import { type CapturedMail, type CaptureServer, startCaptureServer } from './capture-server.ts';

const raw = Buffer.from('Subject: x\r\n\r\n.\r\n..\r\nend\r\n');
const signal = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function start(on_mail: (mail: CapturedMail) => Promise<void>): Promise<CaptureServer> {
  return await startCaptureServer({ host: '127.0.0.1', port: 0, on_mail });
}

function client(server: CaptureServer) {
  const options = {
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    helo_name: 'mail.good.test',
    max_connections: 2,
  };
  const transport = createSmtpTransport({ ...options, tls: 'opportunistic' });
  closing.unshift(() => transport.stop());
  return transport;
}

describe('the capture server', () => {
  it('passes on the envelope and bytes, and only then replies 250', async () => {
    const messages: CapturedMail[] = [];
    let stored = false;
    const server = await start(async (mail) => {
      messages.push(mail);
      await new Promise((resolve) => setImmediate(resolve));
      stored = true;
    });
    closing.push(() => server.stop());

    const outcome = await client(server).send({ from: '', to: 'Jane+x@example.test' }, raw, signal);

    expect(stored).toBe(true);
    expect(outcome).toMatchObject({ kind: 'accepted', tls: null });
    expect(messages).toEqual([{ envelope_from: '', envelope_to: ['Jane+x@example.test'], raw }]);
  });

  it('replies 451 if an email cannot be stored', async () => {
    const server = await start(() => Promise.reject(new Error('disk full')));
    closing.push(() => server.stop());

    const outcome = await client(server).send({ from: 'a@b.test', to: 'c@d.test' }, raw, signal);

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'after_dot', reply: { code: 451 } });
    expect(outcome.transcript).not.toContain('disk full');
  });

  it('rejects an email larger than 25 MB', async () => {
    const messages: CapturedMail[] = [];
    const server = await start(async (mail) => void messages.push(mail));
    closing.push(() => server.stop());

    const outcome = await client(server).send(
      { from: 'a@b.test', to: 'c@d.test' },
      Buffer.alloc(26 * 1024 * 1024, 'x\r\n'),
      signal,
    );

    expect(outcome).toMatchObject({ kind: 'rejected', reply: { code: 552, enhanced: '5.3.4' } });
    expect(messages).toEqual([]);
  });

  it('stops even if a client keeps its connection open, but only after storing the current email', async () => {
    let release: () => void = () => undefined;
    const started = Promise.withResolvers<void>();
    const server = await start(() => {
      started.resolve();
      return new Promise((resolve) => {
        release = resolve;
      });
    });
    const sending = client(server).send({ from: 'a@b.test', to: 'c@d.test' }, raw, signal);
    await started.promise;

    const stopping = server.stop();
    release();

    expect((await sending).kind).toBe('accepted');
    await stopping;
  });
});
