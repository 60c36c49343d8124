import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { outgoingMessages } from '@postrider/testing';
import fc from 'fast-check';
import { dkimSign, dkimVerify } from 'mailauth';
import { describe, expect, it } from 'vitest';
import { compose, type OutgoingMessage } from '../compose/compose.ts';
import { composeSigned } from './compose-signed.ts';
import { type DkimKey, signDkim } from './dkim.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const keys: readonly DkimKey[] = [
  { domain: 'good.test', selector: 'one', private_key: rsa },
  { domain: 'good.test', selector: 'two', private_key: ed25519 },
];
const at = new Date('2026-03-01T09:05:07.123Z');

const published: Readonly<Record<string, string>> = {
  'one._domainkey.good.test': `v=DKIM1; k=rsa; p=${spki(rsa).toString('base64')}`,
  'two._domainkey.good.test': `v=DKIM1; k=ed25519; p=${spki(ed25519).subarray(-32).toString('base64')}`,
};

function spki(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' });
}

/** Returns a third-party library's verdict on each signature, topmost first. */
async function verdicts(raw: Buffer): Promise<string[]> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => [[published[name] ?? '']],
    strict: true,
  });
  return results.map((result) => `${result.algo} ${result.status.result}`);
}

function mail(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const [first] = fc.sample(outgoingMessages, { seed: 1, numRuns: 1 });
  if (!first) throw new Error('no sample was made');
  return { ...first, attachments: [], ...changes };
}

const GOOD = ['rsa-sha256 pass', 'ed25519-sha256 pass'];

describe('a signed email', () => {
  it('verifies with both keys, whatever its content', async () => {
    await fc.assert(
      fc.asyncProperty(outgoingMessages, async (message) => {
        const raw = compose(message);
        const signed = await signDkim(raw, keys, at);
        expect(signed.subarray(signed.length - raw.length).equals(raw)).toBe(true);
        expect(await verdicts(signed)).toEqual(GOOD);
      }),
      { numRuns: 100 },
    );
  });

  it('verifies if its body is empty, or has spaces and empty lines that relaxed canonicalization removes', async () => {
    const bodies = [
      '',
      '\r\n',
      '\r\n \t\r\n\r\n',
      'a',
      'a  b\t c \r\n\r\n \r\n',
      ' \r\na ',
      '\ta\r\n\r\n',
      'a\r\n \r\n',
    ];
    for (const body of bodies) {
      const raw = Buffer.from(`From: a@good.test\r\nSubject: x\r\n  y \t z  \r\nX-Empty:\r\n\r\n${body}`);
      expect(await verdicts(await signDkim(raw, keys, at)), JSON.stringify(body)).toEqual(GOOD);
    }
  });

  it('verifies wherever spaces and line endings occur in its body', async () => {
    const piece = fc.constantFrom(' ', '  ', '\t', 'a', 'word', '!', '\r\n', '\r\n\r\n', ' \r\n', '=');
    const body = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const raw = Buffer.from(`From: a@good.test\r\nSubject: x\r\n\r\n${text}`);
        expect(await verdicts(await signDkim(raw, keys, at))).toEqual(GOOD);
      }),
      { numRuns: 200 },
    );
  });

  it('has the same body hash that a different signer computes', async () => {
    const raw = compose(mail({ text: 'two  blanks\n\n', html: null }));
    const signer = { signingDomain: 'good.test', selector: 'one', privateKey: pem(rsa) };
    const { signatures } = await dkimSign(raw, {
      canonicalization: 'relaxed/relaxed',
      ...signer,
      signatureData: [signer],
    });
    const hashOf = (text: string) => /bh=([A-Za-z0-9+/=\s]+);/.exec(text)?.[1]?.replace(/\s/g, '');

    expect(hashOf((await signDkim(raw, keys, at)).toString())).toBe(hashOf(signatures));
  });

  it('no longer verifies after any byte of its body or of a signed field has changed', async () => {
    const signed = await signDkim(compose(mail({ headers: { 'X-Tag': 'otp' } })), keys, at);
    const header_end = signed.indexOf('\r\n\r\n');
    const from = signed.indexOf('\r\nFrom:') + 2;
    const places = fc.oneof(
      fc.integer({ min: from, max: header_end - 1 }),
      fc.integer({ min: header_end + 4, max: signed.length - 3 }),
    );
    await fc.assert(
      fc.asyncProperty(places, async (place) => {
        const byte = signed[place] ?? 0;
        // Relaxed parts may change: spaces and tabs, line ends, and the case of names.
        fc.pre(/[!-9;-~]/.test(String.fromCharCode(byte)));
        const line_start = signed.lastIndexOf('\n', place) + 1;
        const colon = signed.indexOf(':', line_start);
        fc.pre(place > header_end || signed[line_start] === 0x20 || place > colon);
        const changed = Buffer.from(signed);
        changed[place] = byte === 0x78 ? 0x79 : 0x78;
        for (const verdict of await verdicts(changed)) expect(verdict).not.toMatch(/pass/);
      }),
      { numRuns: 150 },
    );
  });

  it.each(['From: eve@evil.test', 'Subject: Pay', 'Reply-To: eve@evil.test', 'List-Unsubscribe: <https://evil.test>'])(
    'no longer verifies with an additional %s, above or below',
    async (line) => {
      const message = mail({ reply_to: null, headers: {} });
      const signed = (await signDkim(compose(message), keys, at)).toString('latin1');

      const above = `${line}\r\n${signed}`;
      const below = signed.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);

      for (const changed of [above, below]) {
        for (const verdict of await verdicts(Buffer.from(changed, 'latin1'))) expect(verdict).not.toMatch(/pass/);
      }
    },
  );

  it('still verifies after trace fields are added above and spacing changes', async () => {
    const signed = await signDkim(compose(mail({ subject: 'one two' })), keys, at);
    const relayed = `Received: by a.test\r\nReturn-Path: <x@a.test>\r\n${signed.toString('latin1')}`;

    expect(
      await verdicts(Buffer.from(relayed.replace('Subject: one two', 'SUBJECT:  one\r\n\ttwo'), 'latin1')),
    ).toEqual(GOOD);
  });

  it('verifies with long fields and many fields set by the sender', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-Field-${index}`, `value ${index}`]));
    const headers = {
      ...many,
      'X-Token': 'x'.repeat(900),
      'X-Words': 'a b  c '.repeat(300),
      'In-Reply-To': '<a@b.test>',
    };

    const signed = await signDkim(compose(mail({ headers })), keys, at);

    expect(await verdicts(signed)).toEqual(GOOD);
    for (const line of signed.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it('verifies with a repeated field name', async () => {
    const raw = Buffer.from('From: a@good.test\r\nX-A: 1\r\nX-B: 2\r\nx-a: 3\r\n\r\nhello\r\n');

    const signed = await signDkim(raw, keys, at);

    expect(await verdicts(signed)).toEqual(GOOD);
    expect(
      await verdicts(Buffer.from(signed.toString().replace('X-A: 1', 'X-A: 3').replace('x-a: 3', 'x-a: 1'))),
    ).toEqual(['rsa-sha256 fail', 'ed25519-sha256 fail']);
  });

  it('verifies if a large body is split into chunks at spaces and empty lines', async () => {
    const PIECE = 256 * 1024;
    for (const padding of ['\r\n'.repeat(60), ' \t \r\n'.repeat(60), 'x  y \r\n'.repeat(60)]) {
      for (const shift of [0, 1]) {
        const lines = 'a  b\r\n'.repeat((PIECE - 60) / 6) + '.'.repeat(shift) + padding;
        for (const end of ['', 'end']) {
          const raw = Buffer.from(`From: a@good.test\r\n\r\n${lines}${end}`);
          expect(await verdicts(await signDkim(raw, keys, at)), JSON.stringify([padding, shift, end.length])).toEqual(
            GOOD,
          );
        }
      }
    }
  });

  it('has the same bytes for the same email, keys and time, and includes the signing time', async () => {
    const raw = compose(mail());

    const [first, second] = await Promise.all([signDkim(raw, keys, at), signDkim(Buffer.from(raw), keys, at)]);

    expect(first.equals(second)).toBe(true);
    expect(first.toString()).toContain(` t=${Math.floor(at.getTime() / 1000)};`);
    for (const line of first.toString('latin1').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998);
  });

  it('verifies at 14 MB, both when encoded and when it contains spaces to relax', async () => {
    const encoded = compose(
      mail({ attachments: [{ filename: 'a.bin', content: Buffer.alloc(10_000_000, 7).toString('base64') }] }),
    );
    const blanks = Buffer.concat([
      Buffer.from('From: a@good.test\r\n\r\n'),
      Buffer.from(`${' x'.repeat(400)} \t \r\n`.repeat(17_000)),
    ]);
    for (const raw of [encoded, blanks]) {
      expect(raw.length).toBeGreaterThan(13_000_000);
      expect(await verdicts(await signDkim(raw, keys, at))).toEqual(GOOD);
    }
  });

  it('verifies when many are signed concurrently, including large ones with spaces to relax', async () => {
    const samples = fc.sample(outgoingMessages, { seed: 2, numRuns: 20 });
    const messages = samples.map((message, index) =>
      index % 5 === 0 ? { ...message, text: `${index}  blanks \n`.repeat(40_000) } : message,
    );

    const signed = await Promise.all(messages.map((message) => composeSigned(message, keys, at)));

    for (const [index, message] of messages.entries()) {
      expect(signed[index]?.equals(await signDkim(compose(message), keys, at))).toBe(true);
      expect(await verdicts(signed[index] ?? Buffer.alloc(0))).toEqual(GOOD);
    }
  });

  it('requires a key, because no email may be sent unsigned', async () => {
    await expect(signDkim(compose(mail()), [], at)).rejects.toThrow('without a key');
  });
});

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
