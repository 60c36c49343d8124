import { openWorld } from '@postrider/testing/open-world';
import { auditServer } from 'graphql-http';
import { describe, expect, it } from 'vitest';
import { openGraphql } from './graphql-server.ts';

const world = await openWorld();
const graphql = await openGraphql(world);

describe('GraphQL over HTTP', () => {
  it('meets every MUST and SHOULD requirement', async () => {
    const results = await auditServer({
      url: graphql.url,
      fetchFn: (url: string, init: RequestInit = {}) =>
        fetch(url, { ...init, headers: { ...headersOf(init), authorization: `Bearer ${world.secret}` } }),
    });

    const failed = results.filter((result) => result.status === 'warn' || result.status === 'error');
    expect(failed.map(({ id, name, status }) => [id, name, status])).toEqual([]);
    expect(results.length).toBeGreaterThan(50);
  });
});

describe('a request body (chaos C4)', () => {
  const query = '{ usage { month } }';
  const post = (type: string, body: string | Uint8Array<ArrayBuffer>, key = world.secret) =>
    fetch(graphql.url, {
      method: 'POST',
      headers: { 'content-type': type, authorization: `Bearer ${key}` },
      body,
    });

  it.each([
    ['application/x-www-form-urlencoded', `query=${encodeURIComponent(query)}`],
    ['application/graphql', query],
    ['application/graphql+json', JSON.stringify({ query })],
    ['multipart/form-data; boundary=x', '--x--'],
    ['text/plain', JSON.stringify({ query })],
    ['application/json; charset=utf-16', Buffer.from(JSON.stringify({ query }), 'utf16le')],
  ])('is rejected as %s', async (type, body) => {
    const response = await post(type, typeof body === 'string' ? body : Uint8Array.from(body));

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { reason: 'unsupported_media_type' } }] });
    expect(response.headers.has('x-ratelimit-remaining')).toBe(true);
  });

  it.each(['{"query":null}', '{"query":7}', '{"query":["{ usage { month } }"]}', '{}', '[]', 'null', '7', '{'])(
    'is rejected as %s, with a reason and the request id',
    async (body) => {
      const response = await post('application/json', body);

      expect(response.status).toBe(400);
      const { errors } = (await response.json()) as { errors: { extensions: Record<string, unknown> }[] };
      expect(errors).toEqual([
        {
          message: expect.any(String),
          extensions: expect.objectContaining({
            code: 'invalid_request',
            reason: expect.any(String),
            requestId: response.headers.get('x-request-id'),
          }),
        },
      ]);
    },
  );

  it('must be UTF-8, and its JSON media type is matched case-insensitively', async () => {
    const text = JSON.stringify({ query: '{ usage { month } } # x' });
    const damaged = Uint8Array.from(Buffer.from(text.replace('x', '\u00c3('), 'latin1'));

    expect(await (await post('application/json', damaged)).json()).toMatchObject({
      errors: [{ extensions: { reason: 'malformed_json' } }],
    });
    expect((await post('APPLICATION/JSON; Charset="UTF-8"', JSON.stringify({ query }))).status).toBe(200);
  });
});

function headersOf(init: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(init.headers));
}

describe('the schema', () => {
  const introspection = '{ __schema { queryType { name } } }';

  it('is shown to any key, with suggestions for misspelled fields', async () => {
    const response = await graphql.ask(introspection);
    const misspelled = await graphql.ask('{ usag { month } }');

    expect(response.data).toEqual({ __schema: { queryType: { name: 'Query' } } });
    expect(misspelled.text).toContain('Did you mean');
  });

  it('is hidden without a key, and shows no landing page', async () => {
    const reply = await graphql.ask(introspection, undefined, { key: null });
    const misspelled = await graphql.ask('{ usag { month } }', undefined, { key: null });
    const page = await fetch(graphql.url, { headers: { accept: 'text/html' } });
    const trial = await fetch(graphql.url.replace('/graphql', '/graphiql'), { redirect: 'manual' });

    for (const response of [reply, misspelled]) {
      expect(response.status).toBe(401);
      expect(response.text).not.toMatch(/Query|Did you mean/);
    }
    expect(page.status).toBe(401);
    expect(await page.text()).not.toContain('<html');
    expect([trial.status, trial.headers.get('location')]).toEqual([302, '/login?next=%2Fgraphiql']);
  });

  it('can be fetched in full by tools that send a single, very deep document', async () => {
    const { getIntrospectionQuery } = await import('graphql');

    const response = await graphql.ask(getIntrospectionQuery());

    expect(response.errors).toEqual([]);
    expect(response.status).toBe(200);
  });
});

describe('an internal error', () => {
  it('is reported without internal details, with an id that is also logged', async () => {
    await world.services.sql`alter table usage_months rename to hidden_secret_table`;

    const response = await graphql.ask('{ usage { month } }');

    await world.services.sql`alter table hidden_secret_table rename to usage_months`;
    expect(response.errors).toMatchObject([
      { path: ['usage'], extensions: { code: 'internal_error', reason: 'unexpected' } },
    ]);
    expect(response.text).not.toMatch(/usage_months|relation|select|stack/);
    const request_id = response.headers.get('x-request-id');
    expect(response.errors[0]?.extensions.requestId).toBe(request_id);
    expect(world.logged).toContainEqual(expect.objectContaining({ request_id, err: expect.anything() }));
  });
});
