import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createInFlightSet } from './in-flight-set.ts';

it('the in-flight set contains whatever was added and not removed, in any order', () => {
  const step = fc.record({ who: fc.nat(9), add: fc.boolean() });

  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const people = Array.from({ length: 10 }, (_, name) => ({ name, index: -1 }));
      const set = createInFlightSet<(typeof people)[number]>();
      const entries = new Set<number>();
      for (const { who: index, add } of steps) {
        const person = people[index];
        if (!person || (add && entries.has(index))) continue;
        if (add) {
          set.add(person);
          entries.add(index);
        } else {
          set.remove(person);
          entries.delete(index);
        }
        expect(set.size).toBe(entries.size);
        expect([...set].map(({ name }) => name).sort()).toEqual([...entries].sort());
      }
    }),
  );
});
