import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { statesPage, withDiagram } from '../../../../scripts/draw-states.ts';
import { transitions } from './state.ts';

it('docs/states.md shows the current transitions (regenerate it with node scripts/draw-states.ts)', () => {
  const page = readFileSync(statesPage, 'utf8');

  expect(page).toBe(withDiagram(page));
  for (const name of Object.keys(transitions)) expect(page).toContain(`: ${name}\n`);
});
