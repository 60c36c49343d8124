import { describe, expect, it } from 'vitest';
import { csvOf } from './csv.ts';

describe('a spreadsheet file', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('neutralizes the formula in cell %j', (text) => {
    const [, row = ''] = csvOf(['tag'], [[text]]).split(/(?<=^tag\r\n)/);

    expect(row.replace(/^"/, '')).toMatch(/^'/);
  });

  it('quotes separators, and leaves numbers unchanged', () => {
    expect(
      csvOf(
        ['tag', 'count'],
        [
          ['a "b", c', -3],
          ['plain', null],
        ],
      ),
    ).toBe('tag,count\r\n"a ""b"", c",-3\r\nplain,\r\n');
  });
});
