import { describe, expect, it } from 'vitest';
import { NetworkPlaces } from './network-places.ts';

const places = () => new NetworkPlaces({ places: 10, own_places: 6, reserve: 4 });

describe('connection places per network', () => {
  it('are limited in number', () => {
    const shared = places();

    expect([shared.take('192.0.2.1', 6), shared.take('192.0.2.1')]).toEqual([true, false]);
    shared.give('192.0.2.1');
    expect(shared.take('192.0.2.1')).toBe(true);
  });

  it('treat all addresses in an IPv6 /64 as one network', () => {
    const shared = places();

    expect(shared.take('2001:db8::1', 6)).toBe(true);
    expect(shared.take('2001:db8::2')).toBe(false);
    expect(shared.take('2001:db8:0:1::2')).toBe(true);
  });

  it('include a reserve only for networks that have no place', () => {
    const shared = places();
    shared.take('192.0.2.1', 5);
    shared.take('192.0.2.2', 1);

    expect([shared.take('192.0.2.1'), shared.take('192.0.2.2')]).toEqual([false, false]);
    expect(shared.take('192.0.2.3')).toBe(true);
  });

  it('are all free after a reset', () => {
    const shared = places();
    shared.take('192.0.2.1', 6);

    shared.reset();

    expect(shared.take('192.0.2.1', 6)).toBe(true);
  });
});
