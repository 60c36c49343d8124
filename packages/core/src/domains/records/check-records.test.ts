import { createDnsLookup, type DnsLookup } from '@postrider/net';
import { type DnsZone, startDnsZone } from '@postrider/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECK_AT_ONCE_MS, type CheckedRecord, checkRecords, proofOf, statusOf } from './check-records.ts';
import { type Diagnosis, diagnosisNames } from './diagnose.ts';
import { type Site, wantedRecords } from './dns-records.ts';

const site: Site = { helo_name: 'mail.service.test', return_path_domain: 'bounces.service.test', relayed: false };
const key = `MIIBIjANBgkqhkiG${'9w0BAQEFAAOCAQ8A'.repeat(23)}`;
const keys = [{ id: 'dkk_1', selector: 'pr1', algorithm: 'rsa', public_key: key, role: 'active' }] as const;
const dkim = `v=DKIM1; k=rsa; p=${key}`;
const proof = 'postrider-verification=abc';

let zone: DnsZone;
let dns: DnsLookup;
const diagnoses = new Set<Diagnosis>();

beforeAll(async () => {
  zone = await startDnsZone();
  dns = createDnsLookup([zone.address]);
});
afterAll(() => zone.stop());

/** Returns a unique name per test, with all records right. */
let count = 0;
function published(prefix = ''): string {
  const name = `${prefix}d${++count}.test`;
  zone.set(`_postrider.${name}`, 'TXT', [proof]);
  zone.set(`pr1._domainkey.${name}`, 'TXT', [dkim]);
  zone.set(`out.${name}`, 'CNAME', ['bounces.service.test']);
  zone.set(name, 'TXT', ['v=spf1 a:mail.service.test ~all', 'unrelated']);
  zone.set(`_dmarc.${name}`, 'TXT', ['v=DMARC1; p=reject']);
  return name;
}

const domainOf = (name: string) => ({ name, ownership_token: 'abc', return_path: `out.${name}` });

async function check(name: string, where: Partial<Site> = {}): Promise<CheckedRecord[]> {
  const checked = await checkRecords(dns, domainOf(name), keys, { ...site, ...where });
  for (const { finding } of checked) diagnoses.add(finding.diagnosis);
  return checked;
}

async function checkOne(name: string, purpose: string, where: Partial<Site> = {}) {
  const one = (await check(name, where)).find(({ expected }) => expected.purpose === purpose);
  if (!one) throw new Error(`no ${purpose} record was checked`);
  return { status: statusOf(one.finding), ...one.finding };
}

describe('a DNS record check', () => {
  it('finds no problems in a correct setup, and queries only the expected records', async () => {
    const name = published();
    const before = zone.questions.length;

    const checked = await check(name);

    expect(checked.map(({ finding }) => finding.diagnosis)).toEqual(['right', 'right', 'right', 'right', 'right']);
    expect(proofOf(checked)).toBe('right');
    expect(zone.questions.slice(before).sort()).toEqual(
      [
        `CNAME out.${name}`,
        `TXT ${name}`,
        `TXT _dmarc.${name}`,
        `TXT _postrider.${name}`,
        `TXT pr1._domainkey.${name}`,
      ].sort(),
    );
  });

  it('finds no records if none are published', async () => {
    const checked = await check('nothing.test');

    expect(checked.map(({ finding }) => finding.diagnosis)).toEqual(checked.map(() => 'missing'));
    expect(proofOf(checked)).toBe('wrong');
  });

  it('stops at its deadline, and draws no conclusions from unanswered queries', async () => {
    const name = published();
    zone.set(name, 'TXT', ['v=spf1 include:slow.test ~all']);
    zone.fail('slow.test', 'timeout');
    zone.fail(`pr1._domainkey.${name}`, 'timeout');

    const checked = await checkRecords(dns, domainOf(name), keys, site, 200);

    const by_purpose = new Map(checked.map(({ expected, finding }) => [expected.purpose, finding]));
    const timeout_finding = { diagnosis: 'lookup_failed', detail: 'no server in DNS_SERVERS responded in time' };
    expect(by_purpose.get('dkim')).toMatchObject(timeout_finding);
    expect(by_purpose.get('spf')).toMatchObject(timeout_finding);
    expect(by_purpose.get('ownership')).toMatchObject({ diagnosis: 'right' });
    expect(proofOf(checked)).toBe('unknown');
  });

  it('stops after three seconds if a caller is waiting and no name server responds (real R21)', async () => {
    const name = published();
    zone.set(name, 'TXT', ['v=spf1 include:slow.test ~all']);
    for (const silent of ['slow.test', `_postrider.${name}`, `pr1._domainkey.${name}`, `_dmarc.${name}`])
      zone.fail(silent, 'timeout');

    const started = performance.now();
    const checked = await checkRecords(dns, domainOf(name), keys, site, CHECK_AT_ONCE_MS);

    expect(performance.now() - started).toBeLessThan(CHECK_AT_ONCE_MS + 1000);
    const checked_rest = checked.filter(({ expected }) => expected.purpose !== 'return_path');
    expect(checked_rest.map(({ finding }) => finding.detail)).toEqual(
      checked_rest.map(() => 'no server in DNS_SERVERS responded in time'),
    );
  });

  it('accepts a key published through an alias', async () => {
    const name = published();
    zone.remove(`pr1._domainkey.${name}`);
    zone.set(`pr1._domainkey.${name}`, 'CNAME', ['keys.elsewhere.test']);
    zone.set('keys.elsewhere.test', 'TXT', [dkim]);

    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'ok', diagnosis: 'right' });
  });

  it('detects a record name that has the zone appended twice', async () => {
    const name = published();
    zone.remove(`pr1._domainkey.${name}`);
    zone.set(`pr1._domainkey.${name}.${name}`, 'TXT', [dkim]);

    expect(await checkOne(name, 'dkim')).toMatchObject({
      status: 'missing',
      diagnosis: 'host_doubled',
      detail: `pr1._domainkey.${name}.${name}`,
    });
  });

  it('detects an alias with a doubled host name', async () => {
    const name = published();
    zone.remove(`out.${name}`);
    zone.set(`out.${name}.${name}`, 'CNAME', ['bounces.service.test']);

    expect(await checkOne(name, 'return_path')).toMatchObject({ diagnosis: 'host_doubled' });
  });

  it.each([
    ['ownership', '_postrider', '', proof],
    ['ownership', '_postrider', 'postrider.', proof],
    ['dkim', 'pr1._domainkey', 'pr1.', dkim],
    ['dkim', 'pr1._domainkey', 'pr1.domainkey.', dkim],
    ['dkim', 'pr1._domainkey', '', dkim],
    ['dmarc', '_dmarc', 'dmarc.', 'v=DMARC1; p=none'],
  ])('detects a %s record for %s published at %j', async (purpose, right, wrong, value) => {
    const name = published();
    zone.remove(`${right}.${name}`);
    zone.set(`${wrong}${name}`, 'TXT', [value]);

    expect(await checkOne(name, purpose)).toMatchObject({ diagnosis: 'wrong_name', detail: `${wrong}${name}` });
  });

  it('detects a subdomain’s records published at its parent domain', async () => {
    const name = published('mail.');
    const above = name.slice('mail.'.length);
    zone.remove(`_postrider.${name}`);
    zone.set(`_postrider.${above}`, 'TXT', [proof]);

    expect(await checkOne(name, 'ownership')).toMatchObject({
      diagnosis: 'wrong_name',
      detail: `_postrider.${above}`,
    });
  });

  it('uses the organizational domain’s policy for a subdomain without its own', async () => {
    const name = published('mail.');
    zone.remove(`_dmarc.${name}`);
    zone.set(`_dmarc.${name.slice('mail.'.length)}`, 'TXT', ['v=DMARC1; p=quarantine']);

    expect(await checkOne(name, 'dmarc')).toMatchObject({ status: 'ok', found: ['v=DMARC1; p=quarantine'] });
  });

  it('detects a CNAME in place of the expected record', async () => {
    const name = published();
    zone.remove(`_postrider.${name}`);
    zone.set(`_postrider.${name}`, 'CNAME', ['parking.test']);

    expect(await checkOne(name, 'ownership')).toMatchObject({
      status: 'mismatch',
      diagnosis: 'alias_in_the_way',
      found: ['CNAME parking.test'],
      detail: 'parking.test',
    });
  });

  it('detects proxy addresses in place of the expected alias', async () => {
    const name = published();
    zone.remove(`out.${name}`);
    zone.set(`out.${name}`, 'A', ['192.0.2.10', '192.0.2.11']);

    expect(await checkOne(name, 'return_path')).toMatchObject({
      status: 'mismatch',
      diagnosis: 'proxied',
      found: ['192.0.2.10', '192.0.2.11'],
    });
  });

  it('detects an incorrect value, and reports how long it stays cached', async () => {
    const name = published();
    zone.set(`_postrider.${name}`, 'TXT', ['postrider-verification=older'], 172_800);

    expect(await checkOne(name, 'ownership')).toMatchObject({ diagnosis: 'mismatch', ttl_seconds: 172_800 });
  });

  it('detects truncated, split, quoted and revoked keys', async () => {
    const name = published();
    const at = `pr1._domainkey.${name}`;
    zone.set(at, 'TXT', [dkim.slice(0, 255)]);
    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'truncated', diagnosis: 'truncated' });

    zone.set(at, 'TXT', [dkim.slice(255), dkim.slice(0, 255)]);
    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'mismatch', diagnosis: 'split_wrongly' });

    zone.set(at, 'TXT', [`"${dkim.slice(0, 200)}" "${dkim.slice(200)}"`]);
    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'mismatch', diagnosis: 'split_wrongly' });

    zone.set(at, 'TXT', ['v=DKIM1; p=']);
    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'mismatch', diagnosis: 'key_revoked' });

    zone.set(at, 'TXT', [[dkim.slice(0, 100), dkim.slice(100, 300), dkim.slice(300)]]);
    expect(await checkOne(name, 'dkim')).toMatchObject({ status: 'ok' });
  });

  it('detects two SPF records', async () => {
    const name = published();
    zone.set(name, 'TXT', ['v=spf1 a:mail.service.test ~all', 'v=spf1 include:other.test -all']);

    expect(await checkOne(name, 'spf')).toMatchObject({ status: 'multiple', diagnosis: 'two_records', detail: '2' });
  });

  it('counts SPF lookups through includes, even if the includes form a loop', async () => {
    const name = published();
    zone.set('circle.test', 'TXT', ['v=spf1 include:circle.test -all']);
    zone.set(name, 'TXT', ['v=spf1 a:mail.service.test include:circle.test ~all']);
    expect(await checkOne(name, 'spf')).toMatchObject({ status: 'mismatch', diagnosis: 'spf_too_many_lookups' });

    const ten = Array.from({ length: 9 }, (_, index) => `exists:n${index}.test`).join(' ');
    zone.set(name, 'TXT', [`v=spf1 a:mail.service.test ${ten} ip4:192.0.2.1 ~all`]);
    expect(await checkOne(name, 'spf')).toMatchObject({ status: 'ok' });

    zone.set(name, 'TXT', [`v=spf1 a:mail.service.test ${ten} mx ~all`]);
    expect(await checkOne(name, 'spf')).toMatchObject({ diagnosis: 'spf_too_many_lookups' });
  });

  it('finds the service in an included SPF record', async () => {
    const name = published();
    zone.set('spf.service.test', 'TXT', ['v=spf1 a:mail.service.test -all']);
    zone.set(name, 'TXT', ['v=spf1 include:spf.service.test ~all']);

    expect(await checkOne(name, 'spf')).toMatchObject({ status: 'ok' });
  });

  it('detects reliance on the DKIM key alone under aspf=s, and email that fails without that key', async () => {
    const name = published();
    zone.set(`_dmarc.${name}`, 'TXT', ['v=DMARC1; p=reject; aspf=s']);
    const strict = await checkOne(name, 'dmarc');
    zone.remove(`pr1._domainkey.${name}`);
    const failing = await checkOne(name, 'dmarc');

    expect(strict).toMatchObject({ status: 'mismatch', diagnosis: 'dmarc_misaligned' });
    expect(strict.detail).toContain('set aspf=r');
    expect(failing.detail).toContain('Email fails this policy');
  });

  it('draws no conclusions from a server that fails or times out', async () => {
    const name = published();
    zone.fail(`_postrider.${name}`, 'SERVFAIL');
    zone.fail(`pr1._domainkey.${name}`, 'timeout');

    const checked = await check(name);

    expect(checked.slice(0, 2).map(({ finding }) => finding.diagnosis)).toEqual(['lookup_failed', 'lookup_failed']);
    expect(proofOf(checked)).toBe('unknown');
  });

  it('distinguishes a record that has not reached caches from an incorrect record', async () => {
    const name = published();
    const behind = await startDnsZone();
    behind.set(`_postrider.${name}`, 'TXT', ['postrider-verification=older'], 7200);
    const old = createDnsLookup([behind.address]);
    const both: DnsLookup = { lookup: dns.lookup, cached: old.lookup };

    const [ownership] = await checkRecords(both, domainOf(name), keys, site);
    await behind.stop();

    expect(ownership?.finding).toMatchObject({ diagnosis: 'stale', found: [proof], ttl_seconds: 7200 });
    expect(ownership?.finding.observed).toEqual([
      { resolver: zone.address, authoritative: false, values: [proof], ttl: 60 },
      { resolver: behind.address, authoritative: false, values: ['postrider-verification=older'], ttl: 7200 },
    ]);
    expect(ownership && statusOf(ownership.finding)).toBe('ok');
    if (ownership) diagnoses.add(ownership.finding.diagnosis);
  });

  it('uses bounded resources despite hostile responses', async () => {
    const name = published();
    zone.set(
      name,
      'TXT',
      Array.from({ length: 60 }, (_, index) => `v=spf1 include:\u0000\u001b[31m${index}.${'x'.repeat(900)}`),
    );
    const before = zone.questions.length;

    const spf = await checkOne(name, 'spf');

    expect(spf).toMatchObject({ status: 'multiple' });
    expect(JSON.stringify(spf).length).toBeLessThan(16_000);
    expect(JSON.stringify(spf)).not.toContain('\\u001b');
    expect(zone.questions.length - before).toBeLessThan(20);
  });

  it('has a test zone that triggers each diagnosis', () => {
    expect(diagnosisNames.filter((diagnosis) => !diagnoses.has(diagnosis))).toEqual([]);
  });
});

describe('the expected records', () => {
  it('match the records published in this test', () => {
    const expected = wantedRecords(domainOf('x.test'), keys, site);

    expect(expected.map(({ value }) => value)).toEqual([
      proof,
      dkim,
      'bounces.service.test',
      'v=spf1 a:mail.service.test ~all',
      'v=DMARC1; p=none',
    ]);
  });
});
