import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { startWebhookSink, type WebhookAnswer, type WebhookSink } from '@postrider/testing';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { methodsOf, readOpenApi, sdkFiles, sdkTexts } from '../../../scripts/write-sdk.ts';
import { isBrowser } from './environment.ts';
import {
  AbortedError,
  ConfigurationError,
  ConnectionError,
  ForbiddenError,
  NotFoundError,
  Postrider,
  type PostriderOptions,
  RateLimitedError,
  safe,
  TimeoutError,
  UnexpectedAnswerError,
  verifyWebhook,
  WebhookVerificationError,
} from './index.ts';
import { SDK_VERSION } from './version.ts';

const key = `pr_live_${'5'.repeat(64)}`;
const mail = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
const response = { id: 'msg_1', status: 'queued', created_at: '2030-01-31T09:00:00.000Z' };

let service: WebhookSink;
beforeEach(async () => {
  service = await startWebhookSink();
});
afterEach(() => service.stop());

const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): WebhookAnswer => ({
  kind: 'reply',
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const refusal = (code: string, reason: string, facts: object = {}) => ({
  error: { code, reason, message: 'No.', request_id: 'req_1', docs_url: 'http://localhost/errors/x', ...facts },
});
/** Scripts these responses in order. The last response repeats. */
function responses(...list: readonly WebhookAnswer[]): void {
  let call_count = 0;
  service.script(() => list[Math.min(call_count++, list.length - 1)] ?? { kind: 'drop' });
}
const client = (options: PostriderOptions = {}) => new Postrider({ url: service.url, key, ...options });
const failure = async (call: PromiseLike<unknown>) => (await safe(call)).error;
const now = { 'retry-after': '0' };

describe('the SDK client', () => {
  it('has a method for every operation in the OpenAPI document, which calls the operation’s route', async () => {
    const document = readOpenApi();
    const urls: string[] = [];
    const recorder = client({
      async fetch(input, init) {
        urls.push(`${init?.method} ${String(input).slice(service.url.length)}`);
        return new Response('{"data":[],"next_cursor":null}');
      },
    });

    const methods = methodsOf(document);
    for (const { resource, name, path } of methods) {
      const calls: unknown = Reflect.get(recorder, resource);
      const call: unknown = typeof calls === 'object' && calls !== null ? Reflect.get(calls, name) : undefined;
      if (typeof call !== 'function') throw new Error(`${resource}.${name} is missing`);
      const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one);
      await Reflect.apply(call, calls, ids);
    }

    const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} /v1${path.replaceAll(/[{}]/g, '')}`),
    );
    expect(routes.length).toBeGreaterThan(30);
    expect(new Set(urls.map((one) => one.replace(/\?.*/, '')))).toEqual(new Set(routes));
    expect(urls).toContain('POST /v1/email/send?dry_run=true');
  });

  it('matches the OpenAPI document (regenerate it with node scripts/write-sdk.ts)', () => {
    const texts = sdkTexts();

    expect(readFileSync(sdkFiles.schemas, 'utf8')).toBe(texts.schemas);
    expect(readFileSync(sdkFiles.resources, 'utf8')).toBe(texts.resources);
    expect(readFileSync(sdkFiles.lists, 'utf8')).toBe(texts.lists);
  });

  it('has the version in its package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

    expect(SDK_VERSION).toBe(version);
  });

  it.each(['', '/', '/v1', '/v1/'])('accepts a base URL that ends with %j', async (end) => {
    responses(reply(202, response));

    await client({ url: service.url + end }).email.send(mail);

    expect(service.requests[0]).toMatchObject({ method: 'POST', path: '/v1/email/send' });
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'user-agent': `postrider-sdk/${SDK_VERSION}`,
    });
    expect(JSON.parse(service.requests[0]?.body.toString() ?? '')).toEqual(mail);
  });

  it('never reveals its key, in printed output or in errors', async () => {
    responses(reply(404, refusal('not_found', 'message_not_found')), { kind: 'drop' });
    const postrider = client({ max_retries: 0 });

    const errors = [await failure(postrider.email.get('msg_1')), await failure(postrider.email.get('msg_1'))];

    for (const one of [postrider, ...errors]) {
      expect(inspect(one, { depth: 20, showHidden: true })).not.toContain(key);
      expect(JSON.stringify(one)).not.toContain(key);
    }
  });

  it.each([
    ['a key of an example', { key: 'pr_live_…' }, 'malformed_key'],
    ['a key with a line break', { key: `${key}\n` }, 'malformed_key'],
    ['no key', { key: '' }, 'missing_key'],
    ['an address of another kind', { url: 'ftp://example.com' }, 'invalid_url'],
    ['an address with a password', { url: 'http://ada:secret@example.com' }, 'invalid_url'],
  ])('rejects %s without repeating the value in the error', (_what, options, reason) => {
    const make = () => client(options);

    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ reason }));
    expect(make).toThrow(expect.objectContaining({ message: expect.not.stringMatching(/pr_live_[…5]|secret@/) }));
  });

  it.each([
    ['a page', { document: {}, navigator: { userAgent: 'Mozilla/5.0 (X11)' } }, true],
    ['a worker of a page', { navigator: { userAgent: 'Mozilla/5.0 (X11)' } }, true],
    ['Node', { process: { versions: { node: '24.0.0' } }, navigator: { userAgent: 'Node.js/24' } }, false],
    ['a page that a test makes in Node', { process: { versions: { node: '20.0.0' } }, document: {} }, false],
    ['Deno', { navigator: { userAgent: 'Deno/2.9' } }, false],
    ['workerd', { navigator: { userAgent: 'Cloudflare-Workers' } }, false],
    ['a runtime without any of these', {}, false],
  ])('recognizes %s', (_what, host, browser) => {
    expect(isBrowser(host)).toBe(browser);
  });

  it.each(['', '.', '..'])('rejects the id %j, which would lead to a different route', async (id) => {
    expect(await failure(client().email.get(id))).toMatchObject({ reason: 'invalid_argument' });
    expect(service.requests).toEqual([]);
  });

  it('does not follow redirects', async () => {
    responses(reply(301, '', { location: `${service.url}/elsewhere` }));

    const error = await failure(client().email.get('msg_1'));

    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(service.requests).toHaveLength(1);
  });
});

describe('SDK errors', () => {
  it('are instances of the class for their code, with everything the response contains', async () => {
    const details = [{ param: 'to', reason: 'invalid_email', message: 'to is wrong.' }];
    responses(reply(403, refusal('forbidden', 'missing_scope', { details, required_scope: 'email:send' })));

    const error = await failure(client().email.send(mail));

    expect(error).toBeInstanceOf(ForbiddenError);
    expect(error).toMatchObject({
      name: 'ForbiddenError',
      status: 403,
      code: 'forbidden',
      reason: 'missing_scope',
      message: 'No.',
      details,
      request_id: 'req_1',
      facts: { required_scope: 'email:send' },
    });
    await expect(client().email.send(mail)).rejects.toBeInstanceOf(ForbiddenError);
  });

  it('do not include a bug in the caller’s code, which is rethrown', async () => {
    const bug = new TypeError('a bug');

    await expect(safe(Promise.reject(bug))).rejects.toBe(bug);
    expect(await safe(Promise.resolve(1))).toEqual({ data: 1, error: null });
  });

  it('report that a response came from a proxy', async () => {
    responses(reply(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }));

    const error = await failure(client({ max_retries: 0 }).usage.get());

    expect(error).toBeInstanceOf(UnexpectedAnswerError);
    expect(error).toMatchObject({ status: 502, reason: 'unexpected_answer' });
  });
});

describe('SDK retries', () => {
  it('repeat a send with the same idempotency key, and each send has its own key', async () => {
    responses(reply(500, refusal('internal_error', 'unexpected'), now), { kind: 'drop' }, reply(202, response));
    const postrider = client();

    expect(await postrider.email.send(mail)).toEqual(response);
    await postrider.email.send(mail);

    const keys = service.requests.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toEqual([keys[0], keys[0], keys[0], expect.stringMatching(/^[\w-]{36}$/)]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  it('use the caller’s idempotency key', async () => {
    responses(reply(202, response));

    await client().email.send(mail, { idempotency_key: 'receipt-1815' });

    expect(service.requests[0]?.headers['idempotency-key']).toBe('receipt-1815');
  });

  it('wait as long as a 429 requires, even for requests that are otherwise never retried', async () => {
    const limited = reply(429, refusal('rate_limited', 'default_rate'), now);
    responses(limited, limited, reply(201, { id: 'key_1' }));

    expect(await client().apiKeys.create({ name: 'Shop', scopes: ['email:send'] })).toMatchObject({ id: 'key_1' });
    expect(service.requests).toHaveLength(3);
  });

  it('stop at a 429 that requires waiting longer than one window', async () => {
    responses(reply(429, refusal('rate_limited', 'login_rate'), { 'retry-after': '3600' }));

    const error = await failure(client().usage.get());

    expect(error).toBeInstanceOf(RateLimitedError);
    expect(error).toMatchObject({ retry_after_seconds: 3600 });
    expect(service.requests).toHaveLength(1);
  });

  it('request the response again while the first attempt is still in progress', async () => {
    responses(reply(422, refusal('unprocessable', 'idempotency_in_progress'), now), reply(202, response));

    expect(await client().email.send(mail)).toEqual(response);
  });

  it('never repeat a request that might take effect twice or was rejected permanently', async () => {
    responses(reply(500, refusal('internal_error', 'unexpected'), now));
    expect(await failure(client().apiKeys.create({ name: 'Shop', scopes: ['email:send'] }))).toMatchObject({
      status: 500,
    });
    expect(service.requests).toHaveLength(1);

    responses(reply(404, refusal('not_found', 'message_not_found'), now));
    expect(await failure(client().email.get('msg_1'))).toBeInstanceOf(NotFoundError);
    expect(service.requests).toHaveLength(2);
  });

  it('stop after max_retries, and throw the last error', async () => {
    responses(reply(503, refusal('internal_error', 'unexpected'), now));

    await failure(client().usage.get({ max_retries: 3 }));
    await failure(client({ max_retries: 0 }).usage.get());

    expect(service.requests).toHaveLength(5);
  });

  it('distinguish an unreachable server from an unresponsive one', async () => {
    const dead_url = service.url;
    await service.stop();
    const unreachable = await failure(client({ url: dead_url, max_retries: 0 }).usage.get());
    service = await startWebhookSink();
    const released = Promise.withResolvers<void>();
    service.script(() => ({ kind: 'stall', until: released.promise }));
    const silent = await failure(client({ timeout_ms: 50, max_retries: 1 }).usage.get());
    released.resolve();

    expect(unreachable).toBeInstanceOf(ConnectionError);
    expect(unreachable).toMatchObject({ reason: 'unreachable', message: expect.stringContaining('ECONNREFUSED') });
    expect(silent?.cause).toMatchObject({ name: 'TimeoutError' });
    expect(silent).toBeInstanceOf(TimeoutError);
    expect(service.requests).toHaveLength(2);
  });
});

describe('an AbortSignal', () => {
  it('interrupts a call that is waiting for its response', async () => {
    const released = Promise.withResolvers<void>();
    service.script(() => ({ kind: 'stall', until: released.promise }));
    const abort = new AbortController();
    const call = failure(client().email.send(mail, { signal: abort.signal }));
    await service.waitFor(1);

    abort.abort();

    const error = await call;
    released.resolve();
    expect(error).toBeInstanceOf(AbortedError);
    expect(error?.name).toBe('AbortError');
  });

  it('interrupts the pause before a retry, and prevents a call that has not started', async () => {
    responses(reply(429, refusal('rate_limited', 'send_rate'), { 'retry-after': '50' }));
    const abort = new AbortController();
    const call = failure(client().email.send(mail, { signal: abort.signal }));
    await service.waitFor(1);

    abort.abort();

    expect(await call).toBeInstanceOf(AbortedError);
    expect(await failure(client().usage.get({ signal: AbortSignal.abort() }))).toBeInstanceOf(AbortedError);
    expect(service.requests).toHaveLength(1);
  });
});

describe('an SDK list', () => {
  const page = (ids: readonly string[], next_cursor: string | null) =>
    reply(200, { object: 'list', data: ids.map((id) => ({ id })), has_more: next_cursor !== null, next_cursor });

  it('returns its first page when awaited, and every entry when iterated', async () => {
    responses(page(['msg_3', 'msg_2'], 'c1'), page(['msg_3', 'msg_2'], 'c1'), page([], 'c2'), page(['msg_1'], null));
    const filters = { status: 'bounced', tag: ['a', 'b'], limit: 2 };

    const first = await client().email.logs(filters);
    const ids: string[] = [];
    for await (const { id } of client().email.logs(filters)) ids.push(id);

    expect(first).toMatchObject({ data: [{ id: 'msg_3' }, { id: 'msg_2' }], has_more: true, next_cursor: 'c1' });
    expect(ids).toEqual(['msg_3', 'msg_2', 'msg_1']);
    const query = 'status=bounced&tag=a&tag=b&limit=2';
    expect(service.requests.map(({ path }) => path)).toEqual([
      `/v1/email/logs?${query}`,
      `/v1/email/logs?${query}`,
      `/v1/email/logs?${query}&cursor=c1`,
      `/v1/email/logs?${query}&cursor=c2`,
    ]);
  });

  it('requests no more pages than needed', async () => {
    responses(page(['msg_2'], 'c1'));
    const list = client().email.logs();
    expect(service.requests).toHaveLength(0);

    for await (const { id } of list) {
      expect(id).toBe('msg_2');
      break;
    }
    await list;

    expect(service.requests).toHaveLength(1);
  });
});

describe('webhooks.verify', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const body = JSON.stringify({ id: 'evt_1', type: 'email.delivered', data: {} });
  const signed = (at = new Date(), signer = secret) => ({
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(signer).sign('evt_1', at, body),
  });

  it('returns the event from a signed post, in every form that a server may provide', async () => {
    const headers = signed();

    expect(await client().webhooks.verify(body, headers, secret)).toMatchObject({ type: 'email.delivered' });
    expect(await verifyWebhook(Buffer.from(body), new Headers(headers), secret)).toMatchObject({ id: 'evt_1' });
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await verifyWebhook(new TextEncoder().encode(body).buffer, capitals, ['whsec_b2xk', secret])).toBeTruthy();
    const rotated = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
    expect(await verifyWebhook(body, rotated, secret)).toBeTruthy();
  });

  it.each([
    ['another body', `${body} `, signed(), secret, 'wrong_signature'],
    ['another secret', body, signed(), 'whsec_b3RoZXI=', 'wrong_signature'],
    ['an old post', body, signed(new Date(Date.now() - 301_000)), secret, 'stale_timestamp'],
    ['a post of the future', body, signed(new Date(Date.now() + 310_000)), secret, 'stale_timestamp'],
    ['no time', body, { ...signed(), 'webhook-timestamp': 'now' }, secret, 'stale_timestamp'],
    ['no signature', body, { ...signed(), 'webhook-signature': '' }, secret, 'missing_header'],
    ['a signature that is no base64', body, { ...signed(), 'webhook-signature': 'v1,%%' }, secret, 'wrong_signature'],
    ['a secret that is none', body, signed(), 'secret', 'malformed_secret'],
  ])('rejects %s', async (_what, payload, headers, signer, reason) => {
    const error = await failure(verifyWebhook(payload, headers, signer));

    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ reason });
  });

  it('accepts a longer maximum age set by tolerance_seconds', async () => {
    const old = signed(new Date(Date.now() - 3_600_000));

    expect(await verifyWebhook(body, old, secret, { tolerance_seconds: 7200 })).toMatchObject({ id: 'evt_1' });
  });
});
