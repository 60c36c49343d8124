import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import {
  DEFAULTS,
  hangUp,
  PIPELINING,
  RELAY,
  type Script,
  type ScriptedServer,
  startScriptedServer,
  type Verb,
} from '../../test/scripted-server.ts';
import { startCaptureServer } from '../capture/capture-server.ts';
import { createMailer } from '../mailer.ts';
import type { Mailer, SendOutcome } from '../outcome/send-outcome.ts';
import { createSmtpTransport, type SmtpTransportOptions } from './client.ts';

const raw = Buffer.from('Subject: x\r\n\r\nbody\r\n.\r\n..\r\nend\r\n');
const envelope = { from: 'bounces@good.test', to: 'jane@example.test' };
const closing: (() => Promise<unknown>)[] = [];
const signal = new AbortController().signal;

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function scripted(script?: Script): Promise<ScriptedServer> {
  const server = await startScriptedServer(script);
  closing.push(() => server.stop());
  return server;
}

function transport(port: number, options: Partial<SmtpTransportOptions> = {}): Mailer {
  const created = createSmtpTransport({
    ...RELAY,
    port,
    max_connections: 4,
    ...options,
  });
  closing.push(() => created.stop());
  return created;
}

function sendOnce(port: number, options: Partial<SmtpTransportOptions> = {}): Promise<SendOutcome> {
  return transport(port, options).send(envelope, raw, signal);
}

describe('an accepted email', () => {
  it('arrives byte for byte, and shares a connection with the next email', async () => {
    const sink = await scripted();
    const client = transport(sink.port);

    const first = await client.send(envelope, raw, signal);
    const second = await client.send(envelope, raw, signal);

    expect(first).toMatchObject({
      kind: 'accepted',
      stage: 'after_dot',
      reply: { code: 250, enhanced: '2.0.0', text: 'taken' },
      error: null,
      target: `127.0.0.1:${sink.port}`,
      tls: null,
    });
    expect(first.transcript).toBe(
      [
        ...['S: 220 sink', 'C: EHLO mail.good.test', 'S: 250-sink', 'S: 250 ENHANCEDSTATUSCODES'],
        ...['C: MAIL FROM:<bounces@good.test>', 'S: 250 2.1.0 ok', 'C: RCPT TO:<jane@example.test>', 'S: 250 2.1.5 ok'],
        ...['C: DATA', 'S: 354 go', 'S: 250 2.0.0 taken', ''],
      ].join('\n'),
    );
    expect(second).toMatchObject({ kind: 'accepted', phases_ms: { connect: 0, tls: 0 } });
    expect(second.transcript).not.toContain('EHLO');
    expect(sink.connections).toBe(1);
    expect(sink.verbs).toEqual(['EHLO', 'MAIL', 'RCPT', 'DATA', 'dot', 'MAIL', 'RCPT', 'DATA', 'dot']);
    expect(sink.bodies.map((text) => `${text}\r\n`)).toEqual([raw.toString(), raw.toString()]);
  });

  it('may be large, even over a pipelined connection', async () => {
    const messages: Buffer[] = [];
    const server = await startCaptureServer({
      host: '127.0.0.1',
      port: 0,
      on_mail: async (mail) => void messages.push(mail.raw),
    });
    closing.push(() => server.stop());
    const large = Buffer.from(`Subject: x\r\n\r\n${'.0123456789abcdef\r\n'.repeat(300_000)}`);

    const outcome = await transport(server.port).send(envelope, large, signal);

    expect(outcome.kind).toBe('accepted');
    expect(messages.map((mail) => mail.equals(large))).toEqual([true]);
  });

  it('waits for one of max_connections to become free', async () => {
    const sink = await scripted();
    const client = transport(sink.port, { max_connections: 2 });

    const outcomes = await Promise.all(Array.from({ length: 20 }, () => client.send(envelope, raw, signal)));

    expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(sink.connections).toBe(2);
    expect(sink.bodies).toHaveLength(20);
  });

  it('does not wait for another email’s pending connection', async () => {
    const sink = await scripted();
    const client = transport(sink.port, { max_connections: 1 });
    const making = Promise.withResolvers<Buffer>();
    closing.push(async () => making.resolve(raw));
    const messages = [raw, () => making.promise, raw];
    const sent = messages.map((mail, index) =>
      client.send({ ...envelope, to: `r${index}@example.test` }, mail, signal),
    );

    await expect.poll(() => sink.bodies.length).toBe(2);
    making.resolve(Buffer.from('Subject: made late\r\n\r\n'));

    expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(sink.bodies.map((body) => body.includes('made late'))).toEqual([false, false, true]);
    expect(sink.connections).toBe(1);
  });

  it('may be one of two per connection up to max_connections, because one envelope is sent ahead', () => {
    const relay = { host: '127.0.0.1', port: 25, secure: false, max_connections: 3, tls: 'none' } as const;

    const widths = [transport(25, relay), createMailer({ helo_name: 'mail.good.test', transports: [relay] })].map(
      ({ width }) => width,
    );

    expect(widths).toEqual([6, 6]);
  });

  it('is the last on its connection if it is the hundredth', async () => {
    const sink = await scripted();
    const client = transport(sink.port, { max_connections: 1 });

    for (let count = 0; count < 101; count++) await client.send(envelope, raw, signal);

    expect(sink.connections).toBe(2);
    expect(sink.verbs.filter((verb) => verb === 'QUIT')).toHaveLength(1);
  });
});

describe.each([
  ['one command at a time', DEFAULTS.EHLO],
  ['pipelined', PIPELINING],
])('a rejection, %s', (_, ehlo) => {
  it.each<[Verb, string, SendOutcome['kind'], SendOutcome['stage']]>([
    ['MAIL', '550 5.7.1 no', 'rejected', 'mail'],
    ['MAIL', '451 4.3.0 later', 'deferred', 'mail'],
    ['RCPT', '550 5.1.1 unknown', 'rejected', 'rcpt'],
    ['RCPT', '452 4.2.2 full', 'deferred', 'rcpt'],
    ['DATA', '554 5.7.1 no', 'rejected', 'data'],
    ['DATA', '451 4.7.1 grey', 'deferred', 'data'],
    ['dot', '552 5.3.4 too big', 'rejected', 'after_dot'],
    ['dot', '451 4.3.2 busy', 'deferred', 'after_dot'],
  ])(
    'answering %s with %s makes the email %s; the connection serves the next message after RSET',
    async (verb, reply, kind, stage) => {
      let refusing = true;
      const sink = await scripted((step) => {
        if (step === 'EHLO') return ehlo;
        if (refusing && step === verb) return reply;
        // Some servers respond this way to commands that make no sense after a rejection.
        if (refusing && step === 'DATA' && verb !== 'dot') return '503 5.5.1 out of order';
        return undefined;
      });
      const client = transport(sink.port, { max_connections: 1 });

      const rejected = await client.send(envelope, raw, signal);
      refusing = false;
      const next = await client.send(envelope, raw, signal);

      expect(rejected).toMatchObject({ kind, stage, error: null, reply: { code: Number(reply.slice(0, 3)) } });
      expect(next.kind).toBe('accepted');
      expect(sink.connections).toBe(1);
      expect(sink.verbs.filter((item) => item === 'RSET')).toHaveLength(1);
      expect(sink.bodies).toHaveLength(stage === 'after_dot' ? 2 : 1);
    },
  );

  it.each<[Verb, SendOutcome['kind']]>([
    ['MAIL', 'deferred'],
    ['RCPT', 'deferred'],
    ['dot', 'deferred'],
  ])('defers the email and ends the connection after a 421 reply at %s', async (verb, kind) => {
    const sink = await scripted((step, connection) => {
      if (step === 'EHLO') return ehlo;
      return connection === 1 && step === verb ? '421 4.3.2 closing' : undefined;
    });
    const client = transport(sink.port);

    expect(await client.send(envelope, raw, signal)).toMatchObject({ kind, reply: { code: 421 } });
    expect((await client.send(envelope, raw, signal)).kind).toBe('accepted');
    expect(sink.connections).toBe(2);
  });

  it('prevents content from being sent if every recipient is rejected before a 354 reply', async () => {
    const sink = await scripted((verb) => {
      if (verb === 'EHLO') return ehlo;
      return verb === 'RCPT' ? '550 5.1.1 unknown' : undefined;
    });

    expect(await sendOnce(sink.port)).toMatchObject({ kind: 'rejected', stage: 'rcpt', reply: { enhanced: '5.1.1' } });
    expect(sink.bodies.join('')).not.toContain('Subject');
  });
});

describe('a lost connection', () => {
  it.each<[Verb, SendOutcome['stage']]>([
    ['greeting', 'connect'],
    ['EHLO', 'connect'],
    ['MAIL', 'mail'],
    ['RCPT', 'rcpt'],
    ['DATA', 'data'],
  ])('defers the email if it occurs at %s', async (verb, stage) => {
    const sink = await scripted((step) => (step === verb ? hangUp : undefined));

    expect(await sendOnce(sink.port)).toMatchObject({
      kind: 'deferred',
      stage,
      reply: null,
      error: expect.any(String),
    });
  });

  it('defers the email if it occurs during the content, because the server cannot have received all of it', async () => {
    const sink = await scripted((verb) => {
      if (verb !== 'DATA') return undefined;
      return (socket) => {
        socket.write('354 go\r\n');
        socket.once('data', () => socket.destroy());
      };
    });
    const large = Buffer.alloc(20 * 1024 * 1024, 'line of content\r\n');

    const outcome = await transport(sink.port).send(envelope, large, signal);

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'data', reply: null });
  });

  it.each([
    ['small', raw],
    ['large', Buffer.alloc(4 * 1024 * 1024, 'line of content\r\n')],
  ])('leaves the outcome unknown if it occurs after the dot of a %s message', async (_, mail) => {
    const sink = await scripted((verb) => (verb === 'dot' ? hangUp : undefined));

    const outcome = await transport(sink.port).send(envelope, mail, signal);

    expect(outcome).toMatchObject({ kind: 'unknown', stage: 'after_dot', reply: null, error: expect.any(String) });
    expect(sink.bodies).toHaveLength(1);
  });

  it('defers the email at the connect stage if the host was never reached', async () => {
    const sink = await scripted();
    await closing.pop()?.();

    expect(await sendOnce(sink.port)).toMatchObject({
      kind: 'deferred',
      stage: 'connect',
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

describe('a greeting that rejects the connection', () => {
  it.each(['554 5.7.1 no service', '421 4.3.2 busy'])('%s defers the email at the connect stage', async (greeting) => {
    const sink = await scripted((verb) => (verb === 'greeting' ? greeting : undefined));

    expect(await sendOnce(sink.port)).toMatchObject({
      kind: 'deferred',
      stage: 'connect',
      reply: { code: Number(greeting.slice(0, 3)) },
    });
  });
});

describe('an unresponsive server', () => {
  it.each<[Verb, SendOutcome['kind'], SendOutcome['stage'], SmtpTransportOptions['timeouts']]>([
    ['greeting', 'deferred', 'connect', { greeting_ms: 100 }],
    ['EHLO', 'deferred', 'connect', { greeting_ms: 1000 }],
    ['MAIL', 'deferred', 'mail', { command_ms: 1000 }],
    ['RCPT', 'deferred', 'rcpt', { command_ms: 1000 }],
    ['DATA', 'deferred', 'data', { data_ms: 1000 }],
    ['dot', 'unknown', 'after_dot', { after_dot_ms: 100 }],
  ])('is abandoned if it stalls at %s: %s', async (verb, kind, stage, timeouts) => {
    const sink = await scripted((step) => (step === verb ? null : undefined));

    expect(await sendOnce(sink.port, { timeouts })).toMatchObject({ kind, stage, reply: null });
  });

  it('is held to the same deadline if its reply trickles in', async () => {
    const sink = await scripted((verb) => {
      if (verb !== 'MAIL') return undefined;
      return (socket) => {
        const drip = setInterval(() => socket.write('250-x\r\n'), 5);
        socket.on('close', () => clearInterval(drip));
      };
    });

    expect(await sendOnce(sink.port, { timeouts: { command_ms: 1000 } })).toMatchObject({
      kind: 'deferred',
      stage: 'mail',
    });
  });

  it('is abandoned before the dot if it stops reading the content', async () => {
    const sink = await scripted((verb) => {
      if (verb !== 'DATA') return undefined;
      return (socket) => {
        socket.pause();
        socket.write('354 go\r\n');
      };
    });
    const large = Buffer.alloc(20 * 1024 * 1024, 'line of content\r\n');

    const outcome = await transport(sink.port, { timeouts: { block_ms: 1000 } }).send(envelope, large, signal);

    expect(outcome).toMatchObject({ kind: 'deferred', stage: 'data' });
  });
});

describe('an invalid server reply', () => {
  const huge = `${`250-${'x'.repeat(120)}\r\n`.repeat(17_000)}250 end`;
  const endless = 'y'.repeat(2 * 1024 * 1024);

  it.each<[string, Verb, string, SendOutcome['kind']]>([
    ['2 MB of lines', 'greeting', huge.replaceAll('250', '220'), 'deferred'],
    ['2 MB of lines', 'EHLO', huge, 'deferred'],
    ['2 MB of lines', 'MAIL', huge, 'deferred'],
    ['2 MB of lines', 'dot', huge, 'unknown'],
    ['2 MB without an end', 'greeting', endless, 'deferred'],
    ['2 MB without an end', 'RCPT', endless, 'deferred'],
    ['2 MB without an end', 'dot', endless, 'unknown'],
    ['garbage', 'greeting', 'hello?', 'deferred'],
    ['garbage', 'EHLO', '\u0000\u0001\u0002', 'deferred'],
    ['garbage', 'MAIL', 'what', 'deferred'],
    ['garbage', 'RCPT', 'no idea', 'deferred'],
    ['garbage', 'DATA', '9999', 'deferred'],
    ['garbage', 'dot', 'xyzzy', 'unknown'],
    ['a second 354', 'dot', '354 again', 'unknown'],
    ['an acceptance before the mail', 'DATA', '250 taken', 'deferred'],
    ['many replies at once', 'MAIL', Array(5000).fill('250 ok').join('\r\n'), 'deferred'],
  ])('%s at %s', async (_, verb, reply, kind) => {
    const sink = await scripted((step) => (step === verb ? reply : undefined));

    const outcome = await sendOnce(sink.port, { timeouts: { greeting_ms: 2000 } });

    expect(outcome.kind).toBe(kind);
    expect(outcome.transcript.length).toBeLessThan(20_000);
    expect((outcome.error ?? '').length).toBeLessThan(2000);
  });

  it('is sanitized before it is stored or shown', async () => {
    const sink = await scripted((verb) => (verb === 'RCPT' ? '550 5.1.1 no\u0000\u001b[2J such\u0007user' : undefined));

    const outcome = await sendOnce(sink.port);

    expect(outcome.reply).toEqual({ code: 550, enhanced: '5.1.1', text: 'no [2J such user' });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left.
    expect(outcome.transcript).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });
});

describe('a reused connection', () => {
  it('is replaced once if the server closed it silently', async () => {
    const sink = await scripted((verb, connection) => {
      return verb === 'MAIL' && connection === 1 && sink.bodies.length === 1 ? hangUp : undefined;
    });
    const client = transport(sink.port);

    await client.send(envelope, raw, signal);
    const second = await client.send(envelope, raw, signal);

    expect(second.kind).toBe('accepted');
    expect(sink.connections).toBe(2);
    expect(sink.bodies).toHaveLength(2);
  });

  it('defers the email if it keeps failing, and is not replaced if it received a reply', async () => {
    const flaky = await scripted((verb) => (verb === 'MAIL' && flaky.bodies.length > 0 ? hangUp : undefined));
    const flaky_rcpt = await scripted((verb) => (verb === 'RCPT' && flaky_rcpt.bodies.length > 0 ? hangUp : undefined));

    for (const sink of [flaky, flaky_rcpt]) {
      const client = transport(sink.port);
      await client.send(envelope, raw, signal);
      expect((await client.send(envelope, raw, signal)).kind).toBe('deferred');
    }
    expect(flaky.connections).toBe(2);
    expect(flaky_rcpt.connections).toBe(1);
  });

  it('is not used again if the server closed it while idle', async () => {
    const sink = await scripted();
    const client = transport(sink.port);
    await client.send(envelope, raw, signal);

    const [socket] = sink.sockets;
    const closed = new Promise((resolve) => socket?.on('close', resolve));
    socket?.end('421 4.4.2 idle\r\n');
    await closed;

    expect((await client.send(envelope, raw, signal)).kind).toBe('accepted');
    expect(sink.connections).toBe(2);
  });

  it('sends QUIT after its idle time or when the transport stops', async () => {
    const idle = await scripted();
    const stopped = await scripted();
    const client = transport(stopped.port);
    await transport(idle.port, { timeouts: { idle_ms: 20 } }).send(envelope, raw, signal);
    await client.send(envelope, raw, signal);

    await new Promise((resolve) => idle.sockets[0]?.on('close', resolve));
    await client.stop();

    expect(idle.verbs.at(-1)).toBe('QUIT');
    expect(stopped.verbs.at(-1)).toBe('QUIT');
    expect(await client.send(envelope, raw, signal)).toMatchObject({ kind: 'deferred', stage: 'connect' });
  });
});

describe('an abort of a send', () => {
  it('interrupts waiting for a connection, and a transaction before its dot', async () => {
    const sink = await scripted((verb) => (verb === 'RCPT' ? null : undefined));
    const client = transport(sink.port, { max_connections: 1 });
    const controller = new AbortController();

    const working = client.send(envelope, raw, controller.signal);
    const waiting = client.send(envelope, raw, controller.signal);
    await waitFor(() => sink.verbs.includes('RCPT'), sink);
    controller.abort();

    expect(await working).toMatchObject({ kind: 'deferred', stage: 'rcpt' });
    expect(await waiting).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(await client.send(envelope, raw, controller.signal)).toMatchObject({ kind: 'deferred', stage: 'connect' });
  });

  it('does not interrupt waiting for the reply to an email that the server already has', async () => {
    const controller = new AbortController();
    const sink = await scripted((verb) => {
      if (verb !== 'dot') return undefined;
      return (socket) => {
        controller.abort();
        setImmediate(() => socket.write('250 2.0.0 taken\r\n'));
      };
    });

    expect((await transport(sink.port).send(envelope, raw, controller.signal)).kind).toBe('accepted');
  });
});

describe('TLS', () => {
  async function tlsServer({ implicit = false } = {}): Promise<{ port: number; secure: boolean[] }> {
    const secure: boolean[] = [];
    const server = new SMTPServer({
      secure: implicit,
      logger: false,
      authOptional: true,
      disableReverseLookup: true,
      onAuth: (auth, _session, callback) =>
        auth.password === 'correct horse' ? callback(null, { user: auth.username }) : callback(new Error('no')),
      onData(stream, session, callback) {
        secure.push(session.secure);
        stream.on('end', () => callback()).resume();
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise<void>((resolve) => server.close(resolve)));
    return { port: (server.server.address() as AddressInfo).port, secure };
  }

  it('is used if offered, and an unverified certificate is reported as unverified', async () => {
    const server = await tlsServer();
    const client = transport(server.port);

    const outcome = await client.send(envelope, raw, signal);

    expect(outcome).toMatchObject({
      kind: 'accepted',
      tls: { protocol: expect.stringMatching(/^TLSv1\.[23]$/), authorized: false },
    });
    expect(outcome.phases_ms.tls).toBeGreaterThan(0);
    // newcomer N19: a time has two decimals, not fourteen.
    for (const ms of Object.values(outcome.phases_ms)) expect(ms).toBe(Number(ms.toFixed(2)));
    expect(server.secure).toEqual([true]);
    await client.stop();
  });

  it('is not used if it is disabled', async () => {
    const server = await tlsServer();
    const client = transport(server.port, { tls: 'none' });

    expect(await client.send(envelope, raw, signal)).toMatchObject({ kind: 'accepted', tls: null });
    await client.stop();
  });

  it('is never replaced by plaintext if it is required', async () => {
    const untrusted = await tlsServer();
    const stripped = await scripted();

    expect(await sendOnce(untrusted.port, { tls: 'required' })).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(await sendOnce(stripped.port, { tls: 'required' })).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(untrusted.secure).toEqual([]);
    expect(stripped.verbs).not.toContain('MAIL');
  });

  it('fairness P37: requires a verified certificate from the first byte, unless the server is this machine', async () => {
    const server = await tlsServer({ implicit: true });

    // A local address that is not recognized as local.
    expect(await sendOnce(server.port, { secure: true, host: '0.0.0.0' })).toMatchObject({
      kind: 'deferred',
      stage: 'connect',
    });
    expect(server.secure).toEqual([]);
    expect(await sendOnce(server.port, { secure: true })).toMatchObject({ kind: 'accepted' });
  });

  it('falls back to plaintext if it is opportunistic and the handshake fails', async () => {
    const sink = await scripted((verb, connection) => {
      if (verb === 'EHLO') return '250-sink\r\n250 STARTTLS';
      if (verb !== 'STARTTLS' || connection > 1) return undefined;
      return (socket) => {
        socket.write('220 go\r\n');
        socket.once('data', () => socket.write('this is not TLS\r\n'));
      };
    });

    expect(await sendOnce(sink.port)).toMatchObject({ kind: 'accepted', tls: null });
    expect(sink.connections).toBe(2);
  });

  it('is required before credentials are sent to another machine', async () => {
    const sink = await scripted((verb) => (verb === 'EHLO' ? '250-sink\r\n250 AUTH PLAIN' : undefined));
    const login = { user: 'relay', pass: 'correct horse' };

    // 0.0.0.0 reaches this machine, but does not look like a local address.
    expect(await sendOnce(sink.port, { ...login, host: '0.0.0.0' })).toMatchObject({
      kind: 'deferred',
      stage: 'connect',
    });
    expect(sink.verbs).not.toContain('AUTH');
  });

  it('protects a login, and the transcript hides the password', async () => {
    const server = await tlsServer();
    const right = transport(server.port, { user: 'relay', pass: 'correct horse' });
    const wrong = transport(server.port, { user: 'relay', pass: 'battery staple' });

    const accepted = await right.send(envelope, raw, signal);
    const rejected = await wrong.send(envelope, raw, signal);

    expect(accepted.kind).toBe('accepted');
    expect(rejected).toMatchObject({ kind: 'deferred', stage: 'connect', reply: { code: 535 } });
    for (const secret of ['correct horse', 'battery staple']) {
      for (const form of [
        secret,
        Buffer.from(secret).toString('base64'),
        Buffer.from(`\0relay\0${secret}`).toString('base64'),
      ]) {
        expect(accepted.transcript + rejected.transcript + rejected.error).not.toContain(form);
      }
    }
    await right.stop();
  });
});

describe('a mailer with several transports', () => {
  it('tries the next transport if no session was established, and stops once a server has replied', async () => {
    const broken = await scripted((verb) => (verb === 'greeting' ? '554 no service' : undefined));
    const refusing = await scripted((verb) => (verb === 'RCPT' ? '451 4.3.0 later' : undefined));
    const lossy = await scripted((verb) => (verb === 'dot' ? hangUp : undefined));
    const spare = await scripted();
    const send = async (...ports: number[]) => {
      const mailer = createMailer({
        helo_name: 'mail.good.test',
        transports: ports.map((port) => ({
          host: '127.0.0.1',
          port,
          secure: false,
          max_connections: 1,
          tls: 'none' as const,
        })),
      });
      closing.push(() => mailer.stop());
      return await mailer.send(envelope, raw, signal);
    };

    const rescued = await send(broken.port, spare.port);
    const deferred = await send(refusing.port, spare.port);
    const unknown = await send(lossy.port, spare.port);
    const missing = await send(broken.port, broken.port);

    expect(rescued).toMatchObject({ kind: 'accepted', target: `127.0.0.1:${spare.port}` });
    expect(rescued.transcript).toContain('554 no service');
    expect(deferred).toMatchObject({ kind: 'deferred', stage: 'rcpt', target: `127.0.0.1:${refusing.port}` });
    expect(unknown).toMatchObject({ kind: 'unknown', target: `127.0.0.1:${lossy.port}` });
    expect(missing).toMatchObject({ kind: 'deferred', stage: 'connect' });
    expect(spare.bodies).toHaveLength(1);
  });
});

/** Resolves once a condition is true. Checks the condition again whenever one of the server's sockets receives data. */
function waitFor(condition: () => boolean, sink: ScriptedServer): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (condition()) return resolve();
      for (const socket of sink.sockets) socket.once('data', () => setImmediate(look));
      if (sink.sockets.length === 0) setImmediate(look);
    };
    look();
  });
}
