import { type Context, Hono } from 'hono';
import { html, raw } from 'hono/html';
import { allPages, type DocPage, readLibrary } from './library.ts';
import { htmlOf, plainMarkdown } from './markdown.ts';
import { search } from './search.ts';

const DOCS_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

const style = `
  :root { color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }
  body { margin: 0; }
  .layout { display: grid; grid-template-columns: 15rem minmax(0, 48rem); gap: 3rem; max-width: 68rem; margin: 0 auto; padding: 1.5rem; }
  nav h2 { font-size: .85rem; margin: 1.2rem 0 .3rem; opacity: .7; }
  nav ul { list-style: none; margin: 0; padding: 0; }
  nav a { display: block; padding: .15rem 0; text-decoration: none; }
  nav a[aria-current] { font-weight: 600; }
  h1 { margin-top: 0; line-height: 1.2; } h2 { margin-top: 2.2rem; } h3 { margin-top: 1.8rem; }
  .anchor { opacity: 0; text-decoration: none; } :is(h1, h2, h3, h4):hover .anchor, .anchor:focus { opacity: .6; }
  code { font: .9em/1.5 ui-monospace, monospace; background: #8881; padding: .1em .25em; border-radius: 3px; overflow-wrap: anywhere; }
  figure { margin: 1rem 0; position: relative; } pre { overflow-x: auto; border: 1px solid #8884; border-radius: 6px; padding: .8rem 1rem; margin: 0; }
  pre code { background: none; padding: 0; overflow-wrap: normal; }
  .language { position: absolute; right: .6rem; top: .3rem; font-size: .75rem; opacity: .6; }
  .wide { overflow-x: auto; } table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid #8884; }
  input { font: inherit; width: 100%; box-sizing: border-box; padding: .3rem .5rem; }
  @media (max-width: 50rem) { .layout { grid-template-columns: minmax(0, 1fr); gap: 1rem; } nav details:not([open]) { margin-bottom: 0; } }
`;

/** The documentation, offline: pages, search, and the same for programs. It needs no sign-in and runs no script. */
export function docRoutes(): Hono {
  const routes = new Hono();
  // Each is rendered when it is first asked for.
  const rendered = new Map<string, string>();
  routes.use(async (context, next) => {
    context.header('content-security-policy', DOCS_POLICY);
    await next();
  });
  routes.get('/', (context) => context.html(layout('Documentation', null, overview())));
  routes.get('/search', (context) => {
    const question = context.req.query('q') ?? '';
    return context.html(layout('Search', null, results(question), question));
  });
  routes.get('/:name{.+\\.md}', (context) => {
    const page = pageNamed(context.req.param('name').slice(0, -'.md'.length));
    return page
      ? context.text(plainMarkdown(page), 200, { 'content-type': 'text/markdown; charset=utf-8' })
      : missing(context);
  });
  routes.get('/:name{.+}', (context) => {
    const page = pageNamed(context.req.param('name'));
    if (!page) return missing(context);
    const content = rendered.get(page.name) ?? htmlOf(page, allPages());
    rendered.set(page.name, content);
    const source = html`<p><small><a href="/docs/${page.name}.md">This page as Markdown</a></small></p>`;
    return context.html(layout(page.title, page.name, html`${raw(content)}${source}`));
  });
  return routes;
}

/** What there is, for programs that read: https://llmstxt.org. */
export function llmsText(public_url: string): string {
  const lists = readLibrary().map(({ title, pages }) =>
    [
      `## ${title}`,
      '',
      ...pages.map((page) => `- [${page.title}](${public_url}/docs/${page.name}.md): ${firstSentence(page)}`),
    ].join('\n'),
  );
  return [
    '# Postrider',
    '> Transactional email that you host yourself: a REST API under /v1, webhooks, domains, a log of every mail, and GraphQL at /graphql for internal tools.',
    `Every page is Markdown at the address below. The API as an OpenAPI 3.1 document: ${public_url}/v1/openapi.json`,
    ...lists,
    '',
  ].join('\n\n');
}

function pageNamed(name: string): DocPage | undefined {
  return allPages().find((page) => page.name === name);
}

function missing(context: Context) {
  return context.html(
    layout('No such page', null, html`<h1>No such page</h1><p>Search, or see <a href="/docs">all pages</a>.</p>`),
    404,
  );
}

/** The first sentence below the title, without its links. */
function firstSentence(page: DocPage): string {
  const paragraph =
    plainMarkdown(page)
      .split(/\n\n+/)
      .find((part) => !/^[#<|`!-]/.test(part)) ?? '';
  const text = paragraph.replace(/\s+/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

function overview() {
  return html`<h1>Documentation</h1>${readLibrary().map(
    ({ title, pages }) =>
      html`<h2>${title}</h2><ul>${pages.map((page) => html`<li><a href="/docs/${page.name}">${page.title}</a>: ${firstSentence(page)}</li>`)}</ul>`,
  )}<p>For programs: <a href="/llms.txt">llms.txt</a> lists every page as Markdown, and <a href="/v1/openapi.json">openapi.json</a> describes the API.</p>`;
}

function results(question: string) {
  const hits = search(allPages(), question);
  const list = hits.map(
    ({ page, heading, anchor, excerpt }) =>
      html`<li><p><a href="/docs/${page.name}#${anchor}">${page.title === heading ? heading : `${page.title}: ${heading}`}</a><br>${excerpt}</p></li>`,
  );
  const none = question.trim() === '' ? 'Type what you look for.' : 'No section holds all of these words.';
  return html`<h1>Search</h1>${hits.length > 0 ? html`<ol>${list}</ol>` : html`<p>${none}</p>`}`;
}

function layout(title: string, current: string | null, content: ReturnType<typeof html>, question = '') {
  const shelves = readLibrary().map(
    (shelf) =>
      html`<h2>${shelf.title}</h2><ul>${shelf.pages
        .filter(({ name }) => !name.startsWith('decisions/'))
        .map(
          (page) =>
            html`<li><a href="/docs/${page.name}" ${page.name === current ? raw('aria-current="page"') : ''}>${page.title}</a></li>`,
        )}</ul>`,
  );
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Postrider</title>
<style>${raw(style)}</style></head><body><div class="layout">
<nav aria-label="Documentation"><a href="/docs"><strong>Postrider</strong></a>
<form role="search" action="/docs/search"><input type="search" name="q" value="${question}" placeholder="Search" aria-label="Search the documentation"></form>${shelves}</nav>
<main>${content}</main></div></body></html>`;
}
