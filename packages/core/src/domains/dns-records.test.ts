import { describe, expect, it } from 'vitest';
import { judgeRecord, type RecordStatus, recordHint, recordStatuses, type Site, wantedRecords } from './dns-records.ts';

const site: Site = { helo_name: 'mail.service.test', return_path_domain: null, relayed: false };
const domain = { name: 'good.test', ownership_token: 'abc', return_path: 'bounces.good.test' };
const keys = [
  { id: 'dkk_1', selector: 'pr1', algorithm: 'rsa' as const, public_key: 'MIIBIjANBgkqhkiG' },
  { id: 'dkk_2', selector: 'pr1-ed25519', algorithm: 'ed25519' as const, public_key: 'AAECAwQF' },
];

const records = wantedRecords(domain, keys, site);
const judge = (fqdn: string, found: string[], where = site): RecordStatus => {
  const wanted = wantedRecords(domain, keys, where).find((record) => record.fqdn === fqdn && record.type === 'TXT');
  if (!wanted) throw new Error(`no record at ${fqdn}`);
  return judgeRecord(wanted, found, where);
};

describe('the records of a domain', () => {
  it('are these, two of them required', () => {
    expect(records.map(({ purpose, required, type, fqdn, value }) => [purpose, required, type, fqdn, value])).toEqual([
      ['ownership', true, 'TXT', '_postrider.good.test', 'postrider-verification=abc'],
      ['dkim', true, 'TXT', 'pr1._domainkey.good.test', 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG'],
      ['dkim', false, 'TXT', 'pr1-ed25519._domainkey.good.test', 'v=DKIM1; k=ed25519; p=AAECAwQF'],
      ['return_path', false, 'MX', 'bounces.good.test', '10 mail.service.test'],
      ['spf', false, 'TXT', 'bounces.good.test', 'v=spf1 a:mail.service.test ~all'],
      ['dmarc', false, 'TXT', '_dmarc.good.test', 'v=DMARC1; p=none'],
    ]);
  });

  it('alias the return path to the one that the service has', () => {
    const [alias, spf] = wantedRecords(domain, [], { ...site, return_path_domain: 'b.service.test' }).slice(1);

    expect(alias).toMatchObject({ purpose: 'return_path', type: 'CNAME', value: 'b.service.test' });
    expect(spf).toMatchObject({ purpose: 'spf', fqdn: 'good.test' });
  });

  it.each<[RecordStatus, string[]]>([
    ['ok', ['v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG']],
    ['ok', ['p=MIIBIjANBgkqhkiG']],
    ['ok', [' v=DKIM1 ;h=sha1:sha256; s=email; t=y; p=MIIBIj ANBgkqhkiG; ', 'something else']],
    ['missing', []],
    ['mismatch', ['hello']],
    ['mismatch', ['v=DKIM1; k=rsa; p=']],
    ['mismatch', ['v=DKIM1; k=ed25519; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; h=sha1; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; s=other; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM2; p=MIIBIjANBgkqhkiG']],
    ['mismatch', ['v=DKIM1; p=MIIBIjANBgkqhkiGxx']],
    ['truncated', ['v=DKIM1; k=rsa; p=MIIBIjAN']],
    ['multiple', ['v=DKIM1; p=MIIBIjANBgkqhkiG', 'v=DKIM1; p=other']],
  ])('call a DKIM key %s for %j', (status, found) => {
    expect(judge('pr1._domainkey.good.test', found)).toBe(status);
  });

  it.each<[RecordStatus, string[]]>([
    ['ok', ['postrider-verification=other', ' postrider-verification=abc']],
    ['mismatch', ['postrider-verification=abcd']],
    ['missing', ['v=spf1 -all']],
    ['missing', []],
  ])('call a proof of ownership %s for %j', (status, found) => {
    expect(judge('_postrider.good.test', found)).toBe(status);
  });

  it.each<[RecordStatus, string[]]>([
    ['ok', ['V=SPF1 +a:mail.service.test -all']],
    ['mismatch', ['v=spf1 include:x.test -all']],
    ['mismatch', ['v=spf1 -a:mail.service.test -all']],
    ['missing', ['v=spf10 -all']],
    ['multiple', ['v=spf1 a:mail.service.test -all', 'v=spf1 -all']],
  ])('call SPF %s for %j', (status, found) => {
    expect(judge('bounces.good.test', found)).toBe(status);
  });

  it('take any one SPF record where mail leaves by a relay', () => {
    expect(judge('bounces.good.test', ['v=spf1 include:x.test -all'], { ...site, relayed: true })).toBe('ok');
  });

  it.each<[RecordStatus, string[]]>([
    ['ok', ['v=DMARC1; p=reject']],
    ['missing', ['v=DMARC12']],
    ['multiple', ['v=DMARC1; p=none', 'v=DMARC1; p=reject']],
  ])('call DMARC %s for %j', (status, found) => {
    expect(judge('_dmarc.good.test', found)).toBe(status);
  });

  it('find a return path whatever its priority and case', () => {
    const mx = records.find((record) => record.type === 'MX');
    if (!mx) throw new Error('no MX is wanted');

    expect(judgeRecord(mx, ['5 MAIL.service.test.'], site)).toBe('ok');
    expect(judgeRecord(mx, ['10 other.test'], site)).toBe('mismatch');
    expect(judgeRecord(mx, [], site)).toBe('missing');
  });

  it('say what to do about each status but ok', () => {
    for (const record of records) {
      for (const status of recordStatuses) expect(recordHint(record, status) === null).toBe(status === 'ok');
    }
  });
});
