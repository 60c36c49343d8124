import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { createHandler as createAdmin } from '@postrider/admin';
import { createServices, invoke } from '@postrider/core';
import { createWebhook } from '@postrider/core/webhooks';
import { createResendHandler, createHandler as createRest } from '@postrider/rest';
import { startWebhookSink } from '@postrider/testing';
import { endAfterTests, openWorld } from '@postrider/testing/open-world';
import { beforeEach, expect, it } from 'vitest';
import { createTracing } from '../src/telemetry/traces.ts';
import { callerOf } from './parity/apis.ts';

const CANARY = 'canary-51ab';
const world = await openWorld();
const spans = new InMemorySpanExporter();
const { tracing, stop } = createTracing(
  { role: 'all', instance: 'here:1' },
  new SimpleSpanProcessor({ exporter: spans }),
  0,
);
endAfterTests({ stop });
// The world's own services run the workers.
Object.assign(world.services, { tracing });
const services = createServices({ ...world.services, tracing });
const [rest, resend, admin] = [createRest(services), createResendHandler(services), createAdmin(services)];
const server = createServer((request, response) => {
  const path = request.url ?? '';
  const handle = path.startsWith('/v1/') ? rest : path.startsWith('/resend/') ? resend : admin;
  void handle(request, response);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
endAfterTests({
  async stop() {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await services.key_uses.stop();
  },
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const mail = { from: 'shop@sandbox.test', to: 'ada@example.com', subject: CANARY, text: CANARY };

async function post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(response.ok).toBe(true);
  return response.text();
}

const caller = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

async function send(extra: object = {}, sampled = true): Promise<string> {
  const response = await post('/v1/email/send', { ...mail, ...extra }, sampled ? caller : {});
  return String((JSON.parse(response) as { id: string }).id);
}

const spanNames = () => spans.getFinishedSpans().map((span) => [span.name, span.spanContext().traceId === TRACE]);

beforeEach(() => spans.reset());

it('one trace connects the request, the commit, the attempt and the webhook', async () => {
  const hook = endAfterTests(await startWebhookSink());
  await invoke(world.as(world.workspace_id), createWebhook, { url: hook.url, events: ['email.delivered'] });

  await send();
  await world.drain();
  await world.postWebhooks();

  expect(spanNames()).toEqual([
    ['commit', true],
    ['POST /email/send', true],
    ['attempt', true],
    ['webhook', true],
  ]);
  const facts = JSON.stringify(spans.getFinishedSpans().map(({ attributes, name }) => [name, attributes]));
  for (const secret of [CANARY, world.secret, 'ada@example.com']) expect(facts).not.toContain(secret);
});

it('an email sent through another API also has a trace', async () => {
  const person = await callerOf(world, world.workspace_id, ['email:send'], 'member');
  const id = await send();
  spans.reset();

  await post('/resend/emails', mail, caller);
  await post('/trpc/test.send', mail, { ...caller, cookie: person.cookie, 'x-postrider': '1' });
  await post('/graphql', { query: `mutation { messageResend(input: { id: "${id}" }) { __typename } }` }, caller);

  expect(spanNames()).toEqual(
    ['/resend/emails', '/trpc', '/graphql'].flatMap((route) => [
      ['commit', true],
      [`POST ${route}`, true],
    ]),
  );
  await world.drain();
});

it('an unsampled message neither stores nor starts a trace', async () => {
  const id = await send({}, false);
  await world.drain();

  const [row] = await world.services.sql<{ trace_parent: string | null }[]>`
    select trace_parent from messages where id = ${id}`;
  expect(row).toEqual({ trace_parent: null });
  expect(spanNames()).toEqual([]);
});

it('scheduled email is attempted in a separate trace, linked to its request', async () => {
  await send({ scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() });
  await world.clock.advance(3_700_000);
  await world.drain();

  const attempt = spans.getFinishedSpans().find(({ name }) => name === 'attempt');
  expect(attempt?.spanContext().traceId).not.toBe(TRACE);
  expect(attempt?.links.map(({ context }) => context.traceId)).toEqual([TRACE]);
});
