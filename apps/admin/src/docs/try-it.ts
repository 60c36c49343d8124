import { html } from 'hono/html';
import type { OpenApi, Schema } from './reference.ts';

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
      const body = schema ? JSON.stringify(exampleOf(document, schema), null, 2) : '';
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
<p>Requests go to <code>/v1</code> with the permissions of your session: <a href="/login?next=%2Fdocs%2Ftry">sign in</a> first. Without a verified domain, send from <code>hello@sandbox.test</code>.
They are real, as if sent with an API key. Append <code>?dry_run=true</code> to the path to only check an email.</p>
<form id="try"><p><label>Workspace<br><select id="workspace"></select></label></p>
<p><label>Operation<br><select id="operation">${options}</select></label></p>
<p><label>Path and filters, with ids in the place of {…}<br><input id="path" size="60" spellcheck="false"></label></p>
<p><label>Body<br><textarea id="body" rows="14" cols="72" spellcheck="false"></textarea></label></p>
<p><button>Send</button></p></form>
<pre id="answer" aria-live="polite"></pre>
<script src="/docs/try.js"></script>`;
}

/** The page's script. Requests a new token for the selected workspace before each call. */
export const TRY_SCRIPT = `(() => {
  const at = (id) => document.getElementById(id);
  const workspaces = async () => {
    const answer = await fetch('/trpc/people.me?input=%7B%7D');
    if (!answer.ok) return;
    const { workspace_id, workspaces } = (await answer.json()).result.data;
    at('workspace').replaceChildren(...workspaces.map(({ id, name }) => new Option(name, id, false, id === workspace_id)));
  };
  const token = async () => {
    if (at('workspace').value === '') await workspaces();
    const answer = await fetch('/w/' + at('workspace').value + '/trpc/session.token', {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-postrider': '1' }, body: '{}',
    });
    if (!answer.ok) return null;
    return (await answer.json()).result.data.token;
  };
  const choose = () => {
    const option = at('operation').selectedOptions[0];
    at('path').value = option.value.split(' ')[1];
    at('body').value = option.dataset.body;
  };
  const send = async () => {
    const bearer = await token();
    if (!bearer) return 'You’re not signed in. Open /login in another tab, then send again.';
    const path = at('path').value.trim().replace(/^\\/?/, '/');
    const [gap] = /\\{[^}]*\\}?/.exec(path) || [];
    if (gap) return 'Enter a value for ' + gap + '.';
    const method = at('operation').value.split(' ')[0];
    const body = at('body').value.trim();
    const answer = await fetch('/v1' + path, {
      method,
      headers: { authorization: 'Bearer ' + bearer, 'content-type': 'application/json' },
      ...(method !== 'GET' && body !== '' && { body }),
    });
    const text = await answer.text();
    try {
      return answer.status + '\\n' + JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return answer.status + '\\n' + text;
    }
  };
  at('operation').addEventListener('change', choose);
  at('try').addEventListener('submit', async (event) => {
    event.preventDefault();
    at('answer').textContent = 'Sending …';
    at('answer').textContent = await send().catch((error) => 'No response: ' + error.message);
  });
  const open = () => {
    const wanted = [...at('operation').options].find(({ value }) => '#' + encodeURIComponent(value) === location.hash);
    if (wanted) wanted.selected = true;
    choose();
  };
  addEventListener('hashchange', open);
  open();
  workspaces();
})();
`;
