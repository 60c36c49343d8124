import { posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { anchorOf } from './anchor.ts';
import { languages, loadHighlighter } from './highlight.ts';
import type { DocPage } from './library.ts';

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);

/**
 * Returns the URL of a link. Replaces the path of a file with the URL of its documentation page; returns null if the
 * file has no page.
 */
function addressOf(page: DocPage, href: string, pages: readonly DocPage[]): string | null {
  if (/^(?:https?:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(page.file), path);
  const target = pages.find((one) => one.file === file || one.file === `${file.replace(/\/$/, '')}/README.md`);
  if (!target) return null;
  return `/docs/${target.name}${anchor ? `#${anchor}` : ''}`;
}

export interface Rendered {
  readonly html: string;
  readonly headings: readonly { readonly id: string; readonly text: string }[];
}

/** The URL that the Markdown has in its samples, which the instance replaces with its own. */
const SAMPLE_URL = 'http://localhost:3000';
/** Languages in which the same request is shown side by side. */
const alternatives = new Set(['sh', 'ts', 'python', 'go', 'php']);

/** Renders a page as HTML. The output is not sanitized because we write the pages ourselves. */
export async function renderPage(
  page: DocPage,
  { pages, public_url }: { readonly pages: readonly DocPage[]; readonly public_url: string },
): Promise<Rendered> {
  const highlighter = await loadHighlighter();
  const headings: { id: string; text: string }[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchorOf(text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
        if (depth === 2) headings.push({ id, text: text.replaceAll('`', '') });
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${escaped(id)}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        if (href.startsWith('mailto:')) return text;
        const address = addressOf(page, href, pages);
        return address === null ? text : `<a href="${escaped(address)}">${text}</a>`;
      },
      code({ text, lang = '' }: Tokens.Code) {
        const [language = ''] = lang.split(' ');
        const sample = text.replaceAll(SAMPLE_URL, public_url);
        const name = languages[language];
        const code = name === undefined ? escaped(sample) : highlighter.highlight(sample, { language }).value;
        const label = name === undefined ? '' : `<figcaption>${name}</figcaption>`;
        // Focusable so that wide samples can be scrolled with the keyboard.
        return `<figure data-language="${escaped(language)}">${label}<pre tabindex="0"><code>${code}</code></pre></figure>\n`;
      },
      // These pages load no images, so a screenshot is replaced by its alternative text.
      image: ({ text }: Tokens.Image) => `<em>${escaped(text)}</em>`,
      // HTML comments mark generated sections.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (text.startsWith('<!--') ? '' : text),
    },
  });
  const html = marked
    .parser(grouped(marked.lexer(page.markdown)))
    // A column without a name has no header.
    .replaceAll(/<th[^>]*><\/th>/g, '<td></td>')
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
  return { html, headings };
}

/** Puts samples of different languages that follow each other directly into one group with tabs. */
function grouped(tokens: readonly Token[]): Token[] {
  const output: Token[] = [];
  let group: Tokens.Code[] = [];
  const close = () => {
    output.push(...(group.length > 1 ? [opening(group), ...group, htmlToken('</div>')] : group));
    group = [];
  };
  for (const token of tokens) {
    if (token.type === 'space') continue;
    const is_alternative =
      token.type === 'code' &&
      alternatives.has(languageOf(token as Tokens.Code)) &&
      !group.some((one) => languageOf(one) === languageOf(token as Tokens.Code));
    if (!is_alternative) close();
    if (is_alternative) group.push(token as Tokens.Code);
    else output.push(token);
  }
  close();
  return output;
}

function languageOf({ lang = '' }: Tokens.Code): string {
  return lang.split(' ', 1)[0] ?? '';
}

function opening(group: readonly Tokens.Code[]): Token {
  const buttons = group.map((token) => {
    const language = languageOf(token);
    return `<button type="button" data-language="${language}">${languages[language]}</button>`;
  });
  return htmlToken(
    `<div class="tabs"><div class="choices" role="group" aria-label="Language">${buttons.join('')}</div>`,
  );
}

function htmlToken(text: string): Token {
  return { type: 'html', raw: text, text, block: true, pre: false };
}

/** Returns a page's Markdown for programs, without the annotations that only the sample tests read. */
export function plainMarkdown(page: DocPage, public_url = SAMPLE_URL): string {
  return page.markdown
    .replaceAll(SAMPLE_URL, public_url)
    .replace(/^```(\w+) [^\n]+$/gm, '```$1')
    .replace(/^<(?:!--.*--|\/?(?:div|details).*)>\n\n?/gm, '');
}
