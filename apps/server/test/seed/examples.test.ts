import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

// Reads docs/openapi.json as an integrator would, and sends what it shows.

let instance: Instance;
beforeAll(async () => {
  instance = await startInstance(['example.com']);
});
afterAll(() => instance.stop());

type Json = Record<string, unknown>;
const document = JSON.parse(readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Json>>;
  components: { schemas: Record<string, Json> };
};

function resolved(schema: Json): Json {
  const name =
    String(schema.$ref ?? '')
      .split('/')
      .at(-1) ?? '';
  return document.components.schemas[name] ?? schema;
}

/** The examples of each field, one at a time, beside what is required. */
function fieldExamples(schema: Json): [string, unknown][] {
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  return Object.entries(properties).flatMap(([name, field]) => {
    const variants = [field, ...((field.anyOf ?? []) as Json[])];
    return variants.flatMap((variant) =>
      ((variant.examples ?? []) as unknown[]).map((example): [string, unknown] => [name, example]),
    );
  });
}

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${instance.base}${path}`, {
    method,
    headers: { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

const send = document.components.schemas.SendRequest ?? {};
const [plain] = (send.examples ?? []) as Json[];

describe('every example of the OpenAPI document', () => {
  it.each(((send.examples ?? []) as Json[]).map((example) => [JSON.stringify(example), example] as const))(
    'of a send is accepted: %s',
    async (_, example) => {
      expect(await call('POST', '/email/send', example)).toMatchObject({ status: 202 });
    },
  );

  it.each(fieldExamples(send))('of the field %s of a send is accepted: %j', async (name, example) => {
    expect(await call('POST', '/email/send', { ...plain, [name]: example })).toMatchObject({ status: 202 });
  });

  it.each(
    Object.entries(document.paths).flatMap(([path, operations]) => {
      const { parameters = [] } = (operations.get ?? {}) as { parameters?: Json[] };
      if (path.includes('{')) return [];
      return parameters.flatMap((parameter) => {
        const schema = parameter.schema as Json;
        const examples = ((schema.examples ?? []) as unknown[]).map(String);
        return examples.map((example): [string, string, string] => [path, String(parameter.name), example]);
      });
    }),
  )('of GET %s is accepted: %s=%s', async (path, name, example) => {
    // A range that begins in the future is empty, unless its end is named too.
    const until = path === '/stats' && name === 'since' ? '&until=2030-02-01T00:00:00Z' : '';
    expect(await call('GET', `${path}?${name}=${encodeURIComponent(example)}${until}`)).toMatchObject({ status: 200 });
  });

  it.each(
    (['/webhooks', '/suppressions', '/api-keys', '/domains'] as const)
      .flatMap((path) => {
        const { requestBody } = (document.paths[path]?.post ?? {}) as { requestBody?: Json };
        const content = requestBody?.content as Record<string, { schema: Json }> | undefined;
        const schema = resolved(content?.['application/json']?.schema ?? {});
        return ((schema.examples ?? []) as Json[]).map((example): [string, Json] => [path, example]);
      })
      .concat([['/email/batch', { messages: [plain] }]]),
  )('of POST %s is accepted: %j', async (path, example) => {
    expect((await call('POST', path, example)).status).toBeLessThan(300);
  });
});

describe('every example of an error text', () => {
  it.each([
    [{ from: 'x' }, /as in (\S+@\S+) or/, 'to'],
    [{ from: 'x' }, /or (Name <\S+>)/, 'to'],
    [{ attachments: [{ filename: 'a', content: '', content_type: 'x' }] }, /such as (\S+\/\w+)/, 'content_type'],
  ])('is accepted: of %j', async (bad, shown, field) => {
    const refused = await call('POST', '/email/send', { ...plain, ...bad });
    const { error } = JSON.parse(refused.text) as { error: { message: string } };
    const example = shown.exec(error.message)?.[1];
    expect(example, error.message).toBeTruthy();

    const good =
      field === 'to' ? { to: example } : { attachments: [{ filename: 'a', content: '', content_type: example }] };
    expect(await call('POST', '/email/send', { ...plain, ...good })).toMatchObject({ status: 202 });
  });
});
