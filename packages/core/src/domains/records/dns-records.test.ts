import { describe, expect, it } from 'vitest';
import { type Site, serverNameAdvice, wantedRecords } from './dns-records.ts';

const site: Site = { helo_name: 'mail.service.test', return_path_domain: null, relayed: false };
const domain = { name: 'mail.good.test', ownership_token: 'abc', return_path: 'bounces.mail.good.test' };
const keys = [
  { id: 'dkk_1', selector: 'pr1', algorithm: 'rsa', public_key: 'MIIBIjANBgkqhkiG', role: 'active' },
  { id: 'dkk_2', selector: 'pr1-ed25519', algorithm: 'ed25519', public_key: 'AAECAwQF', role: 'active' },
  { id: 'dkk_3', selector: 'pr2', algorithm: 'rsa', public_key: 'MIIBIjANBgkqhkiX', role: 'next' },
] as const;

describe('a domain’s records', () => {
  it('match the expected list, with two marked as required', () => {
    const records = wantedRecords(domain, keys, site);

    expect(records.map(({ purpose, required, type, host, value }) => [purpose, required, type, host, value])).toEqual([
      ['ownership', true, 'TXT', '_postrider.mail', 'postrider-verification=abc'],
      ['dkim', true, 'TXT', 'pr1._domainkey.mail', 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG'],
      ['dkim', false, 'TXT', 'pr1-ed25519._domainkey.mail', 'v=DKIM1; k=ed25519; p=AAECAwQF'],
      ['dkim', false, 'TXT', 'pr2._domainkey.mail', 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiX'],
      ['return_path', false, 'MX', 'bounces.mail', '10 mail.service.test'],
      ['spf', false, 'TXT', 'bounces.mail', 'v=spf1 a:mail.service.test ~all'],
      ['dmarc', false, 'TXT', '_dmarc.mail', 'v=DMARC1; p=none'],
    ]);
    for (const record of records) expect(record.fqdn).toBe(`${record.host}.good.test`);
  });

  it('alias the domain’s return path to the service’s return path', () => {
    const [alias, spf] = wantedRecords(domain, [], { ...site, return_path_domain: 'b.service.test' }).slice(1);

    expect(alias).toMatchObject({ purpose: 'return_path', type: 'CNAME', value: 'b.service.test' });
    expect(spf).toMatchObject({ purpose: 'spf', fqdn: 'mail.good.test' });
  });

  it('are those of a return path of its own where the service uses the same name', () => {
    const same = { ...site, return_path_domain: domain.return_path };

    expect(wantedRecords(domain, keys, same)).toEqual(wantedRecords(domain, keys, site));
  });

  it('omit the ownership proof if none is needed', () => {
    const records = wantedRecords({ ...domain, ownership_token: null }, [], site);

    expect(records.map(({ purpose }) => purpose)).toEqual(['return_path', 'spf', 'dmarc']);
  });

  it.each(['localhost', 'mail.localhost', '127.0.0.1', '10.0.0.5', '[::1]'])(
    'must not be published if they contain %s',
    (helo_name) => {
      const records = wantedRecords(domain, keys, { ...site, helo_name });

      for (const record of records) {
        const is_named = record.purpose === 'spf' || record.purpose === 'return_path';
        expect(serverNameAdvice([record]) !== null).toBe(is_named);
      }
      expect(serverNameAdvice(records)).toContain(`Do not publish records that contain ${helo_name}.`);
    },
  );

  it('may be published if they contain a public name', () => {
    for (const helo_name of ['mail.service.test', 'localhost.service.test', '1.service.test'])
      expect(serverNameAdvice(wantedRecords(domain, keys, { ...site, helo_name }))).toBeNull();
  });
});
