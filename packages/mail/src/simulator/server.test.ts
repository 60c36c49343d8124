import { simpleParser } from 'mailparser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CapturedMail, type CaptureServer, startCaptureServer } from '../capture/capture-server.ts';
import type { Mailer, SendOutcome } from '../outcome/send-outcome.ts';
import { createSimulatorMailer } from './mailer.ts';
import { startSimulator } from './server.ts';

const signal = new AbortController().signal;
const sender = 'b+token@bounces.sandbox.test';

let captured: CapturedMail[];
let lost: { to: string; outcome: SendOutcome | null }[];
let onLost: () => void;
let onReport: (mail: CapturedMail) => void;
let reports: CaptureServer;
let simulator: CaptureServer;
let mailer: Mailer;

beforeEach(async () => {
  captured = [];
  lost = [];
  onReport = () => undefined;
  onLost = () => undefined;
  reports = await startCaptureServer({ host: '127.0.0.1', port: 0, on_mail: async (mail) => onReport(mail) });
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    on_mail: async (mail) => void captured.push(mail),
    now: () => new Date('2030-01-31T09:00:00Z'),
    reports: {
      helo_name: 'localhost',
      host: '127.0.0.1',
      port: reports.port,
      delays_ms: [1, 1],
      on_lost(report) {
        lost.push(report);
        onLost();
      },
    },
  });
  mailer = createSimulatorMailer({ host: '127.0.0.1', port: simulator.port, helo_name: 'localhost' });
});
afterEach(async () => {
  await mailer.stop();
  await simulator.stop();
  await reports.stop();
});

const raw = (id: string) => Buffer.from(`Message-ID: <${id}@sandbox.test>\r\nSubject: Hello\r\n\r\nHi\r\n`);
const send = (local: string, id = 'one', from = sender) =>
  mailer.send({ from, to: `${local}@simulator.test` }, raw(id), signal);

function nextReport(): Promise<CapturedMail> {
  return new Promise((resolve) => {
    onReport = resolve;
  });
}

describe('the simulator', () => {
  it('stores accepted email for any recipient', async () => {
    const outcomes = [await send('delivered'), await send('ada'), await send('delivered+label')];

    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: 'accepted', reply: { code: 250, enhanced: '2.6.0', text: 'captured' } });
    expect(captured.map((mail) => mail.envelope_to)).toEqual([
      ['delivered@simulator.test'],
      ['ada@simulator.test'],
      ['delivered+label@simulator.test'],
    ]);
  });

  it.each([
    ['bounce+5.1.1', { code: 550, enhanced: '5.1.1', text: 'simulated: the mailbox does not exist' }],
    ['bounce+5.2.2+full', { code: 552, enhanced: '5.2.2', text: 'simulated: the mailbox is full' }],
    ['bounce+5.1.10', { code: 556, enhanced: '5.1.10', text: 'simulated: the domain does not accept email' }],
    ['bounce+5.99.999', { code: 550, enhanced: '5.99.999', text: 'simulated: refused' }],
    [
      'bounce+xyz',
      {
        code: 550,
        enhanced: '5.5.4',
        text: 'simulator: use bounce+ and a 5.x.x status code, such as bounce+5.1.1@simulator.test',
      },
    ],
  ])('rejects %s at RCPT with one reply, and stores nothing', async (local, reply) => {
    expect(await send(local)).toMatchObject({ kind: 'rejected', stage: 'rcpt', reply });
    expect(captured).toEqual([]);
  });

  it('defers an email the requested number of times per message and recipient', async () => {
    const kinds = async (local: string, id: string) => (await send(local, id)).kind;

    expect([await kinds('defer+2', 'a'), await kinds('defer+2', 'b'), await kinds('defer+2+x', 'a')]).toEqual(
      Array(3).fill('deferred'),
    );
    expect(await send('defer+2', 'a')).toMatchObject({
      kind: 'deferred',
      stage: 'after_dot',
      reply: { code: 451, enhanced: '4.3.0', text: 'simulated: temporary failure 2 of 2' },
    });
    expect([await kinds('defer+2', 'a'), await kinds('defer+2', 'b'), await kinds('defer+2', 'b')]).toEqual([
      'accepted',
      'deferred',
      'accepted',
    ]);
    expect(captured).toHaveLength(2);
  });

  it('drops the connection after the dot once per message, without replying or storing a copy', async () => {
    const first = await send('drop-after-data', 'a');
    expect(first).toMatchObject({ kind: 'unknown', stage: 'after_dot', reply: null });
    expect(captured).toEqual([]);

    expect((await send('drop-after-data', 'a')).kind).toBe('accepted');
    expect((await send('drop-after-data', 'b')).kind).toBe('unknown');
    expect(captured).toHaveLength(1);
  });

  it('accepts a slow email after its delay', async () => {
    const outcome = await send('slow+1s');

    expect(outcome.kind).toBe('accepted');
    expect(outcome.phases_ms.mail).toBeGreaterThan(950);
  });

  it('does not delay other email because of slow scripts', async () => {
    const abort = new AbortController();
    const slow = Array.from({ length: 30 }, (_, index) =>
      mailer.send({ from: sender, to: `slow+5m+${index}@simulator.test` }, raw(`s${index}`), abort.signal),
    );

    const quick = await Promise.all(Array.from({ length: 40 }, (_, index) => send('delivered', `q${index}`)));

    expect(quick.every((outcome) => outcome.kind === 'accepted')).toBe(true);
    abort.abort();
    for (const outcome of await Promise.all(slow)) expect(outcome.kind).toBe('deferred');
  });

  it('aborts a slow email on request, and stops without waiting for that email', async () => {
    const abort = new AbortController();
    const aborted = mailer.send({ from: sender, to: 'slow+5m@simulator.test' }, raw('a'), abort.signal);
    const cut = send('slow+5m', 'b');
    await send('delivered', 'c');

    abort.abort();
    expect(await aborted).toMatchObject({ kind: 'deferred', reply: null });
    await simulator.stop();

    expect((await cut).kind).toBe('deferred');
    expect(captured).toHaveLength(1);
  });

  it('gives each script its own lane', () => {
    const lanes = ['delivered', 'ada', 'slow+1s', 'slow+2s', 'defer+1', 'bounce+5.1.1', 'bounce+x'].map((local) =>
      mailer.laneOf(`${local}@simulator.test`),
    );

    expect(lanes).toEqual([
      'simulator.test',
      'simulator.test',
      'slow.simulator.test',
      'slow.simulator.test',
      'defer.simulator.test',
      'bounce.simulator.test',
      'malformed.simulator.test',
    ]);
    expect(mailer.laneOf('ada@example.com')).toBe('example.com');
  });
});

describe('a simulated report', () => {
  it('is sent to the envelope sender in RFC 3464 format for a delivery failure', async () => {
    const arrived = nextReport();
    expect((await send('dsn+5.2.2')).kind).toBe('accepted');

    const { envelope_from, envelope_to, raw: bytes } = await arrived;

    expect([envelope_from, envelope_to]).toEqual(['', [sender]]);
    const [header = '', ...parts] = partsOf(bytes);
    expect(header).toMatch(/^Content-Type: multipart\/report; report-type=delivery-status;\r\n boundary=/m);
    expect(header).toMatch(/^Auto-Submitted: auto-replied\r$/m);
    expect(parts).toHaveLength(3);
    expect(parts[1]).toBe(
      [
        'Content-Type: message/delivery-status',
        '',
        'Reporting-MTA: dns; simulator.test',
        'Arrival-Date: Thu, 31 Jan 2030 09:00:00 +0000',
        '',
        'Final-Recipient: rfc822; dsn+5.2.2@simulator.test',
        'Action: failed',
        'Status: 5.2.2',
        'Diagnostic-Code: smtp; 552 5.2.2 simulated: the mailbox is full',
        '',
        '',
      ].join('\r\n'),
    );
    expect(parts[2]).toBe(
      'Content-Type: text/rfc822-headers\r\n\r\nMessage-ID: <one@sandbox.test>\r\nSubject: Hello\r\n\r\n',
    );
    const read = await simpleParser(bytes, { keepDeliveryStatus: true });
    expect(read.text).toBe(
      'Your message to dsn+5.2.2@simulator.test could not be delivered: simulated: the mailbox is full.\n',
    );
  });

  it('is sent in RFC 5965 format for abuse', async () => {
    const arrived = nextReport();
    await send('complain+shop');

    const { envelope_from, envelope_to, raw: bytes } = await arrived;

    expect([envelope_from, envelope_to]).toEqual(['complaints@simulator.test', [sender]]);
    const [header = '', , fields = '', original] = partsOf(bytes);
    expect(header).toMatch(/report-type=feedback-report/);
    expect(fields.split('\r\n').filter((line) => line !== '')).toEqual([
      'Content-Type: message/feedback-report',
      'Feedback-Type: abuse',
      'User-Agent: Postrider-Simulator/1',
      'Version: 1',
      `Original-Mail-From: <${sender}>`,
      'Original-Rcpt-To: <complain+shop@simulator.test>',
      'Arrival-Date: Thu, 31 Jan 2030 09:00:00 +0000',
      'Reported-Domain: bounces.sandbox.test',
    ]);
    expect(original).toContain('Message-ID: <one@sandbox.test>');
  });

  it('is retried while deferred, and logged as lost after the last attempt', async () => {
    let refusals = 0;
    onReport = () => {
      refusals += 1;
      throw new Error('not now');
    };
    const given_up = new Promise<void>((resolve) => {
      onLost = resolve;
    });

    await send('complain');
    await given_up;

    expect(refusals).toBe(2);
    expect(lost).toMatchObject([{ to: sender, outcome: { kind: 'deferred', reply: { code: 451 } } }]);
  });

  it('is abandoned if no server is listening', async () => {
    await reports.stop();
    const given_up = new Promise<void>((resolve) => {
      onLost = resolve;
    });

    await send('dsn+5.1.1');
    await given_up;

    expect(lost).toMatchObject([{ to: sender, outcome: { kind: 'deferred', stage: 'connect' } }]);
  });

  it('is not created for an email with an empty envelope sender', async () => {
    const reported: string[] = [];
    onReport = (mail) => void reported.push(...mail.envelope_to);
    const arrived = new Promise<void>((resolve) => {
      onReport = (mail) => {
        reported.push(...mail.envelope_to);
        resolve();
      };
    });
    await send('dsn+5.1.1', 'a', '');
    await send('complain', 'b', '');
    await send('dsn+5.1.1', 'c', 'last@sandbox.test');

    await arrived;

    expect(reported).toEqual(['last@sandbox.test']);
  });
});

/** Returns the header and the parts of a multipart message, as written. */
function partsOf(bytes: Buffer): string[] {
  const text = bytes.toString('latin1');
  const boundary = /boundary="([^"]+)"/.exec(text)?.[1] ?? '';
  const pieces = text.split(`--${boundary}`);
  expect(pieces.at(-1)).toBe('--\r\n');
  return pieces.slice(0, -1).map((piece) => piece.replace(/^\r\n/, ''));
}
