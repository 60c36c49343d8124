// Draws a recipient's states into docs/states.md, from the table that the code uses.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transitions } from '@postrider/core/delivery';

export const statesPage = fileURLToPath(new URL('../docs/states.md', import.meta.url));

const BEGIN = '<!-- states: written by `node scripts/draw-states.ts` -->\n';
const END = '<!-- states end -->';

/** Returns a page with the diagram between its markers redrawn from the table. */
export function withDiagram(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n${diagram()}\n${page.slice(end)}`;
}

function diagram(): string {
  const rows = Object.entries(transitions);
  const sources = new Set<string>(rows.flatMap(([, { from }]) => from));
  const final = [...new Set(rows.map(([, { to }]) => to))].filter((state) => !sources.has(state));
  const arrows = rows.flatMap(([name, { from, to }]) => from.map((state) => `  ${state} --> ${to}: ${name}`));
  return ['```mermaid', 'stateDiagram-v2', ...arrows, ...final.map((state) => `  ${state} --> [*]`), '```', ''].join(
    '\n',
  );
}

if (import.meta.main) writeFileSync(statesPage, withDiagram(readFileSync(statesPage, 'utf8')));
