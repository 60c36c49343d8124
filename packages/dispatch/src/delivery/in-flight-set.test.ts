import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createInFlightSet } from './in-flight-set.ts';

it('the in-flight set contains whatever was added and not removed, in any order', () => {
  const step = fc.record({ who: fc.nat(9), add: fc.boolean() });

  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const people = Array.from({ length: 10 }, (_, name) => ({ name, index: -1 }));
      const set = createInFlightSet<(typeof people)[number]>();
      const held = new Set<number>();
      for (const { who, add } of steps) {
        const person = people[who];
        if (!person || (add && held.has(who))) continue;
        if (add) {
          set.add(person);
          held.add(who);
        } else {
          set.remove(person);
          held.delete(who);
        }
        expect(set.size).toBe(held.size);
        expect([...set].map(({ name }) => name).sort()).toEqual([...held].sort());
      }
    }),
  );
});
