import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../audit/index.ts';
import { addDomain } from './add-domain.ts';
import type { DomainEntry } from './domain-entry.ts';
import { getDomain } from './get-domain.ts';
import { recheckDomains } from './recheck-domains.ts';
import { rotateKeys } from './rotate-keys.ts';
import { updateDomain } from './update-domain.ts';
import { verifyDomain } from './verify-domain.ts';

const DAY_MS = 24 * 3_600_000;

const world = await openWorld();
const ctx = () => world.as(world.workspace_id);
const change = (domain: string, dkim_ed25519: boolean) => invoke(ctx(), updateDomain, { domain, dkim_ed25519 });
const domainOf = (domain: string) => invoke(ctx(), getDomain, { domain });
const keysOf = ({ dns_records }: DomainEntry) =>
  dns_records.flatMap(({ purpose, fqdn, key_role }) =>
    purpose === 'dkim' ? [`${fqdn.split('.')[0]} ${key_role}`] : [],
  );
const recordValue = ({ dns_records }: DomainEntry, selector: string) =>
  dns_records.find(({ fqdn }) => fqdn.startsWith(`${selector}.`))?.value;

function publish({ dns_records }: DomainEntry): void {
  for (const { type, fqdn, value } of dns_records) if (type === 'TXT') world.dns.set(fqdn, 'TXT', [value]);
}

async function verified(name: string, dkim_ed25519 = false): Promise<DomainEntry> {
  publish(await invoke(ctx(), addDomain, { name, dkim_ed25519 }));
  return invoke(ctx(), verifyDomain, { domain: name });
}

async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    await world.clock.advance(DAY_MS);
    await recheckDomains(world.services);
  }
}

async function arrives(name: string) {
  const { id } = await invoke(ctx(), sendMessage, {
    from: `a@${name}`,
    to: 'ada@example.com',
    subject: 'Hello',
    text: 'Hi',
  });
  await world.drain();
  return world.smtp.waitFor((mail) => mail.message_id?.includes(id) ?? false);
}
const signaturesOf = async (name: string) => world.signatures(await arrives(name));
const rsa = (name: string) => `pass rsa-sha256 ${name}`;
const both = (name: string) => [rsa(name), `pass ed25519-sha256 ${name}`];

describe('a second signature', () => {
  it('starts a day after its record is found', async () => {
    await verified('begins.test');

    publish(await change('begins.test', true));
    await invoke(ctx(), verifyDomain, { domain: 'begins.test' });
    const first_signatures = await signaturesOf('begins.test');
    await pass(1);
    const last_signatures = await signaturesOf('begins.test');

    expect(first_signatures).toEqual([rsa('begins.test')]);
    expect(last_signatures).toEqual(both('begins.test'));
    expect((await domainOf('begins.test')).status).toBe('verified');
  });

  it('stops immediately, and its record remains for a week for email in transit', async () => {
    await verified('ends.test', true);
    const in_transit = await arrives('ends.test');

    const disabled = await change('ends.test', false);
    const after = await signaturesOf('ends.test');
    await pass(6);
    const domain = await domainOf('ends.test');
    const arrived = await world.signatures(in_transit);
    await pass(2);

    expect(after).toEqual([rsa('ends.test')]);
    expect(arrived).toEqual(both('ends.test'));
    expect([disabled, domain].map(keysOf)).toEqual(Array(2).fill(['pr1 active', 'pr1-ed25519 retired']));
    expect(keysOf(await domainOf('ends.test'))).toEqual(['pr1 active']);
    expect((await domainOf('ends.test')).status).toBe('verified');
  });

  it('reuses the previous key if its record is still published', async () => {
    const before = await verified('again.test', true);

    await change('again.test', false);
    const changed = await change('again.test', true);
    await invoke(ctx(), verifyDomain, { domain: 'again.test' });

    expect(recordValue(changed, 'pr1-ed25519')).toBe(recordValue(before, 'pr1-ed25519'));
    expect(await signaturesOf('again.test')).toEqual(both('again.test'));
  });

  it('can be enabled and disabled during a key rotation', async () => {
    await verified('rotated.test');
    await invoke(ctx(), rotateKeys, { domain: 'rotated.test' });

    const changed = await change('rotated.test', true);
    publish(changed);
    await pass(2);
    const rotated = await domainOf('rotated.test');
    const signatures = await signaturesOf('rotated.test');
    await pass(8);
    await invoke(ctx(), rotateKeys, { domain: 'rotated.test' });
    const disabled = await change('rotated.test', false);

    expect(keysOf(changed)).toEqual(['pr1 active', 'pr1-ed25519 active', 'pr2 next', 'pr2-ed25519 next']);
    expect(keysOf(rotated)).toEqual(['pr2 active', 'pr2-ed25519 active', 'pr1 retired', 'pr1-ed25519 retired']);
    expect(signatures).toEqual(both('rotated.test'));
    expect(keysOf(disabled)).toEqual(['pr2 active', 'pr1 next', 'pr2-ed25519 retired']);
  });

  it('is audited only if the setting changes', async () => {
    const { id } = await verified('recorded.test');

    for (const enabled of [true, true, false]) await change('recorded.test', enabled);

    const { data } = await invoke(ctx(), listAudit, { target_id: id, action: 'domain.updated' });
    expect(data.map(({ diff }) => diff)).toEqual([
      { name: 'recorded.test', dkim_ed25519: [true, false] },
      { name: 'recorded.test', dkim_ed25519: [false, true] },
    ]);
  });

  it('is added once if two concurrent requests enable it', async () => {
    await verified('twice.test');

    await Promise.all([change('twice.test', true), change('twice.test', true)]);

    expect(keysOf(await domainOf('twice.test'))).toEqual(['pr1 active', 'pr1-ed25519 active']);
  });
});
