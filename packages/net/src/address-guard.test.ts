import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressGuard } from './address-guard.ts';

const guard = createAddressGuard([]);

describe('the address guard', () => {
  it.each(['8.8.8.8', '192.31.195.1', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '::ffff:8.8.8.8'])(
    'allows %s',
    (address) => expect(guard(address)).toBeNull(),
  );

  it.each([
    '127.0.0.1',
    '127.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '08.8.8.8',
    '::ffff:127.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '2002:808:808::1',
    '2001::1',
    '2001:db8::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fd00::1',
    'ff02::1',
    '4000::1',
    'localhost',
    '',
  ])('rejects %s', (address) => expect(guard(address)).toMatch(/not (?:an|a public) address/));

  it('allows the configured networks, in any address notation, and no others', () => {
    const allowing = createAddressGuard(['127.0.0.0/8', '::1', 'fd00::/8']);

    expect(['127.0.0.9', '::ffff:127.0.0.9', '::1', 'fd12::1'].map(allowing)).toEqual([null, null, null, null]);
    expect(allowing('10.0.0.1')).not.toBeNull();
    expect(allowing('::2')).not.toBeNull();
  });

  it('rejects every IPv6 address outside 2000::/3, except mapped addresses', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(address.split(':')[0] || '0', 16);
        fc.pre(first >> 13 !== 1 && !/^[0:]*:ffff:[\d.:a-f]+$/i.test(address));
        expect(guard(address)).not.toBeNull();
      }),
    );
  });
});
