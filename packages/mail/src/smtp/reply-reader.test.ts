import { describe, expect, it } from 'vitest';
import { createReplyReader } from './reply-reader.ts';

function read(...chunks: (string | Buffer)[]) {
  const replies: string[] = [];
  let too_long = 0;
  const reader = createReplyReader(
    (reply) => replies.push(reply),
    () => {
      too_long += 1;
    },
  );
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { replies, too_long, rest: reader.rest() };
}

describe('an SMTP reply', () => {
  it('is returned whether it arrives whole, byte by byte, or after another reply', () => {
    const stream = '250-one\r\n250-two\r\n250 three\r\n354 go\r\n\r\n550 no\n';
    const replies = ['250-one\r\n250-two\r\n250 three', '354 go', '550 no'];

    expect(read(stream)).toEqual({ replies, too_long: 0, rest: '' });
    expect(read(...stream)).toEqual({ replies, too_long: 0, rest: '' });
  });

  it('is not returned until it is complete', () => {
    expect(read('250 ok\r\n250-more\r\n250')).toEqual({ replies: ['250 ok'], too_long: 0, rest: '250-more\r\n250' });
  });

  it('may be UTF-8, even if split within a character', () => {
    const bytes = Buffer.from('550 nö\r\n');

    expect(read(bytes.subarray(0, 6), bytes.subarray(6)).replies).toEqual(['550 nö']);
  });

  it('is reported once as too long if it never ends, and nothing after it is read', () => {
    const line = `250-${'x'.repeat(1000)}\r\n`;

    expect(read(...Array<string>(100).fill(line), '250 end\r\n')).toMatchObject({ replies: [], too_long: 1 });
    expect(read('y'.repeat(100_000), 'y\r\n250 ok\r\n')).toMatchObject({ replies: [], too_long: 1 });
  });
});
