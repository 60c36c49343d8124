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

  it.each([
    [
      'numbers and nests lists',
      '<ol><li>one<ul><li>a<li>b</ul></li><li>two</ol>',
      ' 1. one\n     * a\n     * b\n 2. two',
    ],
    ['marks quotations', '<blockquote>one<br>two<p>three</blockquote>four', '> one\n> two\n>\n> three\n\nfour'],
    ['keeps the lines of preformatted text', '<pre>a  b\n  c</pre>d', 'a  b\n  c\n\nd'],
    [
      'keeps marked words on the line of preformatted text',
      '<pre>\n- <b>a</b> b\n\n+ c &amp; d\n</pre>e',
      '- a b\n\n+ c & d\n\ne',
    ],
    ['reads a drawing without an end, and what stands in for scripts', 'a<svg/>b<noscript>c</noscript>', 'abc'],
    ['reads quoted values after a space', '<p title = "a > b">c', 'c'],
    ['leaves one blank line at most', 'a<br><br><br><p></p><div><p>b</p></div>', 'a\n\nb'],
    ['collapses white space across elements', ' a <b> b</b>\n\tc&nbsp; d', 'a b c\u00a0 d'],
    ['joins what only inline elements part', 'Ex<b>ample</b>', 'Example'],
    ['separates the cells and rows of a table', '<table><tr><td>a<td>b</tr><tr><td>c</table>', 'a b\nc'],
    ['draws a rule', 'a<hr>b', `a\n\n${'-'.repeat(40)}\n\nb`],
    [
      'shows a target once',
      '<a href="https://a.test">https://a.test</a> <a href="mailto:b@a.test">b@a.test</a>',
      'https://a.test b@a.test',
    ],
    ['leaves out targets inside the email', '<a href="#top">top</a> <a name="x">y</a>', 'top y'],
    [
      'reads unquoted and encoded targets',
      "<a href=https://a.test/?a=1&amp;b=2>x</a> <A HREF='/y z'>y</A>",
      'x <https://a.test/?a=1&b=2> y </y%20z>',
    ],
    ['reads quoted angle brackets', '<p title="a > b" data-x=\'<p>\'>c', 'c'],
    ['skips comments, also those for Outlook', 'a<!--[if mso]><p>b</p><![endif]--><!-->c--><!doctype html>d', 'ad'],
    ['keeps angle brackets that begin no tag', '1 < 2 <3', '1 < 2 <3'],
    ['ends where a tag is never closed', 'a<p class="b', 'a'],
    ['ignores closing tags without an opening one', '</li></blockquote></a>a', 'a'],
  ])('%s', (_, html, text) => {
    expect(textFromHtml(html)).toBe(text);
  });

  it('wraps at 78 characters, inside of an indent too, and leaves longer words whole', () => {
    const lines = textFromHtml(
      `<p>${'word '.repeat(40)}</p><ul><li>${'word '.repeat(40)}</ul>${'x'.repeat(90)} y`,
    ).split('\n');

    expect(lines.slice(0, -2).every((line) => line.length <= 78)).toBe(true);
    expect(lines.slice(-2)).toEqual(['x'.repeat(90), 'y']);
    expect(lines.join(' ').match(/word/g)).toHaveLength(80);
    expect(lines.filter((line) => line.startsWith('   word'))).toHaveLength(2);
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
    ['unclosed quotes', '<a href="x\'>'.repeat(200_000)],
    ['scripts without an end', '<script>'.repeat(200_000)],
    ['scripts with half an end', '<style></style'.repeat(200_000)],
    ['closing tags', '</ul>'.repeat(400_000)],
    ['nested links', '<a href=x>'.repeat(200_000)],
    ['comments', '<!--'.repeat(500_000)],
    ['one endless word', 'x'.repeat(5_000_000)],
    ['entities', '&amp'.repeat(500_000)],
    ['list items', '<ol><li>'.repeat(200_000)],
    ['white space', ' \n'.repeat(2_000_000)],
  ])('parses only the beginning of hostile HTML: %s', (_, html) => {
    expect(textFromHtml(html).length).toBeLessThan(1_000_000);
  });
});
