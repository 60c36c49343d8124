import { html } from 'hono/html';
import type { OpenApi, Schema } from './reference/document.ts';

/** Most readers haven't verified a domain yet. */
const EXAMPLE_SENDER = 'Engine News <news@example.com>';
const SANDBOX_SENDER = 'Engine News <hello@sandbox.test>';

interface Example {
  readonly name: string;
  /** A sample request body, or empty if the operation has none. */
  readonly body: string;
}

/** Returns every API operation, for the page's list. */
function operationsOf(document: OpenApi): Example[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => {
      const schema = requestBody?.content?.['application/json'].schema;
      const body = schema
        ? JSON.stringify(exampleOf(document, schema), null, 2).replaceAll(EXAMPLE_SENDER, SANDBOX_SENDER)
        : '';
      return { name: `${method.toUpperCase()} ${path}`, body };
    }),
  );
}

/** Returns a schema's example or, if it has none, its required fields with placeholders. */
function exampleOf(document: OpenApi, schema: Schema): unknown {
  const type_name = schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1);
  const target = type_name === undefined ? schema : document.components.schemas[type_name];
  if (!target) return {};
  if (target.examples?.[0] !== undefined) return target.examples[0];
  if (target.anyOf?.[0]) return exampleOf(document, target.anyOf[0]);
  if (target.items) return [exampleOf(document, target.items)];
  const { properties = {}, required = [] } = target;
  return Object.fromEntries(required.map((name) => [name, properties[name]?.examples?.[0] ?? '']));
}

/** Renders a page that sends requests to /v1 as the signed-in user. */
export function tryPage(document: OpenApi) {
  const options = operationsOf(document).map(
    ({ name, body }) => html`<option data-body="${body}" value="${name}">${name}</option>`,
  );
  return html`<h1>Try the API</h1>
<p>Requests go to <code>/v1</code>, with the permissions of your session or of an API key. They are real: append
<code>?dry_run=true</code> to the path to only check an email. The example sends from <code>sandbox.test</code>, which
works while email is captured and with sandbox keys; otherwise, use a domain that you've verified.</p>
<form id="try"><p id="sign-in" hidden><a href="/login?next=%2Fdocs%2Ftry">Sign in</a>, or enter a key.</p>
<p id="workspaces" hidden><label>Workspace<br><select id="workspace"></select></label></p>
<p><label>API key, in place of your session<br><input id="key" type="password" size="60" autocomplete="off" spellcheck="false"></label></p>
<p><label>Operation<br><select id="operation">${options}</select></label></p>
<p><label>Path and filters, with ids in the place of {…}<br><input id="path" size="60" spellcheck="false"></label></p>
<p><label>Body<br><textarea id="body" rows="14" cols="72" spellcheck="false"></textarea></label></p>
<p><button>Send</button></p></form>
<pre id="answer" aria-live="polite"></pre>
<script src="/docs/try.js"></script>`;
}
