import { describe, expect, it } from 'vitest';
import { openCommandLine } from './command-line.ts';

const { postrider, zone } = await openCommandLine();

describe('the domains command', () => {
  interface RecordView {
    readonly fqdn: string;
    readonly type: string;
    readonly value: string;
    readonly host: string;
  }

  it('adds a domain with its DNS records, and verifies it once they are published', async () => {
    const addition = await postrider(['domains', 'add', 'Example.test', '--selector', 'acme', '--json']);
    expect(addition).toMatchObject({ code: 0, err: '' });
    const { dns_records } = JSON.parse(addition.out) as { dns_records: RecordView[] };
    const first = await postrider(['domains', 'verify', 'example.test']);
    const zoneText = (await postrider(['domains', 'doctor', 'example.test', '--format', 'zone'])).out;
    const steps = (await postrider(['domains', 'doctor', 'example.test', '--format', 'steps'])).out;
    const into_file = ['--output', 'json', 'domains', 'doctor', 'example.test', '--format', 'zone'];
    expect((await postrider(into_file)).out).toBe(zoneText);
    for (const { fqdn, value } of dns_records) zone.set(fqdn, 'TXT', [value]);

    const verification = await postrider(['domains', 'verify', 'EXAMPLE.test.']);

    expect(first).toMatchObject({ code: 1, err: '' });
    expect(first.out).toMatch(/^example\.test {2}pending {2}The ownership record /);
    expect(first.out).toContain('Publish a TXT record with the host acme._domainkey;');
    expect(zoneText).toContain('$ORIGIN example.test.');
    for (const text of [zoneText, steps])
      expect(text).toMatch(/^(; |1\. )Set HELO_NAME to the public name of this server/);
    for (const { host, value } of dns_records) {
      expect(steps).toContain(`host ${host}, value ${value}, TTL 3600.`);
      const line = zoneText.split('\n').find((text) => text.startsWith(`${host} 3600 IN TXT `)) ?? '';
      const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
      expect(strings.join('')).toBe(value);
      expect(Math.max(...strings.map((text) => text.length))).toBeLessThanOrEqual(255);
    }
    expect(verification.out).toMatch(/^example\.test {2}verified\n/);
    expect(verification.code).toBe(0);
    const healthy = await postrider(['domains', 'doctor', 'example.test', '--format', 'steps']);
    expect(healthy).toMatchObject({ code: 0, out: 'No action needed.\n' });
    expect((await postrider(['domains', 'list'])).out).toMatch(/^example\.test +verified +next check /);
    const nameless = await postrider(['domains', 'add', 'other.test', '--return-path', 'bounces']);
    expect(nameless.out).toMatch(/^Set HELO_NAME .* Do not publish records that contain (localhost|127\.0\.0\.1)\.$/m);
    const removal = await postrider(['domains', 'remove', 'Other.test', '--yes']);
    expect(removal).toMatchObject({ code: 0, out: 'other.test  removed\n' });
    expect((await postrider(['domains', 'remove', 'other.test', '--yes'])).err).toMatch(/^domain_not_found: /);
    expect((await postrider(['domains', 'rotate-keys', 'example.test'])).out).toContain('acme2._domainkey');
  });

  it('examines an unknown domain with doctor, and prints the published records as plain text', async () => {
    zone.set('stranger.test', 'TXT', ['v=spf1 -all', 'v=spf1 \u001b[31m ~all']);

    const ill = await postrider(['domains', 'doctor', 'stranger.test']);

    expect(ill).toMatchObject({ code: 1, err: '' });
    expect(ill.out).toContain('stranger.test  not added yet');
    expect(ill.out).toMatch(/^multiple +spf +TXT +@ /m);
    expect(ill.out).toContain('There are 2 records of this kind');
    expect(ill.out).not.toContain('\u001b');
    const rejection = await postrider(['domains', 'doctor', 'gmail.com', '--json']);
    expect(JSON.parse(rejection.err).error.reason).toBe('domain_not_allowed');
  });

  it('names the command that prints the full records', async () => {
    const addition = await postrider(['domains', 'add', 'words.test', '--output', 'text']);

    expect(addition.out).toContain('run npx postrider domains doctor words.test --format zone');
  });

  it('suspends and resumes a domain', async () => {
    await postrider(['domains', 'add', 'halted.test']);

    const suspension = await postrider(['domains', 'suspend', 'halted.test', 'spam']);
    const resumption = await postrider(['domains', 'resume', 'halted.test', '--json']);

    expect(suspension).toMatchObject({ code: 0, out: 'halted.test  suspended  Suspended by an operator: spam\n' });
    expect(JSON.parse(resumption.out).status).toBe('pending');
  });
});
