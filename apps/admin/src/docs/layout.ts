import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { html, raw } from 'hono/html';
import { themes } from '../pages/dashboard/built-files.ts';
import { type DocPage, isDecision, readLibrary } from './library.ts';
import { style } from './look.ts';
import type { Rendered } from './markdown.ts';

interface View {
  readonly title: string;
  readonly content: ReturnType<typeof html>;
  /** The page, for its place among the others. */
  readonly page?: DocPage;
  readonly headings?: Rendered['headings'];
  readonly query?: string;
}

/** Renders a page of the documentation with its surroundings. On a phone, the list of pages follows the content. */
export function layout(context: Context, { title, content, page, headings = [], query = '' }: View) {
  const cookie = getCookie(context, 'theme');
  const theme = themes.find((name) => name === cookie) ?? 'system';
  return html`<!doctype html>
<html lang="en" data-theme="${theme}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Postrider</title>
<style>${raw(style)}</style><script src="/docs/docs.js"></script></head><body>
<header><a href="/docs"><strong>Postrider</strong> Docs</a>
<form role="search" action="/docs/search"><input type="search" name="q" value="${query}" placeholder="Search" autocomplete="off" role="combobox" aria-label="Search documentation" aria-expanded="false" aria-controls="suggestions" aria-autocomplete="list"><div id="suggestions" role="listbox" aria-label="Suggestions" hidden></div></form>
<a class="pages-link" href="#pages">All pages</a> <a href="/docs/api">API</a> <a href="/">Dashboard</a></header>
<div class="layout${page?.name.startsWith('api/') ? ' wide-page' : ''}"><main>${contentsOf(headings, true)}${content}${page ? neighbors(page) : ''}</main>
${pagesOf(page)}${contentsOf(headings, false)}</div></body></html>`;
}

/** Lists the page's sections: beside the content or, where there is no room for it, above. */
function contentsOf(headings: Rendered['headings'], is_above: boolean) {
  if (headings.length < 2) return '';
  const lines = headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`);
  return is_above
    ? html`<details class="above"><summary>On this page</summary><ul>${lines}</ul></details>`
    : html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${lines}</ul></nav>`;
}

function pagesOf(current: DocPage | undefined) {
  const sections = readLibrary().map(
    (shelf) =>
      html`<h2>${shelf.title}</h2><ul>${shelf.pages
        .filter((page) => !isDecision(page))
        .map(
          ({ name, title }) =>
            html`<li><a href="/docs/${name}" ${name === current?.name ? raw('aria-current="page"') : ''}>${title}</a></li>`,
        )}</ul>`,
  );
  return html`<nav id="pages" class="pages" aria-label="Documentation">${sections}</nav>`;
}

function neighbors(page: DocPage) {
  const pages = readLibrary()
    .flatMap((shelf) => shelf.pages)
    .filter((one) => isDecision(one) === isDecision(page));
  const index = pages.findIndex(({ name }) => name === page.name);
  const link = (label: string, one: DocPage | undefined) =>
    one ? html`<a href="/docs/${one.name}"><small>${label}</small>${one.title}</a>` : html`<span></span>`;
  return html`<nav class="neighbors" aria-label="Neighboring pages">${link('Previous', pages[index - 1])}${link('Next', pages[index + 1])}</nav>`;
}
