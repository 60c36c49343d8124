import { codeOf, type Reason, reasons } from '@postrider/core';
import { Hono } from 'hono';
import { html } from 'hono/html';
import { page } from './page.ts';

/** A page per error reason, which docs_url of an error links to. */
export function errorRoutes(): Hono {
  const routes = new Hono();
  const known = Object.keys(reasons) as Reason[];
  routes.get('/', (context) =>
    context.html(
      page(
        'Errors',
        html`<ul>${known.map((reason) => html`<li><a href="/errors/${reason}">${reason}</a>: ${reasons[reason][1]}</li>`)}</ul>`,
      ),
    ),
  );
  routes.get('/:reason', (context) => {
    const reason = known.find((name) => name === context.req.param('reason'));
    if (!reason)
      return context.html(page('Errors', html`<p>There is no such reason. <a href="/errors">All reasons</a></p>`), 404);
    return context.html(
      page(
        reason,
        html`<p>Code: ${codeOf(reason)}</p><p>${reasons[reason][1]}</p><p><a href="/errors">All reasons</a></p>`,
      ),
    );
  });
  return routes;
}
