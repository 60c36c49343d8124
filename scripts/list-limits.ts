// Writes the table of limits in docs/settings.md, from the table that the configuration obeys.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { limits } from '@postrider/core';

export const settingsPage = fileURLToPath(new URL('../docs/settings.md', import.meta.url));

const BEGIN = '<!-- limits: written by `node scripts/list-limits.ts` -->\n';
const END = '<!-- limits end -->';

/** A page with the table between its two marks as the code has it now. */
export function withLimits(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const rows = Object.entries(limits).map(([name, { usual, of }]) => `| \`${name}\` | \`${usual}\` | ${of} |`);
  const table = ['| limit | usual | of |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n\n${page.slice(end)}`;
}

if (import.meta.main) writeFileSync(settingsPage, withLimits(readFileSync(settingsPage, 'utf8')));
