import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRoster } from './roster.ts';

it('holds whoever was added and not removed, in whatever order they come and go', () => {
  const step = fc.record({ who: fc.nat(9), add: fc.boolean() });

  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const people = Array.from({ length: 10 }, (_, name) => ({ name, seat: -1 }));
      const roster = createRoster<(typeof people)[number]>();
      const held = new Set<number>();
      for (const { who, add } of steps) {
        const person = people[who];
        if (!person || (add && held.has(who))) continue;
        if (add) {
          roster.add(person);
          held.add(who);
        } else {
          roster.remove(person);
          held.delete(who);
        }
        expect(roster.size).toBe(held.size);
        expect([...roster].map(({ name }) => name).sort()).toEqual([...held].sort());
      }
    }),
  );
});
