import type { Outputs } from '../../../api/trpc.ts';
import { bytes } from '../../../parts/sizes.ts';
import { words } from './strings.ts';

type EmailContent = Outputs['emails']['content'];

export interface ContentCheck {
  readonly name: keyof typeof words.checks.names;
  readonly state: keyof typeof words.checks.states;
  readonly detail: string;
}

/** Gmail cuts off HTML above this size. */
const MAX_HTML_BYTES = 102_000;
const MAX_SUBJECT = 78;
const MAX_EXAMPLES = 5;
const BLOCKS = 'address, blockquote, br, caption, dd, div, dt, h1, h2, h3, h4, h5, h6, hr, li, p, pre, section, td, th';
const WORD = /[\p{L}\p{N}]{2,}/gu;

/** Checks the content of an email for what readers and filters trip over. Nothing is fetched. */
export function checkContent(content: EmailContent, subject: string): readonly ContentCheck[] {
  const page = content.html === null ? null : new DOMParser().parseFromString(content.html, 'text/html');
  const text = words.checks;
  const skipped = (name: ContentCheck['name']): ContentCheck => ({ name, state: 'skipped', detail: text.htmlMissing });
  return [
    content.text === null
      ? { name: 'text_part', state: 'warning', detail: text.textMissing }
      : { name: 'text_part', state: 'ok', detail: bytes(sizeOf(content.text)) },
    page && content.text !== null ? sameWords(page, content.text) : skipped('same_words'),
    content.html === null
      ? skipped('size')
      : {
          name: 'size',
          state: sizeOf(content.html) > MAX_HTML_BYTES ? 'warning' : 'ok',
          detail: text.size(bytes(sizeOf(content.html))),
        },
    page ? linksOf(page) : skipped('links'),
    page ? imagesOf(page) : skipped('images'),
    unsubscribeOf(content.headers),
    subject === ''
      ? { name: 'subject', state: 'warning', detail: text.noSubject }
      : subject.length > MAX_SUBJECT
        ? { name: 'subject', state: 'warning', detail: text.longSubject(subject.length) }
        : { name: 'subject', state: 'ok', detail: text.subject(subject.length) },
  ];
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(WORD) ?? []);
}

/** Compares the words that a reader of each part sees. */
function sameWords(page: Document, text: string): ContentCheck {
  for (const element of page.querySelectorAll('style, script, title')) element.remove();
  // A heading and the paragraph after it would otherwise share a word.
  for (const element of page.querySelectorAll(BLOCKS)) {
    element.before(' ');
    element.append(' ');
  }
  const text_words = wordsOf(text);
  const missing = [...wordsOf(page.body.textContent)].filter((word) => !text_words.has(word));
  if (missing.length === 0) return { name: 'same_words', state: 'ok', detail: words.checks.same };
  const examples = missing.slice(0, MAX_EXAMPLES).join(', ');
  return { name: 'same_words', state: 'warning', detail: words.checks.missing(missing.length, examples) };
}

function linksOf(page: Document): ContentCheck {
  const links = [...page.querySelectorAll('a[href]')].map((link) => link.getAttribute('href') ?? '');
  const web = links.filter((link) => /^https?:/i.test(link));
  const insecure = web.filter((link) => /^http:/i.test(link));
  if (insecure.length > 0) {
    const detail = words.checks.insecure(insecure.slice(0, MAX_EXAMPLES).join(', '));
    return { name: 'links', state: 'warning', detail };
  }
  return {
    name: 'links',
    state: 'ok',
    detail: web.length === 0 ? words.checks.noLinks : words.checks.secure(web.length),
  };
}

function imagesOf(page: Document): ContentCheck {
  const images = [...page.querySelectorAll('img')];
  const bare = images.filter((image) => !image.hasAttribute('alt')).length;
  if (bare > 0) return { name: 'images', state: 'warning', detail: words.checks.undescribed(bare) };
  return { name: 'images', state: 'ok', detail: images.length === 0 ? words.checks.noImages : words.checks.described };
}

function unsubscribeOf(headers: Readonly<Record<string, string>>): ContentCheck {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const is_set = names.includes('list-unsubscribe') && names.includes('list-unsubscribe-post');
  return {
    name: 'unsubscribe',
    state: is_set ? 'ok' : 'skipped',
    detail: is_set ? words.checks.unsubscribe : words.checks.noUnsubscribe,
  };
}
