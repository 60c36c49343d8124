import { readFileSync } from 'node:fs';
import { AppError, httpStatus, retryAfterHeader, type Services } from '@postrider/core';
import { countRejected, docSearchBounds, Minutes, NetworkPlaces } from '@postrider/core/shares';
import { type Context, Hono } from 'hono';
import { html, raw } from 'hono/html';
import type { AdminEnv } from '../admin-env.ts';
import { descriptions } from './descriptions.ts';
import { layout } from './layout.ts';
import { allPages, type DocPage, isDecision, readLibrary, readOpenApi } from './library.ts';
import { plainMarkdown, type Rendered, renderPage } from './markdown.ts';
import { search } from './search.ts';
import { MAX_QUESTION, suggestions } from './search-docs.ts';
import { tryPage } from './try-it.ts';

const DOCS_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";
const MAX_SUGGESTIONS = 8;
const scripts = Object.fromEntries(
  ['docs.js', 'try.js'].map((name) => [name, readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8')]),
);

/** Serves the documentation offline: pages, search, and Markdown for programs. Requires no sign-in and no script. */
export function docRoutes(services: Pick<Services, 'clock' | 'metrics' | 'public_url'>): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  const mayQuery = searchShares(services);
  const waitHeader = () => retryAfterHeader(tooMany(), services.clock.now());
  // Pages are rendered on first use.
  const rendered = new Map<string, Rendered>();
  routes.use(async (context, next) => {
    context.header('content-security-policy', DOCS_POLICY);
    await next();
  });
  routes.get('/', (context) => context.html(layout(context, { title: 'Documentation', content: overview() })));
  routes.get('/decisions', (context) => context.html(layout(context, { title: 'Decisions', content: decisions() })));
  routes.get('/search.json', async (context) => {
    if (!mayQuery(context.var.address)) return context.json({ object: 'list', data: [] }, 429, waitHeader());
    const query = (context.req.query('q') ?? '').slice(0, MAX_QUESTION);
    return context.json({ object: 'list', data: await suggestions(query, MAX_SUGGESTIONS) });
  });
  routes.get('/search', async (context) => {
    const query = (context.req.query('q') ?? '').slice(0, MAX_QUESTION);
    if (!mayQuery(context.var.address)) {
      const error = tooMany();
      const notice = html`<h1>Too many searches</h1><p>${error.message}</p>`;
      const content = layout(context, { title: 'Too many searches', content: notice, query });
      return context.html(content, httpStatus[error.code], waitHeader());
    }
    return context.html(layout(context, { title: 'Search', content: await results(query), query }));
  });
  let try_page: ReturnType<typeof tryPage> | null = null;
  routes.get('/try', (context) => {
    try_page ??= tryPage(readOpenApi());
    return context.html(layout(context, { title: 'Try the API', content: try_page }));
  });
  for (const [name, script] of Object.entries(scripts))
    routes.get(`/${name}`, (context) =>
      context.text(script, 200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' }),
    );
  routes.get('/:name{.+\\.md}', (context) => {
    const page = pageNamed(context.req.param('name').slice(0, -'.md'.length));
    return page
      ? context.text(plainMarkdown(page, services.public_url), 200, { 'content-type': 'text/markdown; charset=utf-8' })
      : missing(context);
  });
  routes.get('/:name{.+}', async (context) => {
    const page = pageNamed(context.req.param('name'));
    if (!page) return missing(context);
    const { public_url } = services;
    const content = rendered.get(page.name) ?? (await renderPage(page, { pages: allPages(), public_url }));
    rendered.set(page.name, content);
    const source = html`<p><small><a href="/docs/${page.name}.md">View as Markdown</a></small></p>`;
    const { headings } = content;
    return context.html(
      layout(context, { title: page.title, content: html`${raw(content.html)}${source}`, page, headings }),
    );
  });
  return routes;
}

function tooMany(): AppError {
  return new AppError('address_rate', 'Too many searches from your network. Try again in a minute.');
}

/** Returns a function that checks whether a network may search again within the current minute. */
function searchShares({ clock, metrics }: Pick<Services, 'clock' | 'metrics'>): (address: string) => boolean {
  const places = new NetworkPlaces(docSearchBounds, countRejected(metrics, 'docs_searches'));
  const minutes = new Minutes();
  return (address) => {
    if (minutes.turn(clock.now())) places.reset();
    return places.take(address);
  };
}

/** Returns the list of all pages in the llms.txt format for language models (https://llmstxt.org). */
export function llmsText(public_url: string): string {
  const lists = readLibrary().map(({ title, pages }) =>
    [
      `## ${title}`,
      '',
      ...pages.map((page) => {
        const description = descriptions[page.name];
        return `- [${page.title}](${public_url}/docs/${page.name}.md)${description ? `: ${description}` : ''}`;
      }),
    ].join('\n'),
  );
  return [
    '# Postrider',
    '> Self-hosted transactional email: a REST API at /v1, webhooks, domains, email logs, and GraphQL at /graphql for internal tools.',
    `Every page is available as Markdown at the URLs below. OpenAPI 3.1 document:  ${public_url}/v1/openapi.json`,
    ...lists,
    '',
  ].join('\n\n');
}

/** Returns every page but the decisions, one after another, for a model that reads all of them. */
export function llmsFullText(public_url: string): string {
  return allPages()
    .filter((page) => !isDecision(page))
    .map((page) => plainMarkdown(page, public_url))
    .join('\n\n');
}

function pageNamed(name: string): DocPage | undefined {
  return allPages().find((page) => page.name === name);
}

function missing(context: Context) {
  return context.html(
    layout(context, {
      title: 'Page not found',
      content: html`<h1>Page not found</h1><p>Search or see <a href="/docs">all pages</a>.</p>`,
    }),
    404,
  );
}

function overview() {
  const sections = readLibrary().map(({ title, pages }) => {
    const lines = pages
      .filter((page) => !isDecision(page))
      .map((page) => html`<li><a href="/docs/${page.name}">${page.title}</a>: ${descriptions[page.name]}</li>`);
    const more = pages.some(isDecision)
      ? html`<li><a href="/docs/decisions">Decisions</a>: Design decisions, one page each.</li>`
      : '';
    return html`<h2>${title}</h2><ul>${lines}${more}</ul>`;
  });
  return html`<h1>Documentation</h1>${sections}<p>For tools: <a href="/llms.txt">llms.txt</a> lists every page as Markdown, and <a href="/v1/openapi.json">openapi.json</a> describes the API.</p>`;
}

function decisions() {
  const lines = allPages()
    .filter(isDecision)
    .map(({ name, title }) => html`<li><a href="/docs/${name}">${title}</a></li>`);
  return html`<h1>Decisions</h1><ul>${lines}</ul>`;
}

async function results(query: string) {
  const hits = await search(allPages(), query);
  const list = hits.map(
    ({ page, heading, anchor, excerpt }) =>
      html`<li><p><a href="/docs/${page.name}#${anchor}">${page.title === heading ? heading : `${page.title}: ${heading}`}</a><br>${excerpt}</p></li>`,
  );
  const none = query.trim() === '' ? 'Enter a search term.' : 'No results.';
  return html`<h1>Search</h1>${hits.length > 0 ? html`<ol>${list}</ol>` : html`<p>${none}</p>`}`;
}
