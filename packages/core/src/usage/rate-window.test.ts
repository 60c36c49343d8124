import { describe, expect, it } from 'vitest';
import { addressSubject } from './rate-window.ts';

describe('addressSubject', () => {
  it('identifies an IPv4 client by its address', () => {
    expect(addressSubject('192.0.2.7')).toBe('192.0.2.7');
  });

  it('identifies an IPv6 client by its network, whatever the notation of the address', () => {
    const spellings = ['2001:db8:0:1::7', '2001:0db8::1:ffff:0:0:1', '2001:db8:0:1:2:3:4:5', '2001:DB8:0:1::'];
    expect(spellings.map(addressSubject)).toEqual(Array(4).fill('2001:db8:0:1::/64'));
    expect(addressSubject('2001:db8:0:2::7')).toBe('2001:db8:0:2::/64');
    expect(addressSubject('::1')).toBe('0:0:0:0::/64');
  });
});
