import { describe, expect, it } from 'vitest';
import { readReply, replyLine } from './reply.ts';

describe('readReply', () => {
  it.each([
    ['250 2.0.0 Ok: queued as 4F', { code: 250, enhanced: '2.0.0', text: 'Ok: queued as 4F' }],
    ['250', { code: 250, enhanced: null, text: '' }],
    ['550 no such user', { code: 550, enhanced: null, text: 'no such user' }],
    [
      '550-5.1.1 The account\r\n550-5.1.1 does not\n550 5.1.1 exist',
      { code: 550, enhanced: '5.1.1', text: 'The account does not exist' },
    ],
    ['452 4.2.2', { code: 452, enhanced: '4.2.2', text: '' }],
    ['421 10.0.0.1 is busy', { code: 421, enhanced: null, text: '10.0.0.1 is busy' }],
    ['550 5.7.1\u0000\u001b[31m<script>\tx', { code: 550, enhanced: null, text: '5.7.1 [31m<script> x' }],
  ])('parses %j', (received, reply) => {
    expect(readReply(received)).toEqual(reply);
  });

  it.each(['', 'garbage', '99 x', '250x', '1000 x', '\u0000\u0000'])('finds no reply in %j', (received) => {
    expect(readReply(received)).toBeNull();
  });

  it('truncates a long reply to 1 kB at a character boundary', () => {
    const reply = readReply(`550 ${'ü'.repeat(3_000_000)}`);

    expect(Buffer.byteLength(reply?.text ?? '')).toBe(1024);
    expect(reply?.text).toMatch(/^ü+$/);
  });

  it('returns the reply as a single line', () => {
    expect(replyLine({ code: 550, enhanced: '5.1.1', text: 'gone' })).toBe('550 5.1.1 gone');
    expect(replyLine({ code: 250, enhanced: null, text: '' })).toBe('250');
  });
});
