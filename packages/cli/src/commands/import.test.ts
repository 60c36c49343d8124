import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../run-command.ts';

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
const refusal = (reason: string) => ({
  error: { code: 'invalid_request', reason, message: `Refused for ${reason}.`, docs_url: '/errors' },
});
const retry_later: Reply = { status: 429, body: refusal('default_rate'), headers: { 'retry-after': '0' } };
const broken: Reply = { status: 500, body: refusal('internal_error') };
const created = (secret: string): Reply => ({ status: 201, body: { secret } });

// The service's replies to each call, in order; any other list is empty.
let replies: Record<string, Reply[]> = {};
let calls: string[] = [];
const service = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const call = `${request.method} ${pathname}`;
  calls.push(call);
  const { status, body, headers } = replies[call]?.shift() ?? { status: 200, body: { data: [], next_cursor: null } };
  request.resume();
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'postrider-import-'));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const hook = (name: string) => ({ endpoint: `https://example.com/${name}`, events: ['email.sent'] });
  await writeFile(join(directory, 'webhooks.json'), JSON.stringify({ data: ['a', 'b', 'c'].map(hook) }));
  await writeFile(join(directory, 'domains.json'), JSON.stringify({ data: [{ name: 'moved.example' }] }));
});
afterAll(async () => {
  service.close();
  await rm(directory, { recursive: true });
});
beforeEach(() => {
  replies = {};
  calls = [];
});

async function imported(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommand(['import', 'resend', ...args, '--apply'], {
    env: {
      POSTRIDER_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      POSTRIDER_API_KEY: 'pr_live_0',
    },
    print: (text) => void out.push(text),
    note: (text) => void err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}
const file = (name: string) => join(directory, name);

it('webhook secrets are shown even if a later addition fails, and no webhook is added twice', async () => {
  replies['POST /v1/webhooks'] = [created('whsec_a'), broken];

  const { code, out, err } = await imported('--webhooks', file('webhooks.json'));

  expect(code).toBe(3);
  expect(out).toContain('3 found, 1 added, 0 already present, 0 rejected');
  expect(out).toContain('https://example.com/a  whsec_a  (shown once)');
  expect(out).toContain('stopped here');
  expect(err).toContain('internal_error: Refused for internal_error.');
  expect(err).toContain('Check whether https://example.com/b was added');
  expect(calls.filter((call) => call === 'POST /v1/webhooks')).toHaveLength(2);
});

it('any postponed call is retried as often as the service requires', async () => {
  replies = {
    'GET /v1/domains': [retry_later, retry_later],
    'POST /v1/domains': [retry_later, retry_later, { status: 201, body: {} }],
    'GET /v1/webhooks': [retry_later],
    'POST /v1/webhooks': [
      retry_later,
      retry_later,
      retry_later,
      created('whsec_a'),
      created('whsec_b'),
      retry_later,
      created('whsec_c'),
    ],
  };

  const files = ['--domains', file('domains.json'), '--webhooks', file('webhooks.json')];
  const { code, out } = await imported(...files, '--json');

  expect(code).toBe(0);
  expect(JSON.parse(out).parts).toMatchObject([
    { what: 'domains', added: 1, stopped: false },
    { what: 'webhooks', added: 3, secrets: ['a', 'b', 'c'].map((name) => ({ secret: `whsec_${name}` })) },
  ]);
});

it('results for earlier files are shown if the next file fails immediately', async () => {
  replies = {
    'POST /v1/domains': [{ status: 201, body: {} }],
    'GET /v1/webhooks': [{ status: 403, body: refusal('missing_scope') }],
  };

  const files = ['--domains', file('domains.json'), '--webhooks', file('webhooks.json')];
  const { code, out, err } = await imported(...files, '--json');

  expect(code).toBe(1);
  expect(JSON.parse(out).parts).toMatchObject([
    { what: 'domains', added: 1, stopped: false },
    { what: 'webhooks', added: 0, stopped: true },
  ]);
  expect(JSON.parse(err).error.reason).toBe('missing_scope');
});
