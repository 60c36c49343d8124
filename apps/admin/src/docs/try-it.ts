import { html } from 'hono/html';
import { type OpenApi, operationsOf } from './reference/document.ts';

/** Renders a page that sends requests to /v1 as the signed-in user. */
export function tryPage(document: OpenApi) {
  const options = operationsOf(document).map(({ name, requestBody }) => {
    const example = requestBody?.content?.['application/json'].example;
    const body = requestBody ? JSON.stringify(example ?? {}, null, 2) : '';
    return html`<option data-body="${body}" value="${name}">${name}</option>`;
  });
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
