import { afterEach, describe, expect, it } from 'vitest';
import { createReturnedMailReader, type ReturnedMailReader } from './returned-mail-reader.ts';

const HOSTILE = new URL('../../test/hostile-thread.ts', import.meta.url);
const ordinary = Buffer.from('Subject: Re: Hello\r\n\r\nHi');

let reader: ReturnedMailReader;
afterEach(() => reader.stop());

describe('the thread that parses returned email', () => {
  it('parses one email after another', async () => {
    reader = createReturnedMailReader();

    const results = await Promise.all([
      reader.read(ordinary),
      reader.read(Buffer.from('Auto-Submitted: auto-replied\r\n\r\n')),
    ]);

    expect(results).toEqual([{ kind: 'other' }, { kind: 'auto_reply' }]);
    expect(reader.replaced()).toBe(0);
  });

  it.each(['hang', 'memory', 'end'])(
    'is replaced after an email that makes it %s, and the next email is parsed',
    async (label) => {
      reader = createReturnedMailReader({ thread: HOSTILE, deadline_ms: 4000, max_heap_mb: 32 });
      let turns = 0;
      const turning = setInterval(() => turns++, 1);

      const results = await Promise.all([
        reader.read(Buffer.from(`X-Hostile: ${label}\r\n\r\n`)),
        reader.read(ordinary),
      ]);
      clearInterval(turning);

      expect(results).toEqual([{ kind: 'unreadable', why: expect.any(String), lost: true }, { kind: 'other' }]);
      expect(reader.replaced()).toBe(1);
      // The event loop of this process kept running meanwhile.
      expect(turns).toBeGreaterThan(0);
    },
  );

  it('discards waiting email when stopped', async () => {
    reader = createReturnedMailReader();
    const [first, second] = [reader.read(ordinary), reader.read(ordinary)];
    const rejection = expect(second).rejects.toThrow('stopped');

    const stopped = reader.stop();

    await expect(first).rejects.toThrow('stopped');
    await rejection;
    await stopped;
  });
});

describe('hostile returned email', () => {
  const MB = 1024 * 1024;
  const nested = (depth: number) => {
    const parts = Array.from(
      { length: depth },
      (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n`,
    );
    return `Subject: deep\r\n${parts.join('')}Content-Type: text/plain\r\n\r\nend`;
  };
  it.each([
    ['multiparts nested ten thousand deep', nested(10_000)],
    ['one line of a megabyte', `Subject: long\r\n\r\n${'x'.repeat(MB)}`],
    ['one header of a megabyte', `Subject: ${'x'.repeat(MB)}\r\n\r\n`],
    ['html of a hundred thousand open tags', `Content-Type: text/html\r\n\r\n${'<div><a href="'.repeat(70_000)}`],
    ['html of brackets', `Content-Type: text/html\r\n\r\n${'<'.repeat(MB)}`],
    ['html of entities', `Content-Type: text/html\r\n\r\n${'&amp'.repeat(MB / 4)}`],
    ['text full of links', `Content-Type: text/plain\r\n\r\n${'http://a.b.'.repeat(90_000)}`],
    ['encoded words', `Subject: ${'=?utf-8?q?a?= '.repeat(70_000)}\r\n\r\n`],
    ['addresses', `To: ${'<a@b>,('.repeat(100_000)}\r\n\r\n`],
    ['ten thousand parts', `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(10_000)}`],
    ['messages in messages', `${'Content-Type: message/rfc822\r\n\r\n'.repeat(20_000)}Subject: inside\r\n\r\nend`],
    [
      'a report of a megabyte without an end of line',
      `Content-Type: message/delivery-status\r\n\r\nAction: ${'failed '.repeat(140_000)}`,
    ],
    ['a report of folded lines', `Content-Type: message/delivery-status\r\n\r\nA: b\r\n${' x\r\n'.repeat(200_000)}`],
    ['a bounce of many paragraphs', `Subject: x\r\n\r\nHi. This is x\r\n\r\n${'<a@b>:\r\nx\r\n\r\n'.repeat(60_000)}`],
  ])('is parsed or abandoned, and the next email is parsed: %s', async (_what, text) => {
    reader = createReturnedMailReader({ deadline_ms: 5000 });
    let turns = 0;
    const turning = setInterval(() => turns++, 1);

    const [, next] = await Promise.all([reader.read(Buffer.from(text)), reader.read(ordinary)]);
    clearInterval(turning);

    expect(next).toEqual({ kind: 'other' });
    expect(turns).toBeGreaterThan(0);
  });
});
