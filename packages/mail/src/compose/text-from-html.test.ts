import { describe, expect, it } from 'vitest';
import { textFromHtml } from './text-from-html.ts';

describe('textFromHtml', () => {
  it('keeps paragraphs, lists and link targets, and drops styles and scripts', () => {
    const text = textFromHtml(
      '<style>p{color:red}</style><h1>Hello</h1><p>Press <a href="https://good.test/x">here</a> &amp; wait.</p>' +
        '<ul><li>one</li><li>two</li></ul><img src="x"><script>alert(1)</script>',
    );

    expect(text).toBe('Hello\n\nPress here <https://good.test/x> & wait.\n\n * one\n * two');
  });

  it('returns the same text each time', () => {
    const html = '<table><tr><td>a</td><td>b</td></tr></table>'.repeat(5);

    expect(textFromHtml(html)).toBe(textFromHtml(html));
  });

  it.each([
    ['nested', '<div>'.repeat(400_000)],
    ['nested quotes', `${'<blockquote>'.repeat(100_000)}x`],
    ['nested tables', `${'<table><tr><td>'.repeat(50_000)}x`],
    ['siblings', '<p>x'.repeat(400_000)],
    ['unclosed tags', '<a href="'.repeat(200_000)],
    ['open angle brackets', '<'.repeat(2_000_000)],
    ['comments', '<!--'.repeat(500_000)],
    ['one endless word', 'x'.repeat(5_000_000)],
    ['entities', '&amp'.repeat(500_000)],
    ['list items', '<ol><li>'.repeat(200_000)],
    ['white space', ' \n'.repeat(2_000_000)],
  ])('parses only the beginning of hostile HTML: %s', (_, html) => {
    expect(textFromHtml(html).length).toBeLessThan(1_000_000);
  });
});
