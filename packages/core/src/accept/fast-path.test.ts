import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { revokeKey } from '../api-keys/index.ts';
import { newId } from '../fields/ids.ts';
import { createContext, invoke } from '../index.ts';
import type { Services } from '../operation/context.ts';
import { AppError } from '../operation/errors.ts';
import type { RateWindow } from '../operation/ports.ts';
import { hashSecret } from '../operation/secrets.ts';
import { sendBatch } from './send-batch.ts';
import { sendMessage } from './send-message.ts';

const world = await openWorld();
let peer: Services;
beforeAll(async () => {
  peer = await world.peer();
});

interface Tenant {
  readonly workspace_id: string;
  readonly secret: string;
  readonly key_id: string;
  readonly from: string;
}

interface SendResponse {
  readonly id: string;
  readonly window: RateWindow;
}

let tenants = 0;
let tenant: Tenant;
/** Creates a workspace whose key and domain are in this process's admission cache. */
beforeEach(async () => {
  await world.clock.freeze(new Date('2030-05-15T10:00:00Z'));
  tenant = await newTenant('business');
  await send();
});

async function newTenant(plan: string): Promise<Tenant> {
  const workspace = await world.workspace(plan);
  const domain = `tenant${tenants++}.test`;
  await world.domain(domain, workspace.workspace_id);
  return { ...workspace, from: `app@${domain}` };
}

function contextOf(services: Services, secret: string) {
  return createContext(services, { kind: 'credential', secret_hash: hashSecret(secret), address: '127.0.0.1' });
}

async function send(input: object = {}, services = world.services, { secret, from } = tenant): Promise<SendResponse> {
  const ctx = contextOf(services, secret);
  const { id } = await invoke(ctx, sendMessage, {
    from,
    to: 'ada@rcpt.test',
    subject: 'Hello',
    text: 'Hello.',
    ...input,
  });
  if (!ctx.notes.window) throw new Error('a send was not counted');
  return { id, window: ctx.notes.window };
}

/** Returns the reason a send was rejected, or `accepted`. */
async function refusal(sending: Promise<unknown>): Promise<string> {
  const outcome = await sending.then(
    () => 'accepted',
    (error: unknown) => (error instanceof AppError ? error.reason : String(error)),
  );
  return outcome;
}

/** Returns whether the transaction that stored a message was the last one to count its key. */
async function countedAsStored(id: string): Promise<boolean> {
  const [row] = await world.services.sql<{ same: boolean }[]>`
    select bool_or(r.xmin = m.xmin) as same from messages m join rate_windows r on r.subject = m.api_key_id
    where m.id = ${id} group by m.id`;
  return row?.same ?? false;
}

async function countedSends(): Promise<number> {
  const [row] = await world.services.sql<{ used: number }[]>`
    select sum(used)::int as used from rate_windows where subject = ${tenant.key_id} and class = 'send'`;
  return row?.used ?? 0;
}

describe('a cached key and domain', () => {
  it('are used to admit, count and store an email in one transaction', async () => {
    const { id } = await send();

    expect(await countedAsStored(id)).toBe(true);
    const [stored] = await world.services.sql<Record<string, unknown>[]>`
      select m.status, m.subject, m.created_at, m.event_count, b.text, r.email, r.state, e.type,
        (select count(*)::int from pgboss.job j where j.id = r.job_id) as jobs
      from messages m join bodies b on b.message_id = m.id join recipients r on r.message_id = m.id
      join events e on e.message_id = m.id where m.id = ${id}`;
    expect(stored).toEqual({
      status: 'queued',
      subject: 'Hello',
      created_at: new Date('2030-05-15T10:00:00Z'),
      event_count: 1,
      text: 'Hello.',
      email: 'ada@rcpt.test',
      state: 'queued',
      type: 'email.queued',
      jobs: 1,
    });
  });

  it('wake the workers of other processes, for an email that is accepted alone and for emails together', async () => {
    const wakes: string[] = [];
    const listening = await world.services.direct.listen('postrider_wake', (name) => wakes.push(name));
    const count = () => wakes.length;

    await send();
    await expect.poll(count).toBeGreaterThan(0);
    const count_before = count();
    await Promise.all([send(), send(), send()]);
    await expect.poll(count).toBeGreaterThan(count_before);

    expect(new Set(wakes)).toEqual(new Set(['delivery.attempt']));
    await listening.unlisten();
  });

  it('also serve a batch, which counts as one request', async () => {
    const ctx = contextOf(world.services, tenant.secret);
    const mail = { from: tenant.from, to: ['ada@rcpt.test', 'eve@rcpt.test'], subject: 'Two', text: 'Hello.' };

    const { data } = await invoke(ctx, sendBatch, [mail, { ...mail, tags: ['a', 'b'] }]);

    const ids = data.map((result) => ('id' in result ? result.id : ''));
    expect(await Promise.all(ids.map(countedAsStored))).toEqual([true, true]);
    expect(await countedSends()).toBe(2);
    const [rows] = await world.services.sql<{ people: number; tags: string[] }[]>`
      select (select count(*)::int from recipients where message_id = any (${ids}::uuid[])) as people,
        (select array_agg(g.name order by g.name) from message_tags t join tags g on g.id = t.tag_id
          where t.message_id = any (${ids}::uuid[])) as tags`;
    expect(rows).toEqual({ people: 4, tags: ['a', 'b'] });
  });

  it.each([
    ['a quote, a backslash, a comma and a brace', 'a "b" \\ , {c}', '{"\\\n}'],
    ['the separators of records', 'Hello', 'a\x1eb\x1fc\x1ad\x1de'],
    ['only the mark of a null field', 'Hello', '\x1a'],
    ['characters of several bytes', 'Grüße 🎉', '漢字 \u{1f469}\u200d\u{1f680}'],
  ])('preserve %s', async (_, subject, text) => {
    const { id } = await send({ subject, text, html: text });

    const [stored] = await world.services.sql<Record<string, unknown>[]>`
      select m.subject, b.text, b.html from messages m join bodies b on b.message_id = m.id where m.id = ${id}`;
    expect(stored).toEqual({ subject, text, html: text });
  });
});

describe('the fast path after a change by another process', () => {
  it('rejects a revoked key', async () => {
    const ctx = createContext(peer, { kind: 'system', workspace_id: tenant.workspace_id });

    await invoke(ctx, revokeKey, { key_id: tenant.key_id });

    expect(await refusal(send())).toBe('revoked_key');
  });

  it('promise P26: does not mistake the change for an earlier one after failover to a lagging standby', async () => {
    const { sql } = world.services;
    const epoch = async () => (await sql<{ value: number }[]>`select value from accept_epoch`)[0]?.value;
    const change = () => sql`update domains set status = 'failed' where workspace_id = ${tenant.workspace_id}`;
    const before = await epoch();
    await change();
    const cached = await epoch();
    await sql`update accept_epoch set value = ${before ?? 0}`;

    await sql`update domains set status = 'verified' where workspace_id = ${tenant.workspace_id}`;

    expect(await epoch()).toBeGreaterThan(before ?? 0);
    expect(await epoch()).not.toBe(cached);
  });

  it('rejects a removed domain', async () => {
    await peer.sql`delete from domains where workspace_id = ${tenant.workspace_id}`;

    expect(await refusal(send())).toBe('domain_not_verified');
  });

  it('rejects a failed domain, and accepts the domain once it is verified again', async () => {
    const set = (status: string) =>
      peer.sql`update domains set status = ${status} where workspace_id = ${tenant.workspace_id}`;

    await set('failed');
    expect(await refusal(send())).toBe('domain_not_verified');
    await set('verified');
    expect(await refusal(send())).toBe('accepted');
  });

  it('applies the lower plan’s recipient limit', async () => {
    const to = Array.from({ length: 11 }, (_, index) => `person${index}@rcpt.test`);
    await send({ to });

    await peer.sql`update workspaces set plan = 'free' where id = ${tenant.workspace_id}`;

    expect(await refusal(send({ to }))).toBe('recipient_cap_exceeded');
  });

  it('applies the new plan’s rate limit', async () => {
    await peer.sql`insert into plans (name, recipient_cap, send_per_minute) values ('narrow', 10, 5) on conflict do nothing`;
    await peer.sql`update workspaces set plan = 'narrow' where id = ${tenant.workspace_id}`;
    expect((await send()).window).toMatchObject({ limit: 5, remaining: 3 });

    await peer.sql`update plans set send_per_minute = 3 where name = 'narrow'`;

    expect((await send()).window).toMatchObject({ limit: 3, remaining: 0 });
    expect(await refusal(send())).toBe('send_rate');
  });

  it('rejects a key that has lost the required scope', async () => {
    await peer.sql`update api_keys set scopes = '{domains:read}' where id = ${tenant.key_id}`;

    expect(await refusal(send())).toBe('missing_scope');
  });

  it('stops email to a newly suppressed address', async () => {
    await suppress('ada@rcpt.test');

    expect(await refusal(send())).toBe('all_recipients_suppressed');
    const { id } = await send({ to: ['ada@rcpt.test', 'eve@rcpt.test'] });
    expect(
      await world.services.sql`select email, state::text from recipients where message_id = ${id} order by email`,
    ).toMatchObject([
      { email: 'ada@rcpt.test', state: 'suppressed' },
      { email: 'eve@rcpt.test', state: 'queued' },
    ]);
  });

  it('rejects no other messages in the batch', async () => {
    const others = await Promise.all([newTenant('business'), newTenant('business')]);
    for (const other of others) await send({}, world.services, other);
    await suppress('ada@rcpt.test');

    const outcomes = await Promise.all([
      refusal(send()),
      ...others.map((other) => refusal(send({}, world.services, other))),
    ]);

    expect(outcomes).toEqual(['all_recipients_suppressed', 'accepted', 'accepted']);
    expect(await countedSends()).toBe(2);
  });

  function suppress(email: string) {
    return peer.sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${tenant.workspace_id}, ${newId('suppression', Date.now())}, ${email}, 'manual', clock_now())`;
  }
});

describe('limits enforced from cached data', () => {
  it('reject a key as soon as it expires', async () => {
    await world.services.sql`
      update api_keys set expires_at = clock_now() + interval '1 second' where id = ${tenant.key_id}`;
    await send();
    expect(await countedAsStored((await send()).id)).toBe(true);

    await world.clock.advance(1000);

    expect(await refusal(send())).toBe('expired_key');
  });

  it('give every request its own position in the window, across two processes', async () => {
    await send({}, peer);

    const sent = await Promise.all(
      Array.from({ length: 40 }, (_, index) => send({}, index % 2 === 0 ? world.services : peer)),
    );

    const remaining = sent.map(({ window }) => window.remaining).sort((left, right) => right - left);
    expect(remaining).toEqual(Array.from({ length: 40 }, (_, index) => 997 - index));
  });

  it('accept as many requests as the window allows, across two processes', async () => {
    await send({}, peer);
    await world.services.sql`
      update rate_windows set used = 993 where subject = ${tenant.key_id} and class = 'send'`;

    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => refusal(send({}, index % 2 === 0 ? world.services : peer))),
    );

    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(7);
    expect(outcomes.filter((outcome) => outcome === 'send_rate')).toHaveLength(13);
  });

  it('start a new window every minute', async () => {
    await world.services.sql`
      update rate_windows set used = 1000 where subject = ${tenant.key_id} and class = 'send'`;
    expect(await refusal(send())).toBe('send_rate');

    await world.clock.advance(60_000);

    expect((await send()).window.remaining).toBe(999);
  });

  it('accept email up to the monthly limit, across two processes', async () => {
    tenant = await newTenant('free');
    await send();
    await send({}, peer);
    await world.services.sql`update usage_months set used = 2990 where workspace_id = ${tenant.workspace_id}`;

    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => refusal(send({}, index % 2 === 0 ? world.services : peer))),
    );

    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'quota_exceeded')).toHaveLength(20);
    const [usage] = await world.services.sql<{ used: number; days: number }[]>`
      select used, by_day[15] as days from usage_months where workspace_id = ${tenant.workspace_id}`;
    expect(usage).toEqual({ used: 3000, days: 12 });
    expect(await countedSends()).toBe(32);
  });

  it('include the first email of the month', async () => {
    await world.clock.freeze(new Date('2030-06-30T23:59:30Z'));

    expect(await countedAsStored((await send()).id)).toBe(true);

    const [usage] = await world.services.sql<{ used: number; day: number; days: number }[]>`
      select used, by_day[30] as day, cardinality(by_day) as days from usage_months
      where workspace_id = ${tenant.workspace_id} and month = '2030-06-01'`;
    expect(usage).toEqual({ used: 1, day: 1, days: 31 });
  });
});
