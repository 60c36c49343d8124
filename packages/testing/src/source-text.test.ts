import { describe, expect, it } from 'vitest';
import { readSource } from './source-text.ts';

/** The samples write #{} for a placeholder, because a real one in a plain string looks like a mistake. */
const real = (sample: string) => sample.replaceAll('#{', '${');

describe('the source text parser', () => {
  it('separates code, strings and comments, and preserves every index', () => {
    const text = real("const a = 'it\\'s'; // don't\nb(/* c */ `x#{f({ y: 'z' })}w`);");

    const { bare, code, comments, strings } = readSource(text);

    expect(bare).toBe(real("const a = '     ';         \nb(        ` #{f({ y: ' ' })} `);"));
    expect(code).toBe(real("const a = 'it\\'s';         \nb(        `x#{f({ y: 'z' })}w`);"));
    expect(strings.trim().split(/\s+/)).toEqual(["it\\'s", 'x', 'z', 'w']);
    expect(strings).toHaveLength(text.length);
    expect(comments.trim().split(/\s{2,}/)).toEqual(["// don't", '/* c */']);
  });

  it('distinguishes a regular expression from a division', () => {
    expect(readSource('return /[\'"`/]/.test(a / b); // c / d').bare).toBe('return /      /.test(a / b);         ');
    expect(readSource('x.replace(/[/`]/g, y)').bare).toBe('x.replace(/    /g, y)');
  });

  it('ends an unterminated string at the end of its line', () => {
    expect(readSource("<p>don't</p>\nDate.now()").bare).toContain('Date.now()');
  });

  it('parses a template inside a template', () => {
    const { bare } = readSource(real('`a#{b ? `c#{d}` : e}f` + g'));

    expect(bare).toBe(real('` #{b ? ` #{d}` : e} ` + g'));
  });
});
