import type { Services } from '@postrider/core';
import { createWorld, type ReceivedMessage, type World } from '@postrider/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { type ApiResponse, type CallOptions, type RestServer, startRest } from '../rest-server.ts';

export let world: World;
export let rest: RestServer;
/** Serves the same /v1, as if from another process. */
export let other: RestServer;
export let peer: Services;

async function open(): Promise<void> {
  // Stores the transcripts of all attempts for comparison.
  world = await createWorld({ TRANSCRIPTS: 'all' });
  rest = await startRest(world.services, world.secret);
  peer = await world.peer();
  other = await startRest(peer, world.secret);
  await world.domain('good.test');
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
}
async function close(): Promise<void> {
  await rest.stop();
  await other.stop();
  await world.stop();
}

/** Registers the setup and teardown of these servers for the tests of a file. */
export function openSender(): void {
  beforeAll(open);
  afterAll(close);
  // Each test starts with fresh windows, and no window rolls over during a test.
  beforeEach(() => world.clock.advance(60_000));
  afterEach(() => vi.useRealTimers());
}

export const hello = { from: 'hello@sandbox.test', to: 'ada@example.com', subject: 'Hello', text: 'Hi' };
export const MIB = 1024 * 1024;

export const send = (fields: Record<string, unknown> = {}, options: CallOptions = {}) =>
  rest.call('POST', '/email/send', { body: { ...hello, ...fields }, ...options });
export const post = (body: unknown, options: CallOptions = {}) =>
  rest.call('POST', '/email/send', { body, ...options });
export const keyed = (idempotency_key: string) => ({ headers: { 'idempotency-key': idempotency_key } });

/** Drains due jobs and returns the copies of one message. */
export async function copiesOf(response: ApiResponse): Promise<readonly ReceivedMessage[]> {
  expect(response.status, response.text).toBe(202);
  await world.drain();
  return world.smtp.messages.filter((mail) => mail.message_id?.startsWith(`<${response.body.id}@`));
}

export async function onlyCopyOf(response: ApiResponse): Promise<ReceivedMessage> {
  const [copy, ...remaining] = await copiesOf(response);
  if (!copy || remaining.length > 0) throw new Error(`${remaining.length + (copy ? 1 : 0)} copies arrived`);
  return copy;
}

/** Returns a message's header block, unfolded, as `name: value` lines. */
export function headerLines(mail: ReceivedMessage): string[] {
  const head = mail.raw.toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
  return head.replace(/\r\n[ \t]/g, ' ').split('\r\n');
}

export function longestLine(mail: ReceivedMessage): number {
  return Math.max(
    ...mail.raw
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.length),
  );
}

export async function storedMessages(): Promise<number> {
  const [row] = await world.services.sql<{ count: number }[]>`select count(*) as count from messages`;
  return row?.count ?? -1;
}

export async function usedEmails(workspace_id: string): Promise<number> {
  const [row] = await world.services.sql<{ used: number }[]>`
    select coalesce(sum(used), 0)::int8 as used from usage_months where workspace_id = ${workspace_id}`;
  return row?.used ?? -1;
}

/** Leaves this many messages in the month's quota of a workspace on the Free plan. */
export async function leaveEmails(workspace_id: string, emails_left: number): Promise<void> {
  await world.services.sql`
    insert into usage_months (workspace_id, month, used)
    values (${workspace_id}, date_trunc('month', clock_now(), 'UTC')::date, ${3000 - emails_left})
    on conflict (workspace_id, month) do update set used = excluded.used`;
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `r${index}@example.com`);
}
