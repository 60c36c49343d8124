import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReply, encodeQuestion, readServer } from './message.ts';

/** Creates a reply to `TXT a.test` with one record, whose name points at the question. */
function reply(data: Buffer, pointer = 12): Buffer {
  const question = encodeQuestion(7, 'a.test', 'TXT', true);
  if (!question) throw new Error('a.test cannot be asked for');
  const bytes = Buffer.from(question.subarray(0, question.length - 11));
  bytes.writeUInt16BE(0x8400, 2);
  bytes.writeUInt16BE(1, 6);
  bytes.writeUInt16BE(0, 10);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 | pointer, 0);
  record.writeUInt16BE(16, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(300, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([bytes, record, data]);
}

describe('a DNS message', () => {
  it('is parsed as expected', () => {
    const decoded = decodeReply(reply(Buffer.from('\u0003one\u0003two')));

    expect(decoded).toEqual({
      id: 7,
      truncated: false,
      authoritative: true,
      code: 'ok',
      question: { name: 'a.test', type: 'TXT' },
      answers: [{ name: 'a.test', type: 'TXT', ttl_seconds: 300, text: 'onetwo' }],
      authorities: [],
      additionals: [],
    });
  });

  it('is rejected if a name points to itself or ahead, or a string extends past its record', () => {
    expect(decodeReply(reply(Buffer.from('\u0001x'), 24))).toBeNull();
    expect(decodeReply(reply(Buffer.from('\u0001x'), 0x3fff))).toBeNull();
    expect(decodeReply(reply(Buffer.from('\u0009x')))).toBeNull();
  });

  it('never makes the parser throw or hang, whatever it contains', () => {
    const good = reply(Buffer.from('\u0003one\u0003two'));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => void decodeReply(Buffer.from(bytes))));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 }), (changes) => {
        const bytes = Buffer.from(good);
        for (const [at, value] of changes) bytes[at] = value;
        decodeReply(bytes);
      }),
    );
  });

  it('cannot contain a query for an invalid name', () => {
    for (const name of ['', 'a..b', `${'a'.repeat(64)}.test`, 'é.test', `${'a.'.repeat(130)}test`, 'a b.test']) {
      expect(encodeQuestion(1, name, 'A', true), name).toBeNull();
    }
  });
});

describe('a name server’s address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1', 53],
    ['192.0.2.1:5353', '192.0.2.1', 5353],
    ['2001:db8::1', '2001:db8::1', 53],
    ['[2001:db8::1]:54', '2001:db8::1', 54],
  ])('is parsed from %s as %s port %d', (text, address, port) => {
    expect(readServer(text)).toEqual({ address, port });
  });

  it('must be an IP address', () => {
    expect(() => readServer('localhost:53')).toThrow('localhost:53');
  });
});
