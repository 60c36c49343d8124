// Runs on /docs/try: sends a request as the signed-in user, or with the key that was entered.
(() => {
  const at = (id) => document.getElementById(id);

  async function listWorkspaces() {
    const response = await fetch('/trpc/people.me?input=%7B%7D');
    at('sign-in').hidden = response.ok;
    at('workspaces').hidden = !response.ok;
    if (!response.ok) return;
    const { workspace_id, workspaces } = (await response.json()).result.data;
    const options = workspaces.map(({ id, name }) => new Option(name, id, false, id === workspace_id));
    at('workspace').replaceChildren(...options);
  }

  /** Returns the entered key, or a token with the permissions of the session; null without either. */
  async function bearerToken() {
    const key = at('key').value.trim();
    if (key !== '') return key;
    if (at('workspace').value === '') await listWorkspaces();
    const response = await fetch(`/w/${at('workspace').value}/trpc/session.token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-postrider': '1' },
      body: '{}',
    });
    return response.ok ? (await response.json()).result.data.token : null;
  }

  function chooseOperation() {
    const option = at('operation').selectedOptions[0];
    at('path').value = option.value.split(' ')[1];
    at('body').value = option.dataset.body;
  }

  async function send() {
    const bearer = await bearerToken();
    if (!bearer) return 'You’re not signed in. Enter an API key, or open /login in another tab, then send again.';
    const path = at('path').value.trim().replace(/^\/?/, '/');
    const [gap] = /\{[^}]*\}?/.exec(path) ?? [];
    if (gap) return `Enter a value for ${gap}.`;
    const method = at('operation').value.split(' ')[0];
    const body = at('body').value.trim();
    const response = await fetch(`/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(method !== 'GET' && body !== '' && { body }),
    });
    const text = await response.text();
    try {
      return `${response.status}\n${JSON.stringify(JSON.parse(text), null, 2)}`;
    } catch {
      return `${response.status}\n${text}`;
    }
  }

  function open() {
    const option = [...at('operation').options].find(({ value }) => `#${encodeURIComponent(value)}` === location.hash);
    if (option) option.selected = true;
    chooseOperation();
  }

  at('operation').addEventListener('change', chooseOperation);
  at('try').addEventListener('submit', async (event) => {
    event.preventDefault();
    at('answer').textContent = 'Sending …';
    at('answer').textContent = await send().catch((error) => `No response: ${error.message}`);
  });
  addEventListener('hashchange', open);
  open();
  listWorkspaces();
})();
