import { expect, it } from 'vitest';
import { codesIn, linksIn } from './find-in-mail.ts';

const HALF_MEGABYTE = 512 * 1024;
const fill = (text: string) => text.repeat(Math.floor(HALF_MEGABYTE / text.length));

it('links and codes are found wherever a person would see them', () => {
  const html =
    '<head><style>a{color:#123456}</style></head><p>Your code is <b>482913</b></p><a href="https://a.test/?x=1&amp;y=2">Go</a>';

  expect(codesIn(html, null)).toEqual(['482913']);
  expect(linksIn(html, 'See https://b.test/page).')).toEqual(['https://a.test/?x=1&y=2', 'https://b.test/page']);
  expect(codesIn(null, 'Hello\n\n  731 204  \n\nBye')).toEqual([]);
  expect(codesIn(null, 'Hello\n\n731204\n\nBye')).toEqual(['731204']);
});

// Quadratic time would take minutes for each case.
it.each([
  ['a link that never ends', null, `https://a${fill(').')}a`],
  ['numbers on one line', null, fill('1234 ')],
  ['open brackets', fill('<'), null],
  ['breaks without an end', fill('<br'), null],
  ['styles without an end', fill('<style '), null],
])('text with %s is scanned in one pass', (_, html, text) => {
  expect(linksIn(html, text)).toEqual([]);
  expect(codesIn(html, text)).toEqual([]);
});
