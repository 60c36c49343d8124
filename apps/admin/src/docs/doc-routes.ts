import { AppError, httpStatus, retryAfterHeader, type Services } from '@postrider/core';
import { countRejected, docSearchBounds, Minutes, NetworkPlaces } from '@postrider/core/shares';
import { type Context, Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { html, raw } from 'hono/html';
import type { AdminEnv } from '../admin-env.ts';
import { themes } from '../pages/dashboard/built-files.ts';
import { descriptions } from './descriptions.ts';
import { allPages, type DocPage, readLibrary, readOpenApi } from './library.ts';
import { style } from './look.ts';
import { htmlOf, plainMarkdown } from './markdown.ts';
import { search } from './search.ts';
import { MAX_QUESTION } from './search-docs.ts';
import { TRY_POLICY, TRY_SCRIPT, tryPage } from './try-it.ts';

const DOCS_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/**
 * Serves the documentation offline: pages, search, and Markdown for programs. Requires no sign-in and, except for one
 * page, no scripts.
 */
export function docRoutes(services: Pick<Services, 'clock' | 'metrics'>): Hono<AdminEnv> {
  const routes = new Hono<AdminEnv>();
  const mayQuery = searchShares(services);
  // Pages are rendered on first use.
  const rendered = new Map<string, string>();
  routes.use(async (context, next) => {
    context.header('content-security-policy', DOCS_POLICY);
    await next();
  });
  routes.get('/', (context) => context.html(layout(context, 'Documentation', null, overview())));
  routes.get('/decisions', (context) => context.html(layout(context, 'Decisions', null, decisions())));
  routes.get('/search', (context) => {
    const query = (context.req.query('q') ?? '').slice(0, MAX_QUESTION);
    if (!mayQuery(context.var.address)) {
      const error = new AppError('address_rate', 'Too many searches from your network. Try again in a minute.');
      const notice = html`<h1>Too many searches</h1><p>${error.message}</p>`;
      const content = layout(context, 'Too many searches', null, notice, query);
      return context.html(content, httpStatus[error.code], retryAfterHeader(error, services.clock.now()));
    }
    return context.html(layout(context, 'Search', null, results(query), query));
  });
  routes.get('/try', (context) => {
    context.header('content-security-policy', TRY_POLICY);
    return context.html(layout(context, 'Try the API', null, tryPage(readOpenApi())));
  });
  routes.get('/try.js', (context) =>
    context.text(TRY_SCRIPT, 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
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
    const source = html`<p><small><a href="/docs/${page.name}.md">View as Markdown</a></small></p>`;
    return context.html(layout(context, page.title, page.name, html`${raw(content)}${source}`));
  });
  return routes;
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

let full_text: string | null = null;

/** Returns every page but the decisions, one after another, for a model that reads all of them. */
export function llmsFullText(): string {
  full_text ??= allPages()
    .filter((page) => !isDecision(page))
    .map(plainMarkdown)
    .join('\n\n');
  return full_text;
}

function pageNamed(name: string): DocPage | undefined {
  return allPages().find((page) => page.name === name);
}

function missing(context: Context) {
  return context.html(
    layout(
      context,
      'Page not found',
      null,
      html`<h1>Page not found</h1><p>Search or see <a href="/docs">all pages</a>.</p>`,
    ),
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

function isDecision({ name }: DocPage): boolean {
  return name.startsWith('decisions/');
}

function results(query: string) {
  const hits = search(allPages(), query);
  const list = hits.map(
    ({ page, heading, anchor, excerpt }) =>
      html`<li><p><a href="/docs/${page.name}#${anchor}">${page.title === heading ? heading : `${page.title}: ${heading}`}</a><br>${excerpt}</p></li>`,
  );
  const none = query.trim() === '' ? 'Enter a search term.' : 'No results.';
  return html`<h1>Search</h1>${hits.length > 0 ? html`<ol>${list}</ol>` : html`<p>${none}</p>`}`;
}

function layout(context: Context, title: string, current: string | null, content: ReturnType<typeof html>, query = '') {
  const cookie = getCookie(context, 'theme');
  const theme = themes.find((name) => name === cookie) ?? 'system';
  const sections = readLibrary().map(
    (shelf) =>
      html`<h2>${shelf.title}</h2><ul>${shelf.pages
        .filter((page) => !isDecision(page))
        .map(
          (page) =>
            html`<li><a href="/docs/${page.name}" ${page.name === current ? raw('aria-current="page"') : ''}>${page.title}</a></li>`,
        )}</ul>`,
  );
  return html`<!doctype html>
<html lang="en" data-theme="${theme}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Postrider</title>
<style>${raw(style)}</style></head><body><div class="layout">
<nav aria-label="Documentation"><a href="/docs"><strong>Postrider</strong></a>
<form role="search" action="/docs/search"><input type="search" name="q" value="${query}" placeholder="Search" aria-label="Search documentation"></form>${sections}</nav>
<main>${content}</main></div></body></html>`;
}
