import { describe, expect, it } from 'vitest';
import { wireContent } from './wire-content.ts';

function wire(raw: string): string {
  const { content, ending } = wireContent(Buffer.from(raw, 'latin1'));
  return content.toString('latin1') + ending;
}

describe('the content on the wire', () => {
  it('ends with a single dot on its own line', () => {
    expect(wire('Subject: x\r\n\r\nbody\r\n')).toBe('Subject: x\r\n\r\nbody\r\n.\r\n');
    expect(wire('no line end')).toBe('no line end\r\n.\r\n');
    expect(wire('')).toBe('.\r\n');
  });

  it('doubles every dot at the start of a line, and no other dots', () => {
    expect(wire('.a\r\n.\r\n..\r\n...b.c\r\n')).toBe('..a\r\n..\r\n...\r\n....b.c\r\n.\r\n');
    expect(wire('a.\r\n\r\n.')).toBe('a.\r\n\r\n..\r\n.\r\n');
  });

  it('is not terminated early by a dot after a bare line feed', () => {
    expect(wire('a\n.\nb\n.\r\n')).toBe('a\n..\nb\n..\r\n.\r\n');
  });

  it('is decoded by a receiver to the same bytes', () => {
    const lines = ['', '.', '..', 'a', '.a', 'a.', '...'];
    for (const first of lines) {
      for (const second of lines) {
        const raw = `${first}\r\n${second}\r\n`;
        expect(wire(raw).slice(0, -3).replace(/^\./gm, '')).toBe(raw);
      }
    }
  });
});
