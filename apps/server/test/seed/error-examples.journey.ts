import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '@postrider/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Instance, startInstance } from './instance.ts';

// The server accepts every example that an error text shows. The examples are collected from the sources, so none is
// missed.

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
let instance: Instance;
beforeAll(async () => {
  instance = await startInstance(['example.com']);
});
afterAll(() => instance.stop());

/** Returns the examples that follow "such as" and "as in" in error texts. */
function shownExamples(): string[] {
  const files = globSync(['packages/{core,mail,net}/src/**/*.ts', 'apps/{rest,admin}/src/**/*.ts'], { cwd: ROOT });
  const lines = files
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) => readFileSync(join(ROOT, path), 'utf8').split('\n'))
    .filter((line) => !/^\s*(?:\/\/|\*|\/\*|--)|description:/.test(line));
  const examples = lines.flatMap((line) => [...line.matchAll(/(?:such as|as in) ([^'`]+)['`]/g)]);
  return [...new Set(examples.map(([, text = '']) => text.replace(/\.$/, '')))];
}

type Ask = () => Promise<number>;

async function ask(method: string, path: string, body?: object, headers: object = {}): Promise<number> {
  const response = await fetch(`${instance.base}${path}`, {
    method,
    headers: { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.status;
}

const mail = { from: 'shop@example.com', to: 'ada@example.net', subject: 'Hello', text: 'Hi' };
const send =
  (fields: object, headers?: object): Ask =>
  () =>
    ask('POST', '/email/send', { ...mail, ...fields }, headers);
const post =
  (path: string, body: object): Ask =>
  () =>
    ask('POST', path, body);
const get =
  (path: string): Ask =>
  () =>
    ask('GET', path);
/** Returns 200 if there is no error, either in `errors` or in a union. */
const graphql =
  (query: string): Ask =>
  async () => {
    const response = await fetch(instance.base.replace(/v1$/, 'graphql'), {
      method: 'POST',
      headers: { Authorization: `Bearer ${instance.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    const text = await response.text();
    if (/"errors"|Error"/.test(text)) throw new Error(text);
    return response.status;
  };
/** Reads the configuration as the server does on startup. */
const starts =
  (env: Readonly<Record<string, string>>): Ask =>
  async () => {
    readConfig(env);
    return 200;
  };

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
const alarms = (input: string) =>
  graphql(`mutation { alarmSettingsUpdate(input: { ${input} }) { __typename ... on ApiError { message } } }`);

/** How to try each example. A string states why the example cannot be tried. */
const tries: Readonly<Record<string, readonly Ask[] | string>> = {
  'application/pdf': [send({ attachments: [{ filename: 'a', content: 'SGk=', content_type: 'application/pdf' }] })],
  '22:30': [alarms('quietFrom: "22:30", quietUntil: "06:30"')],
  'ada@example.com': [alarms('emails: ["ada@example.com"]'), starts({ ADMIN_EMAIL: 'ada@example.com' })],
  '192.0.2.0/24': [post('/api-keys', { name: 'Shop', scopes: ['email:send'], allowed_ips: ['192.0.2.0/24'] })],
  'example.com, without scheme, path or wildcard': [get('/domains/example.com/doctor')],
  'bounces or bounces.${name}': [
    post('/domains', { name: 'one.example', return_path: 'bounces' }),
    post('/domains', { name: 'two.example', return_path: 'bounces.two.example' }),
  ],
  'example.com': [
    send({ to: 'a@example.com' }),
    get('/domains/example.com/doctor'),
    get('/email/logs?domain=example.com'),
  ],
  '+01:00': [send({ scheduled_at: `${tomorrow}T09:00:00+01:00` })],
  'T09:00:00Z': [send({ scheduled_at: `${tomorrow}T09:00:00Z` })],
  'example.com, not ${text.slice(0, 255)}': [
    graphql('mutation { destinationLimit(input: { destination: "example.com", connections: 2 }) { __typename } }'),
  ],
  reply_to: [send({ reply_to: 'help@example.com' })],
  'reply_to, or let Postrider set the header': [send({ reply_to: 'help@example.com' })],
  'to[3]. Validate addresses when people enter them': 'It is a place in a body.',
  'https://example.com/hooks/postrider': [post('/webhooks', { url: 'https://example.com/hooks/postrider' })],
  'https://example.com/hooks': [post('/webhooks', { url: 'https://example.com/hooks' })],
  'https://example.com': [post('/webhooks', { url: 'https://example.com' })],
  'example.com: no scheme, no path, no @': [get('/domains/example.com/doctor')],
  'receipt-1815': [send({}, { 'Idempotency-Key': 'receipt-1815' })],
  '2030-01-31T09:00:00Z or 2030-01-31T10:00:00+01:00': [
    get('/email/logs?since=2030-01-31T09:00:00Z'),
    get('/email/logs?since=2030-01-31T10:00:00%2B01:00'),
  ],
  '2030-01-31T09:00:00Z': [get('/email/logs?since=2030-01-31T09:00:00Z')],
  '${min_seconds}s': [starts({ SHUTDOWN_GRACE: '5s' })],
  '90d or 36h': [starts({ RETENTION_CAPTURES: '90d' }), starts({ RETENTION_CAPTURES: '36h' })],
  '30s, 5m or 2h': [starts({ RETRY_SCHEDULE: '30s,5m,2h' })],
  '10.0.0.0/8': [starts({ TRUSTED_PROXIES: '10.0.0.0/8' })],
  '192.0.2.53:53 or [2001:db8::53]:53': [starts({ DNS_SERVERS: '192.0.2.53:53,[2001:db8::53]:53' })],
  'http://localhost:4318': [starts({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' })],
  'https://mail.example.com': [starts({ PUBLIC_URL: 'https://mail.example.com' })],
  'https://hooks.example.com/postrider': [starts({ ALERT_WEBHOOK_URL: 'https://hooks.example.com/postrider' })],
  statistics: 'It says what a limit is of.',
  'smtp_after_dot=10m': [starts({ LIMITS: 'smtp_after_dot=10m' })],
  '500ms, 30s or 5m': [starts({ LIMITS: 'smtp_dial=500ms,smtp_command=30s,smtp_data=5m' })],
  'a@example.com': [post('/suppressions', { email: 'a@example.com' })],
  '2025-01': [graphql('{ workspace { usage(month: "2025-01") { sent } } }')],
  'email content. CHANGES: all other entries': 'It says which entries a kind has.',
  'non-ASCII addresses or an unusual encoding': 'It says which formats a receiver may reject.',
  'domain events': 'It says which events an endpoint gets.',
  'a@example.com or Name <a@example.com>': [send({ to: 'b@example.com' }), send({ to: 'Name <b@example.com>' })],
  '"Doe, Jane" <a@example.com>': [send({ to: '"Doe, Jane" <b@example.com>' })],
  'Name <a@example.com>': [send({ to: 'Name <b@example.com>' })],
  'ö or 用 before the @ are not supported. Only the name and the domain can contain them': [
    send({ to: 'Jörg <joerg@bücher.example>' }),
  ],
  'bounce+5.1.1@': [send({ to: 'bounce+5.1.1@simulator.test' })],
  'dsn+5.2.2@': [send({ to: 'dsn+5.2.2@simulator.test' })],
  'defer+3@': [send({ to: 'defer+3@simulator.test' })],
  'slow+30s@': [send({ to: 'slow+30s@simulator.test' })],
  '{"order":"1815"}': [send({ metadata: { order: '1815' } })],
};

describe('every error message example', () => {
  it('is listed below, and the list has no other entries', () => {
    expect(shownExamples().toSorted()).toEqual(Object.keys(tries).toSorted());
  });

  it.each(
    Object.entries(tries).flatMap(([example, requests]) =>
      typeof requests === 'string' ? [] : [[example, requests] as const],
    ),
  )('is accepted: %s', async (_, requests) => {
    for (const one of requests) expect(await one()).toBeLessThan(300);
  });
});
