import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import type { DocPage } from './library.ts';

/** Returns the anchor of a heading, generated as code hosts do so that the same links work there and here. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char] ?? char);

/**
 * Returns the URL of a link. Replaces the path of a file with the URL of its documentation page; returns null if the
 * file has no page.
 */
function addressOf(page: DocPage, href: string, pages: readonly DocPage[]): string | null {
  if (/^(?:https?:|mailto:|#|\/)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const file = posix.join(posix.dirname(page.file), path);
  const target = pages.find((one) => one.file === file || one.file === `${file.replace(/\/$/, '')}/README.md`);
  if (!target) return null;
  return `/docs/${target.name}${anchor ? `#${anchor}` : ''}`;
}

/** Renders a page as HTML. The output is not sanitized because we write the pages ourselves. */
export function htmlOf(page: DocPage, pages: readonly DocPage[]): string {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchorOf(text);
        return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${escaped(id)}" aria-label="Link to this section">#</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(page, href, pages);
        return address === null ? text : `<a href="${escaped(address)}">${text}</a>`;
      },
      code({ text, lang = '' }: Tokens.Code) {
        const [language = ''] = lang.split(' ');
        const name = language === '' || language === 'text' ? '' : `<span class="language">${escaped(language)}</span>`;
        // Focusable so that wide samples can be scrolled with the keyboard.
        return `<figure>${name}<pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`;
      },
      // These pages load no resources, so a screenshot is replaced by its alternative text.
      image: ({ text }: Tokens.Image) => `<em>${escaped(text)}</em>`,
      // HTML comments mark generated sections.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (text.startsWith('<!--') ? '' : text),
    },
  });
  return marked
    .parse(page.markdown, { async: false })
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** Returns a page's Markdown for programs, without the annotations that only the sample tests read. */
export function plainMarkdown(page: DocPage): string {
  return page.markdown.replace(/^```(\w+) [^\n]+$/gm, '```$1').replace(/^<!--.*-->\n\n?/gm, '');
}
