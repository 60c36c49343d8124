import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts';

let sink: SmtpSink;
beforeEach(async () => {
  sink = await startSmtpSink();
});
afterEach(async () => {
  await sink.stop();
});

interface Talk {
  readonly socket: Socket;
  /** Sends a line or a whole message, and returns the last line of the reply, or null if the sink hung up. */
  say(line: string): Promise<string | null>;
  listen(): Promise<string | null>;
}

function dial(port = sink.port): Talk {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const listen = async () => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) return null;
      if (/^\d{3} /.test(value)) return value;
    }
  };
  return {
    socket,
    listen,
    say(line) {
      socket.write(`${line}\r\n`);
      return listen();
    },
  };
}

const mail = 'From: a@from.test\r\nMessage-ID: <one@from.test>\r\nSubject: Hi\r\n\r\nhello';

async function upToData(talk: Talk, to = 'b@to.test'): Promise<void> {
  expect(await talk.listen()).toMatch(/^220 /);
  await talk.say('EHLO client.test');
  expect(await talk.say('MAIL FROM:<a@from.test>')).toMatch(/^250 /);
  expect(await talk.say(`RCPT TO:<${to}>`)).toMatch(/^250 /);
  expect(await talk.say('DATA')).toMatch(/^354 /);
}

describe('the SMTP sink', () => {
  it('stores the bytes and the envelope of accepted email', async () => {
    const talk = dial();
    await upToData(talk);
    expect(await talk.say(`${mail}\r\n.`)).toMatch(/^250 /);

    const [received] = await sink.waitFor(1);
    expect(received).toMatchObject({
      envelope_from: 'a@from.test',
      envelope_to: ['b@to.test'],
      message_id: '<one@from.test>',
      acknowledged: true,
      secure: false,
    });
    expect(received?.raw.toString()).toBe(`${mail}\r\n`);
    expect(received && (await sink.parsed(received)).subject).toBe('Hi');
    talk.socket.destroy();
  });

  it('rejects the first RCPT for an address, and accepts the second', async () => {
    sink.script(({ nth }) => (nth === 1 ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' }));
    const talk = dial();
    await talk.listen();
    await talk.say('EHLO client.test');
    await talk.say('MAIL FROM:<a@from.test>');

    expect(await talk.say('RCPT TO:<b@to.test>')).toBe('451 4.3.0 later');
    expect(await talk.say('RCPT TO:<b@to.test>')).toMatch(/^250 /);
    talk.socket.destroy();
  });

  it('knows the Message-ID by the time it replies to the dot', async () => {
    sink.script(({ message_id }) =>
      message_id === '<one@from.test>'
        ? { kind: 'reply', code: 550, text: '5.7.1 no', at: 'data' }
        : { kind: 'accept' },
    );
    const talk = dial();
    await upToData(talk);

    expect(await talk.say(`${mail}\r\n.`)).toBe('550 5.7.1 no');
    expect(sink.messages).toHaveLength(0);
    talk.socket.destroy();
  });

  it('drops the connection after the dot, and still shows the received message', async () => {
    sink.script(() => ({ kind: 'drop', at: 'after_dot' }));
    const talk = dial();
    await upToData(talk);

    expect(await talk.say(`${mail}\r\n.`)).toBeNull();
    expect((await sink.waitFor((one) => one.message_id === '<one@from.test>')).acknowledged).toBe(false);
  });

  it('drops the connection during the body, and stores nothing', async () => {
    sink.script(() => ({ kind: 'drop', at: 'data' }));
    const talk = dial();
    await upToData(talk);

    expect(await talk.say(mail)).toBeNull();
    expect(sink.messages).toHaveLength(0);
  });

  it('accepts the content of an email whose recipient was accepted before the script changed', async () => {
    const talk = dial();
    await upToData(talk);
    sink.script(() => ({ kind: 'drop', at: 'rcpt' }));

    expect(await talk.say(`${mail}\r\n.`)).toMatch(/^250 /);
    expect(await talk.say('MAIL FROM:<a@from.test>')).toMatch(/^250 /);
    expect(await talk.say('RCPT TO:<b@to.test>')).toBeNull();
    talk.socket.destroy();
  });

  it('closes one connection without a greeting, and rejects another with its greeting', async () => {
    sink.script(({ nth }) =>
      nth === 1 ? { kind: 'drop', at: 'connect' } : { kind: 'reply', code: 421, text: 'busy', at: 'connect' },
    );

    expect(await dial().listen()).toBeNull();
    expect(await dial().listen()).toMatch(/^421 .*busy/);
    expect(sink.connections()).toBe(2);
  });

  it('delays the reply to the dot until the script continues', async () => {
    const gate = Promise.withResolvers<void>();
    sink.script(() => ({ kind: 'stall', until: gate.promise }));
    const talk = dial();
    await upToData(talk);

    const reply = talk.say(`${mail}\r\n.`);
    expect(sink.messages).toHaveLength(0);
    gate.resolve();

    expect(await reply).toMatch(/^250 /);
    talk.socket.destroy();
  });

  it('offers STARTTLS only on request', async () => {
    const secure = await startSmtpSink({ starttls: true });
    try {
      const plain = dial();
      await plain.listen();
      await plain.say('EHLO client.test');
      expect(await plain.say('STARTTLS')).toMatch(/^5\d\d /);
      const offered = dial(secure.port);
      await offered.listen();
      await offered.say('EHLO client.test');
      expect(await offered.say('STARTTLS')).toMatch(/^220 /);
      offered.socket.destroy();
      plain.socket.destroy();
      await once(plain.socket, 'close');
    } finally {
      await secure.stop();
    }
  });
});
