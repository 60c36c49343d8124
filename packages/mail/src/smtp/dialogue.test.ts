import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { certificate } from '../../test/certificate.ts';
import {
  DEFAULTS,
  hangUp,
  PIPELINING,
  RELAY,
  type Script,
  type ScriptedServer,
  type ScriptedServerOptions,
  type ServerReply,
  startScriptedServer,
  type Verb,
} from '../../test/scripted-server.ts';
import type { Mailer, SendOutcome } from '../outcome/send-outcome.ts';
import { createSmtpTransport, type SmtpTransportOptions } from './client.ts';
import { createSessionPool } from './session-pool.ts';

const idle_signal = new AbortController().signal;
/** However long a machine takes to reply to a dot, the next envelope may be pipelined. */
const ALWAYS_PROMPT = { prompt_ms: Number.POSITIVE_INFINITY };
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Advances the transport's time only when a test says so, however long the machine takes. */
function freezeTime(): { pass(duration_ms: number): void } {
  // Not fake timers: those would advance on every check of expect.poll. The time starts at 1, because 0 means "has not
  // happened yet".
  let now_ms = 1;
  vi.spyOn(performance, 'now').mockImplementation(() => now_ms);
  return {
    pass(duration_ms) {
      now_ms += duration_ms;
    },
  };
}

/** Starts a server that offers PIPELINING and otherwise follows the script. */
async function pipelined(script: Script = () => undefined, options?: ScriptedServerOptions): Promise<ScriptedServer> {
  const server = await startScriptedServer(
    (verb, ...where) => (verb === 'EHLO' ? PIPELINING : script(verb, ...where)),
    options,
  );
  closing.push(() => server.stop());
  return server;
}

function transport(port: number, options: Partial<SmtpTransportOptions> = {}): Mailer {
  const created = createSmtpTransport({
    ...RELAY,
    port,
    max_connections: 1,
    ...options,
    timeouts: { ...ALWAYS_PROMPT, ...options.timeouts },
  });
  closing.push(() => created.stop());
  return created;
}

function recipient(number: number): string {
  return `r${number}@example.test`;
}

function mailFor(number: number, size = 0): Buffer {
  return Buffer.from(`To: ${recipient(number)}\r\n\r\n.${'a line of it\r\n'.repeat(size / 14)}end\r\n`);
}

function sendTo(client: Mailer, number: number, signal = idle_signal): Promise<SendOutcome> {
  return client.send({ from: 'bounces@good.test', to: recipient(number) }, mailFor(number), signal);
}

/**
 * Sends `count` messages concurrently, numbered from 1: the first shows that the session is prompt, and the second
 * carries the envelope of the third.
 */
function sendAll(client: Mailer, count = 3): Promise<SendOutcome[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => sendTo(client, index + 1)));
}

function bodiesFor(server: ScriptedServer, number: number): number {
  return server.bodies.filter((body) => body.includes(`To: ${recipient(number)}\r`)).length;
}

/**
 * Creates a script that does not reply to the second dot until DATA of the next message has arrived, and then sends all
 * the replies in one write.
 */
function holding(
  replies: Partial<Record<'dot' | 'MAIL' | 'RCPT' | 'DATA', string>>,
  then: Script = () => undefined,
): Script {
  let dots = 0;
  let held_replies: string[] | null = null;
  return (verb, connection, line) => {
    if (verb === 'dot' && ++dots === 2) {
      held_replies = [replies.dot ?? DEFAULTS.dot];
      return '';
    }
    if (held_replies && (verb === 'MAIL' || verb === 'RCPT')) {
      held_replies.push(replies[verb] ?? DEFAULTS[verb]);
      return '';
    }
    if (held_replies && verb === 'DATA') {
      const all = [...held_replies, replies.DATA ?? DEFAULTS.DATA].join('\r\n');
      held_replies = null;
      return all;
    }
    return then(verb, connection, line);
  };
}

/** Creates a reply that is sent when a test says so. All commands after it wait. */
function replyOnDemand(reply: string): { answer: ServerReply; tell(): void } {
  const cue = Promise.withResolvers<void>();
  return { answer: (socket) => cue.promise.then(() => socket.write(`${reply}\r\n`)), tell: cue.resolve };
}

/** Replies to the dot of one message, selected by its recipient's number. */
function atDot(number: number, reply: ServerReply): Script {
  return (verb, _, line) => (verb === 'dot' && line.includes(recipient(number)) ? reply : undefined);
}

describe('the next email’s envelope', () => {
  it.each<[string, ScriptedServerOptions & { secure?: boolean; size?: number }]>([
    ['in plaintext', {}],
    ['in TLS', { tls: certificate, secure: true }],
    ['behind a mail that takes a write of its own', { size: 40_000 }],
    ['behind a mail of several writes', { size: 400_000 }],
  ])(
    'reaches the server before the reply to the previous dot, %s',
    async (_, { secure = false, size = 0, ...options }) => {
      const server = await pipelined(holding({}), options);
      const client = transport(server.port, { secure });

      const outcomes = await Promise.all(
        [1, 2, 3].map((number) =>
          client.send({ from: 'bounces@good.test', to: recipient(number) }, mailFor(number, size), idle_signal),
        ),
      );

      expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
      expect(server.connections).toBe(1);
      expect(server.bodies.map((body) => `${body}\r\n`)).toEqual(
        [1, 2, 3].map((number) => mailFor(number, size).toString()),
      );
      for (const [index, { transcript }] of outcomes.slice(1).entries()) {
        expect(transcript).toBe(
          [
            ...['C: MAIL FROM:<bounces@good.test>', `C: RCPT TO:<${recipient(index + 2)}>`, 'C: DATA'],
            ...['S: 250 2.1.0 ok', 'S: 250 2.1.5 ok', 'S: 354 go', 'S: 250 2.0.0 taken', ''],
          ].join('\n'),
        );
      }
      expect(outcomes.map(({ phases_ms }) => phases_ms.connect > 0)).toEqual([true, false, false]);
    },
  );

  it.each([
    ['is not offered', DEFAULTS.EHLO, ALWAYS_PROMPT],
    ['is offered by a server that is slow to answer a dot', PIPELINING, { prompt_ms: 0 }],
  ])('waits for its turn if PIPELINING %s', async (_, ehlo, timeouts) => {
    const server = await startScriptedServer((verb) => (verb === 'EHLO' ? ehlo : undefined));
    closing.push(() => server.stop());

    const outcomes = await sendAll(transport(server.port, { timeouts }));

    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(server.ahead).toBe(0);
  });

  it('is sent ahead on every permitted connection and no other, for a hundred emails each', async () => {
    const messages = new Map<number, number>();
    const server = await pipelined((verb, connection) => {
      if (verb === 'MAIL') messages.set(connection, (messages.get(connection) ?? 0) + 1);
      return undefined;
    });
    const one = await sendAll(transport(server.port), 250);
    const counts = [...messages.values()];
    const two = await sendAll(transport(server.port, { max_connections: 2 }), 50);

    expect([...one, ...two].every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(counts).toEqual([100, 100, 50]);
    expect(server.connections).toBe(5);
    expect(server.ahead).toBeGreaterThan(200);
    for (const number of [51, 250]) expect(bodiesFor(server, number)).toBe(1);
  });

  it('has a timeout that is measured from the reply to the previous dot', async () => {
    const time = freezeTime();
    const { answer: reply, tell: release } = replyOnDemand('250 2.0.0 taken');
    const server = await pipelined(atDot(2, reply));
    const sent = sendAll(transport(server.port, { timeouts: { command_ms: 1000 } }));
    await expect.poll(() => server.ahead).toBe(1);

    time.pass(1500);
    release();
    const outcomes = await sent;

    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(server.connections).toBe(1);
    expect(outcomes[1]?.phases_ms.data).toBe(1500);
    expect(outcomes[2]?.phases_ms.mail).toBe(0);
  });

  it('is not sent ahead for an email that cannot be rendered, which delays no other email', async () => {
    const server = await pipelined();
    const client = transport(server.port);
    const body = (number: number) => async () => {
      if (number === 3) throw new Error('no body');
      return mailFor(number);
    };

    const results = await Promise.allSettled(
      [1, 2, 3, 4, 5].map((number) =>
        client.send({ from: 'bounces@good.test', to: recipient(number) }, body(number), idle_signal),
      ),
    );

    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(server.bodies).toHaveLength(4);
    expect(server.connections).toBe(1);
  });
});

describe('a message followed by the next envelope', () => {
  it.each<[string, SendOutcome['kind']]>([
    ['552 5.3.4 too big', 'rejected'],
    ['451 4.3.2 busy', 'deferred'],
  ])('does not affect the next message if the reply is %s', async (dot, kind) => {
    const server = await pipelined(holding({ dot }));

    const [, second, third] = await sendAll(transport(server.port));

    expect(second).toMatchObject({ kind, stage: 'after_dot', reply: { code: Number(dot.slice(0, 3)) } });
    expect(third).toMatchObject({ kind: 'accepted', reply: { text: 'taken' } });
    expect(server.connections).toBe(1);
    expect(server.verbs).not.toContain('RSET');
    expect([bodiesFor(server, 2), bodiesFor(server, 3)]).toEqual([1, 1]);
  });

  it.each<[string, ServerReply, SendOutcome['kind']]>([
    ['421', '421 4.3.2 closing', 'deferred'],
    ['a closed connection', hangUp, 'unknown'],
    ['silence', null, 'unknown'],
    ['garbage', 'xyzzy', 'unknown'],
  ])('moves the next message to another connection if the reply is %s', async (_, reply, kind) => {
    const time = freezeTime();
    const server = await pipelined(atDot(2, reply));
    const sent = sendAll(transport(server.port, { timeouts: { after_dot_ms: 100 } }));
    await expect.poll(() => server.ahead).toBe(1);

    if (reply === null) time.pass(100);
    const [, second, third] = await sent;

    expect(second).toMatchObject({ kind, stage: 'after_dot' });
    expect(third).toMatchObject({ kind: 'accepted' });
    expect(third?.transcript).toContain('S: 220 sink\n');
    expect(server.connections).toBe(2);
    expect([bodiesFor(server, 2), bodiesFor(server, 3)]).toEqual([1, 1]);
  });

  it.each<[string, ServerReply]>([
    ['421', '250 2.0.0 taken\r\n421 4.3.2 enough'],
    ['the end of the connection', (socket) => socket.end('250 2.0.0 taken\r\n')],
    ['503', '250 2.0.0 taken\r\n503 5.5.1 what?'],
  ])('is accepted, and the next message moves to another connection if its own reply is %s', async (_, reply) => {
    const server = await pipelined(atDot(2, reply));

    const outcomes = await sendAll(transport(server.port));

    expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(server.connections).toBe(2);
    expect(bodiesFor(server, 3)).toBe(1);
  });

  it.each<[Verb & ('MAIL' | 'RCPT' | 'DATA'), string, SendOutcome['kind'], SendOutcome['stage']]>([
    ['MAIL', '550 5.7.1 no', 'rejected', 'mail'],
    ['RCPT', '550 5.1.1 unknown', 'rejected', 'rcpt'],
    ['RCPT', '452 4.2.2 full', 'deferred', 'rcpt'],
    ['DATA', '451 4.7.1 grey', 'deferred', 'data'],
  ])('is accepted, whatever happens to the next message at %s', async (verb, reply, kind, stage) => {
    const server = await pipelined(holding({ DATA: '503 5.5.1 out of order', [verb]: reply }));

    const [, second, third, fourth] = await sendAll(transport(server.port), 4);

    expect(second).toMatchObject({ kind: 'accepted', reply: { text: 'taken' } });
    expect(third).toMatchObject({ kind, stage, reply: { code: Number(reply.slice(0, 3)) } });
    expect(fourth).toMatchObject({ kind: 'accepted' });
    expect(server.connections).toBe(1);
    expect(bodiesFor(server, 3)).toBe(0);
    expect(server.verbs.filter((name) => name === 'RSET')).toHaveLength(1);
  });
});

describe('an email whose content and dot the kernel has not accepted', () => {
  const SERVED = '250 2.0.0 taken\r\n250 2.1.0 ok\r\n250 2.1.5 ok\r\n354 go\r\n';

  it.each<[string, number, SendOutcome['kind']]>([
    ['unknown with the next envelope in its write, as its dot may have gone', 14_000, 'unknown'],
    ['deferred where it is too long for that, as its dot is the last of its write', 42_000, 'deferred'],
  ])('is %s', async (_, size, kind) => {
    const folder = await mkdtemp(join(tmpdir(), 'postrider-smtp-'));
    closing.push(() => rm(folder, { recursive: true }));
    const path = join(folder, 'server');
    // Stops reading from the second DATA on.
    const deafen: ServerReply = (socket) => socket.pause();
    const server = await pipelined(
      (verb, connection) => (verb === 'DATA' && connection === 1 && server.bodies.length === 1 ? deafen : undefined),
      { path },
    );
    const lines: Socket[] = [];
    const dial = async () => {
      const socket = createConnection(path);
      await once(socket, 'connect');
      lines.push(socket);
      return { ok: true, socket } as const;
    };
    const route = { host: 'server', port: 25, secure: false, tls: 'none', checked: false, tls_policy: 'none' } as const;
    const client = createSessionPool({
      routes: () => ({ ranked: [{ ...route, dial }], notes: [] }),
      pipelines: true,
      helo_name: 'mail.good.test',
      max_connections: 1,
      laneOf: (to) => to,
      timeouts: ALWAYS_PROMPT,
    });
    closing.push(() => client.stop());
    const sent = Array.from({ length: 90 }, (_, index) =>
      client.send({ from: 'bounces@good.test', to: recipient(index + 1) }, mailFor(index + 1, size), idle_signal),
    );
    await expect.poll(() => server.sockets[0]?.isPaused()).toBe(true);

    const [[near], [far]] = [lines, server.sockets];
    if (!near || !far) throw new Error('There is no connection.');
    let unread = 1;
    for (let reply = '354 go\r\n'; near.writableLength < size; reply = SERVED) {
      const bytes_written = near.bytesWritten;
      far.write(reply);
      unread++;
      await expect.poll(() => near.bytesWritten).toBeGreaterThan(bytes_written + size);
    }
    // Closing the socket with this much unread data resets the connection.
    far.destroy();
    const outcomes = await Promise.all(sent);

    expect(outcomes[unread - 1]).toMatchObject({ kind, stage: 'after_dot', reply: null });
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(sent.length - 1);
    expect(server.bodies).toHaveLength(1 + sent.length - unread);
    expect(server.connections).toBe(2);
  });
});

describe('an email whose envelope was sent ahead', () => {
  it('moves to another connection if the previous dot gets no prompt reply', async () => {
    const dot = replyOnDemand('250 2.0.0 taken');
    const greeting = replyOnDemand('220 sink');
    const server = await pipelined((verb, connection, line) =>
      verb === 'greeting' && connection === 2 ? greeting.answer : atDot(2, dot.answer)(verb, connection, line),
    );
    const client = transport(server.port, { max_connections: 2, timeouts: { prompt_ms: 1000 } });
    await sendTo(client, 1);
    const [second, fourth, third] = [sendTo(client, 2), sendTo(client, 4), sendTo(client, 3)];
    await expect.poll(() => server.ahead).toBe(1);
    greeting.tell();

    expect(await fourth).toMatchObject({ kind: 'accepted' });
    expect(await third).toMatchObject({ kind: 'accepted' });
    dot.tell();
    expect(await second).toMatchObject({ kind: 'accepted' });
    expect([2, 3].map((number) => bodiesFor(server, number))).toEqual([1, 1]);
    // The session from which the message was moved has received an envelope without a message, so the session must not
    // be reused.
    expect(await sendTo(client, 5)).toMatchObject({ kind: 'accepted' });
    expect(server.connections).toBe(2);
  });
});

describe('a server that is out of sync', () => {
  it.each([
    ['no answer to a dot', '', 'unknown', 'accepted'],
    ['an answer too many', '250 2.0.0 taken\r\n250 2.0.0 taken', 'accepted', 'deferred'],
    ['a refusal too many', '250 2.0.0 taken\r\n550 5.1.1 unknown', 'accepted', 'deferred'],
    ['a late refusal behind an answer too many', '451 4.3.0 later\r\n552 5.3.4 too big', 'deferred', 'deferred'],
  ])('is disconnected if it sends %s, and its reply applies to no other message', async (_, dot, kind, next) => {
    const server = await pipelined(holding({ dot }));

    const [, second, third] = await sendAll(transport(server.port));

    expect(second).toMatchObject({ kind, stage: 'after_dot' });
    expect(third).toMatchObject(next === 'accepted' ? { kind: next } : { kind: next, reply: null });
    expect(bodiesFor(server, 3)).toBe(next === 'accepted' ? 1 : 0);
    expect(server.ahead).toBe(1);
  });

  it('receives every message if it discards input after a dot, but never another early envelope', async () => {
    const time = freezeTime();
    const server = await pipelined(undefined, { forgetful: true });
    const client = transport(server.port, { timeouts: { command_ms: 100 } });
    const sent = [1, 2, 3, 4, 5, 6].map((number) => sendTo(client, number));
    await sent[1];

    time.pass(100);

    expect((await Promise.all(sent)).every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(server.connections).toBe(2);
    expect(server.ahead).toBe(1);
    expect(server.bodies).toHaveLength(6);
  });

  it.each([['in order'], ['with answers too many']])(
    'never causes email to be recorded as accepted without an acceptance, %s',
    async (label) => {
      for (let seed = 1; seed <= 60; seed++) {
        const random = randomFrom(seed);
        const acknowledged = new Set<number>();
        const server = await pipelined((verb, _, line) => {
          if (verb === 'greeting' || verb === 'QUIT') return undefined;
          const dice = random();
          const choice = dice < 0.04 ? hangUp : (REFUSALS[Math.floor(dice * 60)] ?? DEFAULTS[verb]);
          if (typeof choice !== 'string') return choice;
          if (verb === 'dot' && choice.startsWith('250')) acknowledged.add(Number(/To: r(\d+)@/.exec(line)?.[1]));
          return label === 'in order' || random() < 0.9 ? choice : `${choice}\r\n${random() < 0.5 ? choice : '250 ok'}`;
        });

        const outcomes = await sendAll(transport(server.port, { max_connections: 2 }), 12);

        for (const [index, { kind }] of outcomes.entries()) {
          const count = bodiesFor(server, index + 1);
          expect(count, `seed ${seed}, mail ${index + 1}`).toBeLessThanOrEqual(1);
          if (kind === 'accepted') expect(count, `seed ${seed}, mail ${index + 1}`).toBe(1);
          if (label !== 'in order') continue;
          // An acknowledgment may be lost in transit, in which case the message must not count as rejected.
          if (kind === 'accepted') expect(acknowledged, `seed ${seed}`).toContain(index + 1);
          else if (kind !== 'unknown') expect(acknowledged, `seed ${seed}`).not.toContain(index + 1);
        }
      }
    },
  );
});

describe('the content of a message whose envelope was sent ahead', () => {
  it.each([true, false])(
    'is preceded by a final check, and nothing more is sent if the result is %s',
    async (allowed) => {
      const server = await pipelined(holding({}));
      const client = transport(server.port);
      const sizes: number[] = [];
      const envelope = {
        from: 'bounces@good.test',
        to: recipient(3),
        async before_content() {
          sizes.push(server.bodies.length);
          return allowed;
        },
      };

      const outcomes = await Promise.all([
        sendTo(client, 1),
        sendTo(client, 2),
        client.send(envelope, mailFor(3), idle_signal),
        sendTo(client, 4),
      ]);

      expect(sizes).toEqual([2]);
      expect(outcomes.map(({ kind }) => kind)).toEqual([
        'accepted',
        'accepted',
        allowed ? 'accepted' : 'deferred',
        'accepted',
      ]);
      expect(outcomes[2]?.stage).toBe(allowed ? 'after_dot' : 'data');
      expect(bodiesFor(server, 3)).toBe(allowed ? 1 : 0);
      expect(server.connections).toBe(allowed ? 1 : 2);
    },
  );
});

describe('an abort of a pipelined message', () => {
  it('immediately ends a message whose envelope was sent ahead, and its session after the previous message', async () => {
    const controller = new AbortController();
    const { answer: reply, tell: release } = replyOnDemand('250 2.0.0 taken');
    const server = await pipelined(atDot(2, reply));
    const client = transport(server.port);
    const sent = [sendTo(client, 1), sendTo(client, 2), sendTo(client, 3, controller.signal), sendTo(client, 4)];
    await expect.poll(() => server.ahead).toBe(1);

    controller.abort();
    const third = await sent[2];
    release();

    expect(third).toMatchObject({ kind: 'deferred', stage: 'mail', error: 'The attempt was aborted.' });
    expect(await sent[1]).toMatchObject({ kind: 'accepted' });
    expect(await sent[3]).toMatchObject({ kind: 'accepted' });
    expect(server.connections).toBe(2);
    expect(bodiesFor(server, 3)).toBe(0);
  });

  it('waits for the reply to the dot if the message is followed by another envelope', async () => {
    const controller = new AbortController();
    const { answer: reply, tell: release } = replyOnDemand('250 2.0.0 taken');
    const server = await pipelined(atDot(2, reply));
    const client = transport(server.port);
    const sent = [sendTo(client, 1), sendTo(client, 2, controller.signal), sendTo(client, 3)];
    await expect.poll(() => server.ahead).toBe(1);

    controller.abort();
    release();

    expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(server.connections).toBe(1);
  });
});

it('an attempt begins when the email’s turn on a connection comes, not while the email waits', async () => {
  const { answer: reply, tell: release } = replyOnDemand('250 2.0.0 taken');
  const server = await pipelined(atDot(2, reply));
  const client = transport(server.port);
  const controller = new AbortController();
  const order: number[] = [];
  const sent = [1, 2, 3, 4].map((number) => {
    const envelope = { from: 'bounces@good.test', to: recipient(number), begun: () => void order.push(number) };
    return client.send(envelope, mailFor(number), number === 4 ? controller.signal : idle_signal);
  });
  await expect.poll(() => server.ahead).toBe(1);
  const started_so_far = [...order];

  controller.abort();
  release();

  expect((await Promise.all(sent)).map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted', 'deferred']);
  expect(started_so_far).toEqual([1, 2]);
  expect(order).toEqual([1, 2, 3]);
});

it('a stopping transport finishes the email whose envelope was sent ahead, and rejects waiting email', async () => {
  const { answer: reply, tell: release } = replyOnDemand('250 2.0.0 taken');
  const server = await pipelined(atDot(2, reply));
  const client = transport(server.port);
  const sent = sendAll(client, 4);
  await expect.poll(() => server.ahead).toBe(1);

  const stopped = client.stop();
  release();
  await stopped;

  expect((await sent).map(({ kind, stage }) => `${kind} ${stage}`)).toEqual([
    ...['accepted after_dot', 'accepted after_dot', 'accepted after_dot', 'deferred connect'],
  ]);
  expect(server.verbs.at(-1)).toBe('QUIT');
});

const REFUSALS: readonly (string | undefined)[] = [
  ...[undefined, undefined, undefined, '421 4.3.2 closing', '451 4.3.0 later', '550 5.1.1 no', '503 5.5.1 what'],
];

/** Returns a Park–Miller generator, which gives the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
