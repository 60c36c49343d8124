import { Resolver } from 'node:dns/promises';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import type { ReceivedMessage } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { dkimVerify } from 'mailauth';
import { beforeAll, describe, expect, it } from 'vitest';
import { FairLine, keyBounds } from '../shares/index.ts';
import { addDomain } from './add-domain.ts';
import type { DomainEntry } from './domain-entry.ts';
import { getDomain } from './get-domain.ts';
import { recheckDomains } from './recheck-domains.ts';
import { rotateKeys } from './rotate-keys.ts';
import { verifyDomain } from './verify-domain.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TTL_SECONDS = 3600;

const world = await openWorld({ HELO_NAME: 'mail.service.test' });
let resolver: Resolver;
beforeAll(async () => {
  resolver = new Resolver();
  resolver.setServers([world.dns.address]);
});

const ctx = () => world.as(world.workspace_id);
const domainOf = (domain: string) => invoke(ctx(), getDomain, { domain });
const dkimRecords = (entry: DomainEntry) => entry.dns_records.filter(({ purpose }) => purpose === 'dkim');
const selectors = (entry: DomainEntry) =>
  dkimRecords(entry).map(({ fqdn, key_role }) => `${fqdn.split('.')[0]} ${key_role}`);

function publish({ dns_records }: DomainEntry): void {
  for (const { type, fqdn, value } of dns_records) if (type === 'TXT') world.dns.set(fqdn, 'TXT', [value], TTL_SECONDS);
}

async function verified(name: string, dkim_selector?: string): Promise<DomainEntry> {
  publish(await invoke(ctx(), addDomain, { name, dkim_selector, dkim_ed25519: true }));
  return invoke(ctx(), verifyDomain, { domain: name });
}

async function pass(duration_ms: number): Promise<void> {
  await world.clock.advance(duration_ms);
  await recheckDomains(world.services);
}

/** A receiver that caches every response for an hour, negative ones included. */
const cache = new Map<string, { readonly records: string[][]; readonly until: number }>();
async function asReceiver(name: string): Promise<string[][]> {
  let entry = cache.get(name);
  if (!entry || entry.until <= world.clock.now()) {
    const records = await resolver.resolveTxt(name).catch(() => []);
    entry = { records, until: world.clock.now() + TTL_SECONDS * 1000 };
    cache.set(name, entry);
  }
  if (entry.records.length === 0) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return entry.records;
}

async function signaturesOf(mail: ReceivedMessage): Promise<string[]> {
  const { results } = await dkimVerify(mail.raw, { resolver: asReceiver });
  return results.map(({ status, algo, selector }) => `${status.result} ${algo} ${selector}`);
}

/** Sends messages during an action and returns the signatures of those that arrived. */
async function load(name: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<string[]> {
  const before = world.smtp.messages.length;
  const sends = Array.from({ length: 5 }, (_, index) =>
    invoke(ctx(), sendMessage, { from: `a@${name}`, to: `r${index}@example.com`, subject: 'Hello', text: 'Hi' }),
  );
  await Promise.all([...sends, meanwhile(), world.drain()]);
  await world.drain();
  const arrived = world.smtp.messages.slice(before);
  expect(arrived).toHaveLength(5);
  return (await Promise.all(arrived.map(signaturesOf))).flat();
}

describe('a key rotation', () => {
  it('breaks no signatures over two rotations for receivers that cache every DNS response', async () => {
    await verified('rotated.test');
    const used = new Set<string>();
    const held_emails: ReceivedMessage[] = [];
    const rounds = async (count: number, step_ms: number) => {
      for (let round = 0; round < count; round++) {
        for (const signature of await load('rotated.test', () => pass(step_ms))) used.add(signature);
        held_emails.push(...world.smtp.messages.slice(-1));
      }
    };
    const checks: string[][] = [];
    for (let turn = 0; turn < 2; turn++) {
      await rounds(2, HOUR_MS);
      await load('rotated.test', () => invoke(ctx(), rotateKeys, { domain: 'rotated.test' }));
      checks.push(selectors(await domainOf('rotated.test')));
      await rounds(2, HOUR_MS);
      // Responses cached just before the records change remain valid for another hour.
      await Promise.all(
        dkimRecords(await domainOf('rotated.test')).map(({ fqdn }) => asReceiver(fqdn).catch(() => [])),
      );
      publish(await domainOf('rotated.test'));
      await rounds(6, HOUR_MS / 6);
      await rounds(30, HOUR_MS);
      checks.push(selectors(await domainOf('rotated.test')));
      const later_emails = held_emails.splice(0);
      await rounds(14, 12 * HOUR_MS);
      // A message signed before the switch that arrives days later still finds its record.
      for (const mail of later_emails.slice(-20)) for (const one of await signaturesOf(mail)) used.add(one);
      await pass(DAY_MS);
      checks.push(selectors(await domainOf('rotated.test')));
    }

    expect([...used].sort()).toEqual([
      'pass ed25519-sha256 pr1-ed25519',
      'pass ed25519-sha256 pr2-ed25519',
      'pass rsa-sha256 pr1',
      'pass rsa-sha256 pr2',
    ]);
    expect(checks).toEqual([
      ['pr1 active', 'pr1-ed25519 active', 'pr2 next', 'pr2-ed25519 next'],
      ['pr2 active', 'pr2-ed25519 active', 'pr1 retired', 'pr1-ed25519 retired'],
      ['pr2 active', 'pr2-ed25519 active'],
      ['pr2 active', 'pr2-ed25519 active', 'pr1 next', 'pr1-ed25519 next'],
      ['pr1 active', 'pr1-ed25519 active', 'pr2 retired', 'pr2-ed25519 retired'],
      ['pr1 active', 'pr1-ed25519 active'],
    ]);
  });

  it('keeps a domain verified and its signing unchanged while the next keys’ records are missing', async () => {
    await verified('undecided.test');
    await invoke(ctx(), rotateKeys, { domain: 'undecided.test' });

    await pass(30 * DAY_MS);

    expect((await domainOf('undecided.test')).status).toBe('verified');
    expect(new Set(await load('undecided.test'))).toEqual(
      new Set(['pass rsa-sha256 pr1', 'pass ed25519-sha256 pr1-ed25519']),
    );
  });

  it('waits for as long as caches may hold the next key’s previous record', async () => {
    await verified('reused.test');
    world.dns.set('pr2._domainkey.reused.test', 'TXT', ['v=DKIM1; p=MIIBother'], 3 * 86_400);
    await invoke(ctx(), rotateKeys, { domain: 'reused.test' });
    await pass(0);
    publish(await domainOf('reused.test'));
    await pass(10 * 60_000);

    await pass(2 * DAY_MS);
    const first_selectors = selectors(await domainOf('reused.test'));
    await pass(DAY_MS);
    const last_selectors = selectors(await domainOf('reused.test'));

    expect(first_selectors).toContain('pr2 next');
    expect(last_selectors).toContain('pr2 active');
  });

  it('finishes immediately if the active key’s record is missing and the next key’s record is published', async () => {
    await verified('hurried.test', 'acme');
    await invoke(ctx(), rotateKeys, { domain: 'hurried.test' });
    publish(await domainOf('hurried.test'));
    world.dns.remove('acme._domainkey.hurried.test');

    await pass(0);

    expect(selectors(await domainOf('hurried.test'))).toEqual([
      'acme2 active',
      'acme2-ed25519 active',
      'acme retired',
      'acme-ed25519 retired',
    ]);
    expect(new Set(await load('hurried.test'))).toContain('pass rsa-sha256 acme2');
  });

  it('creates the second key only if it is still needed once the domain is locked', async () => {
    const { id } = await verified('single.test');
    const { sql } = world.services;
    let rotating: Promise<DomainEntry> | null = null;

    await sql.begin(async (tx) => {
      await tx`select id from domains where id = ${id} for update`;
      rotating = invoke(ctx(), rotateKeys, { domain: 'single.test' });
      const waiting = () => sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting()).length).toBe(1);
      await tx`update domains set dkim_ed25519 = false where id = ${id}`;
      await tx`delete from dkim_keys where domain_id = ${id} and algorithm = 'ed25519'`;
    });
    await rotating;

    expect(selectors(await domainOf('single.test'))).toEqual(['pr1 active', 'pr2 next']);
  });

  it('is rejected while another rotation is in progress', async () => {
    await verified('twice.test');
    const responses = await Promise.allSettled([1, 2].map(() => invoke(ctx(), rotateKeys, { domain: 'twice.test' })));

    expect(responses.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(dkimRecords(await domainOf('twice.test'))).toHaveLength(4);
  });

  it('is rejected before a key is generated if another rotation is in progress', async () => {
    await verified('thrice.test');
    await invoke(ctx(), rotateKeys, { domain: 'thrice.test' });
    const key_line = new FairLine('dkim_keys', keyBounds, world.services.metrics);
    key_line.stop();

    const rotation = invoke({ ...ctx(), key_line }, rotateKeys, { domain: 'thrice.test' });

    await expect(rotation).rejects.toMatchObject({ reason: 'rotation_in_progress' });
  });
});
