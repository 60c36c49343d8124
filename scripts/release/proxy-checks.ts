import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** Two addresses of loopback: the one that the key of the check allows, and another. */
const ALLOWED = '127.0.0.77';
const OTHER = '127.0.0.78';
const EVENT_MS = 30_000;

/** A proxy in front of the service, at its own address. */
export interface ProxiedService {
  readonly name: string;
  readonly url: string;
  /** The key with every scope. */
  readonly key: string;
  readonly from: string;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body?: object;
  readonly accept?: string;
  readonly address?: string;
}

/** Checks that a proxy passes on REST, GraphQL, event streams and the client's address. */
export async function checkProxy(service: ProxiedService): Promise<void> {
  const { name, key, from } = service;
  const message = { from, to: `through-${name}@example.com`, subject: name, text: 'Hi' };
  const sent = await json(service, { method: 'POST', path: '/v1/email/send', key, body: message });
  assert.equal(sent.status, 202, JSON.stringify(sent.body));
  await checkAddress(service);
  const query = { query: '{ viewer { __typename } }' };
  const answer = await json(service, { method: 'POST', path: '/graphql', key, body: query });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  await checkStream(service, message);
  console.log(`ok     ${name} passes on REST, GraphQL, event streams and the client's address`);
}

/** A key that only one address may use works from it, and from no other. */
async function checkAddress(service: ProxiedService): Promise<void> {
  const body = { name: service.name, scopes: ['email:logs:read'], allowed_ips: [ALLOWED] };
  const created = await json(service, { method: 'POST', path: '/v1/api-keys', key: service.key, body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const key = String(created.body.secret);
  const statusFrom = async (address: string) =>
    (await json(service, { method: 'GET', path: '/v1/email/logs', key, address })).status;
  assert.deepEqual([await statusFrom(ALLOWED), await statusFrom(OTHER)], [200, 401]);
}

/** An event arrives over a subscription while the response is open, so that no proxy holds it back. */
async function checkStream(service: ProxiedService, message: object): Promise<void> {
  const body = { query: 'subscription { events { node { type } } }' };
  const accept = 'text/event-stream';
  const stream = await call(service, { method: 'POST', path: '/graphql', key: service.key, body, accept });
  let received = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  await json(service, { method: 'POST', path: '/v1/email/send', key: service.key, body: message });
  const until = performance.now() + EVENT_MS;
  while (!/email\.|EMAIL_/.test(received)) {
    assert.ok(performance.now() < until, `no event came through ${service.name}: ${received}`);
    await pause(100);
  }
  stream.destroy();
}

async function json(
  service: ProxiedService,
  options: Call,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await call(service, options);
  const body = await text(response);
  return { status: response.statusCode ?? 0, body: body.startsWith('{') ? JSON.parse(body) : { body } };
}

async function call({ url }: ProxiedService, options: Call): Promise<IncomingMessage> {
  const { method, path, key, body, accept = 'application/json', address } = options;
  const request = url.startsWith('https:') ? requestTls : requestPlain;
  const sent = request(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
    // The certificate of this machine is its own.
    rejectUnauthorized: false,
    ...(address !== undefined && { localAddress: address }),
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}
