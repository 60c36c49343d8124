import { advice, codeOf, httpStatus, type Reason, reasons } from '@postrider/core';
import { Hono } from 'hono';
import { html } from 'hono/html';
import { page } from './page.ts';

/** Serves a page for each error reason, which an error's docs_url links to. */
export function errorRoutes(public_url: string): Hono {
  const routes = new Hono();
  const known = Object.keys(reasons) as Reason[];
  routes.get('/', (context) =>
    context.html(
      page(
        'Errors',
        html`<p><a href="/docs/errors">How errors are answered</a></p>
        <ul>${known.map((reason) => html`<li><a href="/errors/${reason}">${reason}</a>: ${reasons[reason][1]}</li>`)}</ul>`,
      ),
    ),
  );
  routes.get('/:reason', (context) => {
    const reason = known.find((name) => name === context.req.param('reason'));
    if (!reason)
      return context.html(page('Errors', html`<p>Unknown reason. See <a href="/errors">all reasons</a>.</p>`), 404);
    return context.html(reasonPage(reason, public_url));
  });
  return routes;
}

function reasonPage(reason: Reason, public_url: string) {
  const code = codeOf(reason);
  const [, meaning] = reasons[reason];
  const example = {
    error: {
      code,
      reason,
      message: meaning,
      request_id: 'req_01m7yakk5cmczahnwb48cs34mv',
      docs_url: `${public_url}/errors/${reason}`,
    },
  };
  return page(
    reason,
    html`<p>Code: ${code}, HTTP ${httpStatus[code]}</p>
    <h2>What it means</h2><p>${meaning}</p>
    <h2>What to do</h2><p>${withCodeSpans(advice[reason])}</p>
    <h2>An answer</h2><p>The message of a real answer says more, and details names every bad field.</p>
    <pre>${JSON.stringify(example, null, 2)}</pre>
    <p><a href="/docs/search?q=${reason}">Find it in the documentation</a> · <a href="/errors">All reasons</a></p>`,
  );
}

/** Renders text, formatting the parts between backticks as code. */
function withCodeSpans(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
