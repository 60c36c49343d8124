import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { listEvents } from '@postrider/core/events';
import { getMessage } from '@postrider/core/messages';
import type { DnsAnswer, DnsLookup } from '@postrider/net';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { addDomain } from './add-domain.ts';
import { applyCheck } from './apply-check.ts';
import { type DomainEntry, siteOf } from './domain-entry.ts';
import { getDomain } from './get-domain.ts';
import { recheckDomains } from './recheck-domains.ts';
import { checkRecords } from './records/check-records.ts';
import { removeDomain } from './remove-domain.ts';
import { domainByName, publicKeysOf } from './store.ts';
import { resumeDomain, suspendDomain } from './suspend-domain.ts';
import { updateDomain } from './update-domain.ts';
import { verifyDomain } from './verify-domain.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const world = await openWorld({ HELO_NAME: 'mail.service.test', RETRY_SCHEDULE: '1h,1h,1h' });

const ctx = (workspace_id = world.workspace_id) => world.as(workspace_id);
const domainOf = (domain: string, workspace_id?: string) => invoke(ctx(workspace_id), getDomain, { domain });

function publish(entry: DomainEntry): void {
  for (const { type, fqdn, value, required } of entry.dns_records) {
    if (type === 'TXT' && required) world.dns.set(fqdn, 'TXT', [value]);
  }
}

async function added(name: string): Promise<DomainEntry> {
  return invoke(ctx(), addDomain, { name });
}

async function verified(name: string): Promise<DomainEntry> {
  publish(await added(name));
  const entry = await invoke(ctx(), verifyDomain, { domain: name });
  expect(entry.status).toBe('verified');
  return entry;
}

/** Advances the clock, running the job every minute. */
async function pass(duration_ms: number): Promise<void> {
  await world.clock.advance(duration_ms);
  await recheckDomains(world.services);
}

function send(from: string, fields: object = {}) {
  return invoke(ctx(), sendMessage, { from, to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields });
}

async function eventsOf(type: string, name: string): Promise<number> {
  const { data } = await invoke(ctx(), listEvents, { type, limit: '100' });
  return data.filter((event) => JSON.stringify(event).includes(`"${name}"`)).length;
}

describe('a background check', () => {
  it('verifies a new domain within minutes of publishing its records', async () => {
    const entry = await added('new.test');
    await pass(MINUTE_MS);
    expect(await domainOf('new.test')).toMatchObject({ status: 'pending', last_checked_at: expect.any(String) });
    publish(entry);

    await pass(2 * MINUTE_MS);

    expect(await domainOf('new.test')).toMatchObject({ status: 'verified', can_send: true });
    expect(await eventsOf('domain.verified', 'new.test')).toBe(1);
  });

  it('marks a domain that lost a record as at risk, and lets it send for another 72 hours', async () => {
    const before = await verified('lost.test');
    world.dns.remove('_postrider.lost.test');

    await pass(6 * HOUR_MS);
    const at_risk = await domainOf('lost.test');
    await pass(72 * HOUR_MS - MINUTE_MS);
    const unchanged = await domainOf('lost.test');
    await send('a@lost.test');
    const scheduled = await send('a@lost.test', { scheduled_at: new Date(world.clock.now() + HOUR_MS).toISOString() });
    await world.drain();
    await pass(10 * MINUTE_MS);
    const failed = await domainOf('lost.test');

    expect(at_risk).toMatchObject({ status: 'at_risk', can_send: true, verified_at: before.verified_at });
    expect(at_risk.status_reason).toContain('_postrider.lost.test is missing');
    expect(unchanged.status).toBe('at_risk');
    expect(world.smtp.messages.filter((mail) => mail.message_id?.endsWith('@lost.test>'))).toHaveLength(1);
    expect(failed).toMatchObject({ status: 'failed', can_send: false });
    await expect(send('a@lost.test')).rejects.toMatchObject({ reason: 'domain_not_verified' });
    expect(await eventsOf('domain.at_risk', 'lost.test')).toBe(1);
    expect(await eventsOf('domain.failed', 'lost.test')).toBe(1);

    // Messages accepted earlier wait, and are sent once the domain passes its checks again.
    await world.clock.advance(HOUR_MS);
    await world.drain();
    expect(await invoke(ctx(), getMessage, { id: scheduled.id })).toMatchObject({ status: 'deferred' });
    publish(before);
    await pass(DAY_MS);
    await world.drain();
    expect(await domainOf('lost.test')).toMatchObject({ status: 'verified' });
    expect(await invoke(ctx(), getMessage, { id: scheduled.id })).toMatchObject({ status: 'delivered' });
  });

  it('changes no state while DNS fails, however long the failure lasts', async () => {
    const before = await verified('dark.test');
    for (const { fqdn } of before.dns_records) world.dns.fail(fqdn, 'SERVFAIL');
    await pass(30 * DAY_MS);
    const dark = await domainOf('dark.test');
    for (const { fqdn } of before.dns_records) world.dns.fail(fqdn, null);
    world.dns.remove('_postrider.dark.test');
    await pass(10 * MINUTE_MS);
    const lost = await domainOf('dark.test');
    world.dns.fail('_postrider.dark.test', 'REFUSED');
    await pass(30 * DAY_MS);

    expect(dark).toMatchObject({ status: 'verified', can_send: true });
    expect(dark.status_reason).toContain('could not be looked up');
    // After a failed lookup the next check comes soon, even for a verified domain.
    const pause_ms = Date.parse(dark.next_check_at ?? '') - Date.parse(dark.last_checked_at ?? '');
    expect(pause_ms).toBe(10 * MINUTE_MS);
    expect(lost.status).toBe('at_risk');
    expect((await domainOf('dark.test')).status).toBe('at_risk');
  });

  it('runs less and less often for an unproven domain, which fails after 14 days', async () => {
    await added('slow.test');
    const pauses: number[] = [];
    for (const after of [MINUTE_MS, 2 * HOUR_MS, DAY_MS, 12 * DAY_MS]) {
      await pass(after);
      const { last_checked_at, next_check_at } = await domainOf('slow.test');
      pauses.push((Date.parse(next_check_at ?? '') - Date.parse(last_checked_at ?? '')) / MINUTE_MS);
    }
    expect((await domainOf('slow.test')).status).toBe('pending');

    await pass(DAY_MS);
    expect((await domainOf('slow.test')).status).toBe('failed');
    await pass(31 * DAY_MS);

    expect(pauses).toEqual([2, 10, 60, 60]);
    expect(await domainOf('slow.test')).toMatchObject({ status: 'failed', next_check_at: null });
    expect(await eventsOf('domain.failed', 'slow.test')).toBe(1);
  });

  it('becomes infrequent for a new domain whose name servers never respond', async () => {
    const { dns_records } = await added('mute.test');
    for (const { fqdn } of dns_records) world.dns.fail(fqdn, 'timeout');
    const pauses: number[] = [];
    for (const after of [MINUTE_MS, HOUR_MS, DAY_MS]) {
      await pass(after);
      const { last_checked_at, next_check_at } = await domainOf('mute.test');
      pauses.push((Date.parse(next_check_at ?? '') - Date.parse(last_checked_at ?? '')) / MINUTE_MS);
    }

    expect(pauses).toEqual([2, expect.closeTo(30.5, 0), 360]);
  });

  it('assigns a name proven by two workspaces to one, and to the other once the name is free', async () => {
    const own = await added('both.test');
    const other = await world.workspace('free');
    const theirs = await invoke(ctx(other.workspace_id), addDomain, { name: 'both.test', dkim_selector: 'theirs' });
    publish(own);
    publish(theirs);
    world.dns.set(
      '_postrider.both.test',
      'TXT',
      [own, theirs].flatMap(({ dns_records }) => dns_records[0]?.value ?? []),
    );

    await pass(MINUTE_MS);
    const both = [await domainOf('both.test'), await domainOf('both.test', other.workspace_id)];
    const winner = both.findIndex(({ status }) => status === 'verified');
    const [first, second] =
      winner === 0 ? [world.workspace_id, other.workspace_id] : [other.workspace_id, world.workspace_id];
    await invoke(ctx(first), removeDomain, { domain: 'both.test' });
    await pass(2 * MINUTE_MS);

    expect(both.map(({ status }) => status).sort()).toEqual(['pending', 'verified']);
    expect(both[1 - winner]?.status_reason).toBe('Another workspace verified this domain.');
    expect((await domainOf('both.test', second)).status).toBe('verified');
  });

  it('gives up after 14 days on a name that remains assigned to another workspace', async () => {
    const other = await world.workspace('free');
    const theirs = await invoke(ctx(other.workspace_id), addDomain, { name: 'held.test', dkim_selector: 'theirs' });
    const own = await verified('held.test');
    publish(theirs);
    const proofs = [own, theirs].flatMap(({ dns_records }) => dns_records[0]?.value ?? []);
    world.dns.set('_postrider.held.test', 'TXT', proofs);

    await pass(MINUTE_MS);
    const held_domain = await domainOf('held.test', other.workspace_id);
    await pass(14 * DAY_MS);

    expect(held_domain).toMatchObject({ status: 'pending', status_reason: 'Another workspace verified this domain.' });
    expect((await domainOf('held.test', other.workspace_id)).status).toBe('failed');
    expect((await domainOf('held.test')).status).toBe('verified');
  });

  it('runs once per domain, however many processes poll', async () => {
    const peer = await world.peer();
    const names = Array.from({ length: 12 }, (_, index) => `n${index}.many.test`);
    for (const name of names) await added(name);
    const before = world.dns.questions.length;
    await world.clock.advance(MINUTE_MS);

    await Promise.all([recheckDomains(world.services), recheckDomains(peer), recheckDomains(world.services)]);

    const questions = world.dns.questions.slice(before);
    for (const name of names) {
      expect(questions.filter((question) => question === `TXT _postrider.${name}`)).toHaveLength(1);
    }
  });

  it('fairness P12: covers two domains per workspace at a time, however many name servers are unresponsive', async () => {
    const neighbor = await world.workspace('free');
    for (let index = 0; index < 20; index++) await added(`n${index}.silent.test`);
    publish(await invoke(ctx(neighbor.workspace_id), addDomain, { name: 'answers.test' }));
    await world.clock.advance(MINUTE_MS);
    const released = Promise.withResolvers<DnsAnswer>();
    const names = new Set<string>();
    const { dns } = world.services;
    const silent: DnsLookup = {
      ...dns,
      lookup(fqdn, type) {
        const [name] = /n\d+\.silent\.test$/.exec(fqdn) ?? [];
        if (name === undefined) return dns.lookup(fqdn, type);
        names.add(name);
        return released.promise;
      },
    };

    const run = recheckDomains({ ...world.services, dns: silent });
    await expect.poll(async () => (await domainOf('answers.test', neighbor.workspace_id)).status).toBe('verified');
    await expect.poll(() => names.size).toBe(2);

    released.resolve({ kind: 'error', message: 'timeout' });
    await run;
    expect(names.size).toBe(20);
    expect((await domainOf('n0.silent.test')).status_reason).toContain('could not be looked up');
  });

  it('is discarded if a newer check has been recorded', async () => {
    await verified('raced.test');
    const { services } = world;
    const row = await domainByName(services.sql, world.workspace_id, 'raced.test');
    if (!row) throw new Error('the domain is gone');
    const keys = await publicKeysOf(services.sql, [row.id]);
    const ownership = (await domainOf('raced.test')).dns_records[0];
    world.dns.remove('_postrider.raced.test');
    const checked = await checkRecords(services.dns, row, keys, await siteOf(services, world.workspace_id, row.name));
    world.dns.set('_postrider.raced.test', 'TXT', [ownership?.value ?? '']);
    await world.clock.advance(1000);
    await invoke(ctx(), verifyDomain, { domain: 'raced.test' });

    await applyCheck(services, { domain: row, checked, yields: true });

    expect((await domainOf('raced.test')).status).toBe('verified');
    expect(await eventsOf('domain.at_risk', 'raced.test')).toBe(0);
  });

  it.each([true, false])('does not prove a return path set during the check (yields: %s)', async (yields) => {
    const name = yields ? 'moved.test' : 'moved-too.test';
    const entry = await invoke(ctx(), addDomain, { name, return_path: 'bounces' });
    publish(entry);
    await invoke(ctx(), verifyDomain, { domain: name });
    const { services } = world;
    const domain = await domainByName(services.sql, world.workspace_id, name);
    if (!domain) throw new Error('the domain is gone');
    const expected = entry.dns_records.find(({ purpose }) => purpose === 'return_path');
    if (expected?.type !== 'MX') throw new Error('the return path has another record');
    world.dns.set(expected.fqdn, 'MX', [{ priority: 10, exchange: 'mail.service.test' }]);
    const keys = await publicKeysOf(services.sql, [domain.id]);
    const checked = await checkRecords(
      services.dns,
      domain,
      keys,
      await siteOf(services, world.workspace_id, domain.name),
    );
    expect(checked.find((one) => one.expected.purpose === 'return_path')?.finding.found).not.toEqual([]);
    await invoke(ctx(), updateDomain, { domain: name, return_path: 'returned' });

    await applyCheck(services, { domain, checked, yields });

    const [row] = await services.sql`
      select return_path_ready, next_check_at <= clock_now() as due from domains where name = ${name}`;
    expect(row).toEqual({ return_path_ready: false, due: true });
    expect((await domainOf(name)).status).toBe('verified');
  });

  it('is taken over if its process dies', async () => {
    publish(await added('orphan.test'));
    await world.clock.advance(MINUTE_MS);
    await world.services.sql`
      update domains set next_check_at = clock_now() + interval '5 minutes' where name = 'orphan.test'`;

    await pass(4 * MINUTE_MS);
    expect((await domainOf('orphan.test')).status).toBe('pending');
    await pass(MINUTE_MS);

    expect((await domainOf('orphan.test')).status).toBe('verified');
  });

  it('skips the sandbox domain', async () => {
    await pass(365 * DAY_MS);

    expect(await domainOf('sandbox.test')).toMatchObject({ status: 'verified', last_checked_at: null });
  });
});

describe('domain suspension by an operator', () => {
  it('rejects new email and holds queued email until the domain is resumed and reverified', async () => {
    await verified('bad.test');
    const waiting = await send('a@bad.test');

    const suspended = await invoke(ctx(), suspendDomain, { domain: 'BAD.test.', reason: 'spam' });
    await world.drain();
    await pass(30 * DAY_MS);
    const bad_domain = await domainOf('bad.test');

    expect(suspended).toMatchObject({ status: 'suspended', status_reason: 'Suspended by an operator: spam' });
    expect(bad_domain).toMatchObject({ status: 'suspended', can_send: false, next_check_at: null });
    await expect(send('a@bad.test')).rejects.toMatchObject({ reason: 'domain_not_verified' });
    expect(await invoke(ctx(), getMessage, { id: waiting.id })).toMatchObject({ status: 'deferred' });
    expect(await invoke(ctx(), suspendDomain, { domain: 'bad.test', reason: 'again' })).toEqual(bad_domain);

    expect(await invoke(ctx(), resumeDomain, { domain: 'bad.test' })).toMatchObject({ status: 'pending' });
    await pass(0);
    await world.drain();
    expect(await domainOf('bad.test')).toMatchObject({ status: 'verified', status_reason: null });
    expect(await invoke(ctx(), getMessage, { id: waiting.id })).toMatchObject({ status: 'delivered' });
  });

  it('works for any workspace’s domain except the sandbox domain, and is limited to operators', async () => {
    const other = await world.workspace('free');
    await invoke(ctx(other.workspace_id), addDomain, { name: 'theirs.test' });
    const input = { domain: 'theirs.test', reason: 'spam' };
    const key = await world.key({ scopes: ['admin'] });
    const member = {
      ...ctx(),
      actor: {
        kind: 'key',
        workspace_id: world.workspace_id,
        key_id: key.id,
        scopes: ['admin'],
        mode: 'live',
        domains: null,
      },
    } as const;

    await expect(invoke(ctx(), suspendDomain, input)).rejects.toMatchObject({ reason: 'domain_not_found' });
    await expect(invoke(member, suspendDomain, input)).rejects.toMatchObject({ reason: 'missing_scope' });
    const sandbox = { domain: 'sandbox.test', reason: 'x' };
    await expect(invoke(ctx(), suspendDomain, sandbox)).rejects.toMatchObject({ reason: 'domain_not_allowed' });
    const suspended = await invoke(ctx(), suspendDomain, { ...input, workspace_id: other.workspace_id });

    expect(suspended.status).toBe('suspended');
  });
});
