import { describe, expect, it } from 'vitest';
import { adviceOf, type Diagnosis, diagnoses, diagnosisNames, judge } from './diagnose.ts';
import { type Site, wantedRecords } from './dns-records.ts';

const site: Site = { helo_name: 'mail.service.test', return_path_domain: null, relayed: false };
const domain = { name: 'good.test', ownership_token: 'abc', return_path: 'bounces.good.test' };
const keys = [
  { id: 'dkk_1', selector: 'pr1', algorithm: 'rsa', public_key: 'MIIBIjANBgkqhkiG', role: 'active' } as const,
];
const records = wantedRecords(domain, keys, site);

function diagnosisOf(purpose: string, values: string[], where = site): Diagnosis {
  const expected = records.find((record) => record.purpose === purpose);
  if (!expected) throw new Error(`no ${purpose} record is wanted`);
  return judge(expected, values, where, null);
}

describe('diagnosis of a record', () => {
  it.each<[Diagnosis, string[]]>([
    ['right', ['v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG']],
    ['right', ['p=MIIBIjANBgkqhkiG']],
    ['right', [' v=DKIM1 ;h=sha1:sha256; s=email; t=y; p=MIIBIj ANBgkqhkiG; ', 'something else']],
    ['missing', []],
    ['mismatch', ['hello']],
    ['key_revoked', ['v=DKIM1; k=rsa; p=']],
    ['mismatch', ['v=DKIM1; k=ed25519; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; h=sha1; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; s=other; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM2; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; p=MIIBIjANBgkqhkiGxx']],
    ['truncated', ['v=DKIM1; k=rsa; p=MIIBIjAN']],
    ['two_records', ['v=DKIM1; p=MIIBIjANBgkqhkiG', 'v=DKIM1; p=other']],
    ['split_wrongly', ['BgkqhkiG', 'v=DKIM1; k=rsa; p=MIIBIjAN']],
    ['split_wrongly', ['"v=DKIM1; k=rsa; p=MIIBIjAN" "BgkqhkiG"']],
    ['split_wrongly', ['v=DKIM1\\; k=rsa\\; p=MIIBIjANBgkqhkiG']],
    ['truncated', ['v=DKIM1; k=rsa; p=MIIBIjAN', 'an unrelated line']],
  ])('reports a DKIM key as %s for %j', (diagnosis, values) => {
    expect(diagnosisOf('dkim', values)).toBe(diagnosis);
  });

  it.each<[Diagnosis, string[]]>([
    ['right', ['postrider-verification=other', ' postrider-verification=abc']],
    ['right', ['"postrider-verification=abc"']],
    ['mismatch', ['postrider-verification=abcd']],
    ['missing', ['v=spf1 -all']],
    ['missing', []],
  ])('reports a proof of ownership as %s for %j', (diagnosis, values) => {
    expect(diagnosisOf('ownership', values)).toBe(diagnosis);
  });

  it.each<[Diagnosis, string[]]>([
    ['right', ['V=SPF1 +a:mail.service.test -all']],
    ['mismatch', ['v=spf1 include:x.test -all']],
    ['mismatch', ['v=spf1 -a:mail.service.test -all']],
    ['missing', ['v=spf10 -all']],
    ['two_records', ['v=spf1 a:mail.service.test -all', 'v=spf1 -all']],
  ])('reports SPF as %s for %j', (diagnosis, values) => {
    expect(diagnosisOf('spf', values)).toBe(diagnosis);
  });

  it('accepts any single SPF record if email is sent through a relay', () => {
    expect(diagnosisOf('spf', ['v=spf1 include:x.test -all'], { ...site, relayed: true })).toBe('right');
  });

  it.each<[Diagnosis, string[]]>([
    ['right', ['v=DMARC1; p=reject']],
    ['right', ['v=DMARC1;p=None; rua=mailto:a@b.test']],
    ['mismatch', ['v=DMARC1; rua=mailto:a@b.test']],
    ['mismatch', ['v=DMARC1; p=maybe']],
    ['missing', ['v=DMARC12; p=none']],
    ['two_records', ['v=DMARC1; p=none', 'v=DMARC1; p=reject']],
  ])('reports DMARC as %s for %j', (diagnosis, values) => {
    expect(diagnosisOf('dmarc', values)).toBe(diagnosis);
  });

  it.each<[Diagnosis, string[]]>([
    ['right', ['5 MAIL.service.test.']],
    ['mismatch', ['10 other.test']],
    ['mismatch', ['0 ']],
    ['missing', []],
  ])('reports a return path as %s for %j', (diagnosis, values) => {
    expect(diagnosisOf('return_path', values)).toBe(diagnosis);
  });
});

describe('advice on a record', () => {
  it('is one sentence for an unchecked record and for every diagnosis except one', () => {
    const finding = { found: [], detail: 'x.test', ttl_seconds: null, observed: [] };
    for (const record of records) {
      expect(adviceOf(record, undefined)).toMatch(/^Publish it, .*\.$/);
      for (const diagnosis of diagnosisNames) {
        const advice = adviceOf(record, { ...finding, diagnosis });
        if (diagnosis === 'right') expect(advice).toBeNull();
        else if (diagnosis !== 'dmarc_misaligned') expect(advice).toMatch(/^[A-Z][^.]*(?:\.[^ ][^.]*)*\.$/);
      }
    }
    expect(Object.values(diagnoses).filter(({ advice }) => advice === null)).toHaveLength(1);
  });

  it('does not blame the domain’s name servers if the servers in DNS_SERVERS did not respond', () => {
    const finding = { diagnosis: 'lookup_failed', found: [], ttl_seconds: null, observed: [] } as const;
    const [record] = records;
    if (!record) throw new Error('no record is wanted');
    const advice = (detail: string) => adviceOf(record, { ...finding, detail });

    expect(advice('no server in DNS_SERVERS could be reached')).toMatch(
      /DNS_SERVERS could be reached: .* that setting/,
    );
    expect(advice('the name server returned SERVFAIL')).toMatch(/: check the name servers of the domain\.$/);
  });

  it('states how long the old value stays cached, if the time is long', () => {
    const finding = { diagnosis: 'mismatch', found: [], detail: null, observed: [] } as const;
    const [record] = records;
    if (!record) throw new Error('no record is wanted');

    expect(adviceOf(record, { ...finding, ttl_seconds: 86_400 })).toContain('for up to 24 hours.');
    expect(adviceOf(record, { ...finding, ttl_seconds: 3600 })).not.toContain('hour');
  });
});
