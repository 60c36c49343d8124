import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { createKey, type Scope } from '@postrider/core/api-keys';
import { createContentLink, getMessage, openContentLink } from '@postrider/core/messages';
import { createWebhook, testWebhook } from '@postrider/core/webhooks';
import { bringMail, deliveryReport, visitSmtp } from '@postrider/testing';
import { type Attempt, type HttpRequest, http, replyOf } from './attempt.ts';
import type { Stage } from './stage.ts';

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const mail = { from: 'shop@victim.test', to: 'ada@example.com', subject: 'Theirs', text: 'Hi' };
const own = ({ world }: Stage) => world.as(world.workspace_id);
const NEIGHBOR = 'the admin of another workspace';

/** Sends a message in the attacked workspace and returns its ID. */
async function sent(stage: Stage, extra: Readonly<Record<string, unknown>> = {}): Promise<string> {
  return (await invoke(own(stage), sendMessage, { ...mail, ...extra })).id;
}

async function delivery(stage: Stage) {
  const { id: webhook } = await invoke(own(stage), createWebhook, {
    url: `https://hooks.victim.test/${stage.count()}`,
    events: 'all',
  });
  return { webhook, delivery: (await invoke(own(stage), testWebhook, { id: webhook })).id };
}

const asNeighbor = (
  request: string,
  expected: string,
  make: (stage: Stage) => Promise<HttpRequest> | HttpRequest,
): Attempt => ({
  by: NEIGHBOR,
  request,
  expected,
  async prepare(stage) {
    const { headers, ...parts } = await make(stage);
    const credential =
      parts.to === 'admin' && !parts.line.includes('/graphql')
        ? { cookie: stage.neighbor.cookie, 'x-postrider': '1' }
        : bearer(stage.neighbor.secret);
    return () => http(stage, { ...parts, headers: { ...credential, ...headers } });
  },
});

const NOT_OURS = '422 unprocessable domain_not_verified';

const NO_WORKSPACE = '404 not_found workspace_not_found';

/** The neighbor's own session, with the attacked workspace in the path. */
const inPaths: Attempt[] = [
  ...['GET /trpc/people.me', 'GET /trpc/emails.list', 'GET /trpc/live'].map((line) => ({ line, body: undefined })),
  ...['session.token', 'apiKeys.create', 'people.logout'].map((name) => ({ line: `POST /trpc/${name}`, body: {} })),
].map(({ line, body }) =>
  asNeighbor(`${line} under the attacked workspace`, NO_WORKSPACE, ({ world }) => ({
    to: 'admin',
    line: line.replace(' /', ` /w/${world.workspace_id}/`),
    body,
  })),
);

const sending: Attempt[] = [
  asNeighbor('POST /v1/email/send from the attacked domain', NOT_OURS, () => ({
    to: 'rest',
    line: 'POST /v1/email/send',
    body: mail,
  })),
  asNeighbor('POST /v1/email/send from the attacked domain, with an Idempotency-Key', NOT_OURS, () => ({
    to: 'rest',
    line: 'POST /v1/email/send',
    body: mail,
    headers: { 'idempotency-key': 'neighbor' },
  })),
  asNeighbor('POST /v1/email/send?dry_run=true from the attacked domain', NOT_OURS, () => ({
    to: 'rest',
    line: 'POST /v1/email/send?dry_run=true',
    body: mail,
  })),
  asNeighbor('POST /trpc/test.send from the attacked domain', NOT_OURS, () => ({
    to: 'admin',
    line: 'POST /trpc/test.send',
    body: mail,
  })),
  {
    by: NEIGHBOR,
    request: 'a mail from the attacked domain on submission',
    expected: '554 5.7.1',
    prepare: async (stage) => () => submit(stage, stage.neighbor.secret, 'shop@victim.test'),
  },
  {
    by: 'a key without email:send',
    request: 'a mail on submission',
    expected: '550 5.7.1',
    async prepare(stage) {
      const { secret } = await stage.world.key({ scopes: ['email:logs:read', 'domains:write'] });
      return () => submit(stage, secret, 'shop@victim.test');
    },
  },
  {
    by: 'a key for another domain',
    request: 'a mail on submission',
    expected: '550 5.7.1',
    async prepare(stage) {
      const { secret } = await stage.world.key({ scopes: ['email:send'], domains: ['other.test'] });
      return () => submit(stage, secret, 'shop@victim.test');
    },
  },
  {
    by: 'a key for another domain',
    request: 'POST /v1/email/send',
    expected: '403 forbidden key_domain_restricted',
    async prepare(stage) {
      const { secret } = await stage.world.key({ scopes: ['email:send'], domains: ['other.test'] });
      return () => http(stage, { to: 'rest', line: 'POST /v1/email/send', body: mail, headers: bearer(secret) });
    },
  },
  {
    by: NEIGHBOR,
    request: 'POST /v1/email/send with an Idempotency-Key of the attacked workspace',
    expected: 'another email',
    async prepare(stage) {
      const name = `neighbor${stage.count()}.test`;
      await stage.world.domain(name, stage.neighbor.workspace_id);
      const headers = { 'idempotency-key': `order ${name}`, 'content-type': 'application/json' };
      const send = async (secret: string, from: string) => {
        const response = await fetch(`${stage.apis.origins.rest}/v1/email/send`, {
          method: 'POST',
          headers: { ...headers, ...bearer(secret) },
          body: JSON.stringify({ ...mail, from }),
        });
        return (await response.json()) as { id?: string };
      };
      const { id: theirs } = await send(stage.owner.secret, mail.from);
      return async () => {
        const { id, ...others } = await send(stage.neighbor.secret, `shop@${name}`);
        return id !== undefined && id !== theirs ? 'another email' : JSON.stringify({ id, ...others });
      };
    },
  },
];

async function submit({ submission_port }: Stage, secret: string, from: string): Promise<string> {
  const visitor = await visitSmtp(submission_port);
  try {
    await visitor.say('EHLO evil.test');
    const login = await visitor.say(`AUTH PLAIN ${Buffer.from(`\0api\0${secret}`).toString('base64')}`);
    if (!login.startsWith('235')) return replyOf(login);
    await visitor.say(`MAIL FROM:<${from}>`);
    await visitor.say('RCPT TO:<ada@example.com>');
    await visitor.say('DATA');
    return replyOf(await visitor.say(`From: ${from}\r\nTo: ada@example.com\r\nSubject: Hi\r\n\r\nHi\r\n.`));
  } finally {
    visitor.close();
  }
}

const ofWorkspace = (procedure: string, workspace_id: string) =>
  `GET /trpc/${procedure}?input=${encodeURIComponent(JSON.stringify({ workspace_id }))}`;

const NO_DELIVERY = '404 not_found delivery_not_found';

const reading: Attempt[] = [
  asNeighbor('POST /v1/webhooks/{own}/deliveries/{attacked}/replay', NO_DELIVERY, async (stage) => {
    const attacked = await delivery(stage);
    const own_webhook = await invoke(stage.world.as(stage.neighbor.workspace_id), createWebhook, {
      url: 'https://hooks.evil.test/x',
    });
    return { to: 'rest', line: `POST /v1/webhooks/${own_webhook.id}/deliveries/${attacked.delivery}/replay`, body: {} };
  }),
  asNeighbor(
    'POST /v1/webhooks/{attacked}/deliveries/{attacked}/replay',
    '404 not_found webhook_not_found',
    async (stage) => {
      const attacked = await delivery(stage);
      return {
        to: 'rest',
        line: `POST /v1/webhooks/${attacked.webhook}/deliveries/${attacked.delivery}/replay`,
        body: {},
      };
    },
  ),
  asNeighbor('GET /v1/email/{id}', '404 not_found message_not_found', async (stage) => ({
    to: 'rest',
    line: `GET /v1/email/${await sent(stage)}`,
  })),
  asNeighbor('GET /preview/{id} of a mail under their own workspace', '404', async (stage) => ({
    to: 'admin',
    line: `GET /w/${stage.neighbor_workspace_id}/preview/${await sent(stage, { html: '<p>Secret</p>' })}`,
  })),
  asNeighbor('GET /preview/{id} of a mail under the attacked workspace', '404', async (stage) => ({
    to: 'admin',
    line: `GET /w/${stage.world.workspace_id}/preview/${await sent(stage, { html: '<p>Secret</p>' })}`,
  })),
  asNeighbor('GET /graphiql under the attacked workspace', '404', ({ world }) => ({
    to: 'admin',
    line: `GET /w/${world.workspace_id}/graphiql`,
  })),
  asNeighbor('POST /trpc/people.switchWorkspace', '404 not_found workspace_not_found', ({ world }) => ({
    to: 'admin',
    line: 'POST /trpc/people.switchWorkspace',
    body: { workspace_id: world.workspace_id },
  })),
  ...(['members.remove', 'members.setRole'] as const).map((procedure) =>
    asNeighbor(
      `POST /trpc/${procedure} of a person of the attacked workspace`,
      '404 not_found member_not_found',
      async (stage) => {
        const [person] = await stage.world.services.sql<{ user_id: string }[]>`
        select user_id from members where workspace_id = ${stage.world.workspace_id} limit 1`;
        const body = { user_id: person?.user_id, ...(procedure === 'members.setRole' && { role: 'viewer' }) };
        return { to: 'admin', line: `POST /trpc/${procedure}`, body };
      },
    ),
  ),
  ...(['members.list', 'ops.bulkList'] as const).map((procedure) =>
    asNeighbor(
      `GET /trpc/${procedure} with the id of the attacked workspace`,
      '404 not_found workspace_not_found',
      ({ world }) => ({ to: 'admin', line: ofWorkspace(procedure, world.workspace_id) }),
    ),
  ),
  ...(['usage.get', 'holds.list', 'audit.list', 'erasures.list', 'overview.summary', 'onboarding.state'] as const).map(
    (procedure): Attempt => ({
      by: NEIGHBOR,
      request: `GET /trpc/${procedure} with the id of the attacked workspace`,
      expected: 'nothing of the attacked workspace',
      prepare: async (stage) => async () => {
        const line = ofWorkspace(procedure, stage.world.workspace_id).slice('GET '.length);
        const response = await fetch(stage.apis.origins.admin + line, { headers: { cookie: stage.neighbor.cookie } });
        const text = await response.text();
        const leaked = (await stage.ids()).filter((id) => id.includes('_') && text.includes(id));
        return leaked.length === 0 ? 'nothing of the attacked workspace' : `it told of ${leaked.slice(0, 3)}`;
      },
    }),
  ),
  {
    by: NEIGHBOR,
    request: 'nodes of every kind over GraphQL',
    expected: 'null for every id',
    async prepare(stage) {
      await delivery(stage);
      await invoke(own(stage), getMessage, { id: await sent(stage) });
      await stage.world.drain();
      const ids = (await stage.ids()).filter((id) => /^[a-z]{3}_/.test(id));
      const kinds = new Map(ids.map((id) => [id.slice(0, 3), id]));
      if (kinds.size < 8) throw new Error(`the attacked workspace has only ${[...kinds.keys()]}`);
      return async () => {
        const responses = await Promise.all(
          [...kinds.values()].map(async (id) => {
            const response = await fetch(`${stage.apis.origins.admin}/graphql`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', ...bearer(stage.neighbor.secret) },
              body: JSON.stringify({ query: 'query ($id: ID!) { node(id: $id) { id } }', variables: { id } }),
            });
            const { data } = (await response.json()) as { data?: { node: unknown } | null };
            return data?.node ? [id] : [];
          }),
        );
        return responses.flat().length === 0 ? 'null for every id' : `nodes ${responses.flat()}`;
      };
    },
  },
  {
    by: 'a stranger with a used link',
    request: 'GET /content/{token}',
    expected: '404',
    async prepare(stage) {
      const link = await invoke(own(stage), createContentLink, { id: await sent(stage) });
      const token = link.url.split('/').at(-1) ?? '';
      await openContentLink(stage.world.services, token);
      return () => http(stage, { to: 'admin', line: `GET /content/${token}` });
    },
  },
  {
    by: 'a stranger with an expired link',
    request: 'GET /content/{token}',
    expected: '404',
    async prepare(stage) {
      const link = await invoke(own(stage), createContentLink, { id: await sent(stage) });
      await stage.world.services.sql`update content_links set expires_at = clock_now()`;
      return () => http(stage, { to: 'admin', line: `GET /content/${link.url.split('/').at(-1)}` });
    },
  },
];

/** Objects that a key may not access even though they belong to its own workspace. */
const limited: readonly {
  readonly by: string;
  readonly key: Readonly<Record<string, unknown>> & { readonly scopes: readonly Scope[] };
  readonly request: string;
  readonly expected: string;
  make(stage: Stage): Promise<HttpRequest>;
}[] = [
  {
    by: 'a sandbox key',
    key: { scopes: ['admin'], mode: 'sandbox' },
    request: 'GET /v1/email/{id} of live mail',
    expected: '404 not_found message_not_found',
    make: async (stage) => ({ to: 'rest', line: `GET /v1/email/${await sent(stage)}` }),
  },
  {
    by: 'a sandbox key',
    key: { scopes: ['admin'], mode: 'sandbox' },
    request: 'DELETE /v1/domains/victim.test',
    expected: '403 forbidden missing_scope',
    make: async () => ({ to: 'rest', line: 'DELETE /v1/domains/victim.test' }),
  },
  {
    by: 'a sandbox key',
    key: { scopes: ['admin'], mode: 'sandbox' },
    request: 'DELETE /v1/api-keys/{id} of a live key',
    expected: '404 not_found api_key_not_found',
    async make(stage) {
      const { id } = await invoke(own(stage), createKey, { name: 'Live', scopes: ['email:send'] });
      return { to: 'rest', line: `DELETE /v1/api-keys/${id}` };
    },
  },
  {
    by: 'a sandbox key',
    key: { scopes: ['admin'], mode: 'sandbox' },
    request: 'POST /v1/api-keys for a live key',
    expected: '403 forbidden missing_scope',
    make: async () => ({ to: 'rest', line: 'POST /v1/api-keys', body: { name: 'Live', scopes: ['email:send'] } }),
  },
  {
    by: 'a key with the scope admin',
    key: { scopes: ['admin'] },
    request: 'POST /v1/api-keys for an operator',
    expected: '403 forbidden missing_scope',
    make: async () => ({ to: 'rest', line: 'POST /v1/api-keys', body: { name: 'More', scopes: ['operator'] } }),
  },
  {
    by: 'a key for one domain',
    key: { scopes: ['admin'], domains: ['other.test'] },
    request: 'POST /v1/api-keys for every domain',
    expected: '403 forbidden key_domain_restricted',
    make: async () => ({ to: 'rest', line: 'POST /v1/api-keys', body: { name: 'More', scopes: ['email:send'] } }),
  },
  {
    by: 'a key without admin and operator',
    key: { scopes: ['email:send', 'email:logs:read', 'domains:write', 'webhooks:manage'] },
    request: 'POST /graphql',
    expected: '403 forbidden missing_scope',
    make: async () => ({ to: 'admin', line: 'POST /graphql', body: { query: '{ messages { nodes { id } } }' } }),
  },
];

const byLimitedKeys: Attempt[] = limited.map(({ by: label, key, request, expected, make }) => ({
  by: label,
  request,
  expected,
  async prepare(stage) {
    const { secret } = await stage.world.key(key);
    const template = await make(stage);
    return () => http(stage, { ...template, headers: bearer(secret) });
  },
}));

const byColleagues: Attempt[] = [
  {
    by: 'an admin with the preview of an operator',
    request: 'POST /trpc/ops.bulkRun',
    expected: '400 invalid_request invalid_preview',
    async prepare(stage) {
      const preview = await fetch(`${stage.apis.origins.admin}/trpc/ops.bulkPreview`, {
        method: 'POST',
        headers: { cookie: stage.owner.cookie, 'x-postrider': '1', 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'cancel', filter: {} }),
      });
      const { result } = (await preview.json()) as { result: { data: { token: string } } };
      const body = { token: result.data.token, reason: 'Mine' };
      const headers = { cookie: stage.roles.admin.cookie, 'x-postrider': '1' };
      return () => http(stage, { to: 'admin', line: 'POST /trpc/ops.bulkRun', body, headers });
    },
  },
];

/** Return addresses that were not signed for the messages they refer to. */
const forged: readonly (readonly [what: string, expected: string, to: (genuine: string, other: string) => string])[] = [
  ['another signature', '550 5.1.1', (genuine) => genuine.replace(/\.[0-9a-f]{18}@/, `.${'0'.repeat(18)}@`)],
  ['no signature', '550 5.1.1', (genuine) => genuine.replace(/\.[0-9a-f]{18}@/, '@')],
  [
    'the signature of another mail',
    '550 5.1.1',
    (genuine, other) => genuine.replace(/\.[0-9a-f]{18}@/, /\.[0-9a-f]{18}@/.exec(other)?.[0] ?? '@'),
  ],
  ['another message', '550 5.1.1', (genuine) => `b+${'0'.repeat(26)}${genuine.slice(28)}`],
  ['a mailbox of the domain', '550 5.1.1', () => 'postmaster2@bounces.example.org'],
  ['a recipient elsewhere', '550 5.1.1', () => 'ada@example.com'],
  ['a relay by percent', '550 5.1.1', () => 'ada%example.com@bounces.example.org'],
  ['a relay by route', '550 5.1.1', () => '@bounces.example.org:ada@example.com'],
];

async function returnPath(stage: Stage): Promise<string> {
  const id = await sent(stage, { to: `reader${stage.count()}@example.com` });
  await stage.world.drain();
  return (await stage.world.smtp.waitFor((one) => one.message_id?.includes(id) === true)).envelope_from;
}

const bouncing: Attempt[] = forged.map(([label, expected, to]) => ({
  by: 'a stranger on the bounce port',
  request: `RCPT TO ${label}`,
  expected,
  async prepare(stage) {
    const address = to(await returnPath(stage), await returnPath(stage));
    const raw = deliveryReport({ address: 'ada@example.com', action: 'failed', status: '5.1.1' });
    return async () => {
      const { rcpt, data } = await bringMail(stage.bounce_port, { from: '', to: address, raw });
      return replyOf(data ?? rcpt);
    };
  },
}));

export const byNeighbors: readonly Attempt[] = [
  ...inPaths,
  ...sending,
  ...reading,
  ...byLimitedKeys,
  ...byColleagues,
  ...bouncing,
];
