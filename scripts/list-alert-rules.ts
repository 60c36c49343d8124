// Writes the table of alert rules in docs/metrics.md from the rules that judge.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rulesOf } from '@postrider/core/alarms';

export const alertRulesPage = fileURLToPath(new URL('../docs/metrics.md', import.meta.url));

const BEGIN = '<!-- alert rules: written by `node scripts/list-alert-rules.ts` -->\n';
const END = '<!-- alert rules end -->';

/** Returns a page with the table between its markers rewritten from the rules. */
export function withAlertRules(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const workspace = rulesOf('workspace');
  const instance = rulesOf('instance');
  const owners = (name: string) =>
    [
      ...(workspace.some(({ rule }) => rule === name) ? ['workspace'] : []),
      ...(instance.some(({ rule }) => rule === name) ? ['instance'] : []),
    ].join(', ');
  const all = new Map([...instance, ...workspace].map(({ rule, condition }) => [rule, condition]));
  const rows = [...all].map(([name, condition]) => `| \`${name}\` | ${condition} | ${owners(name)} |`);
  const table = ['| alert | condition | owner |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n\n${page.slice(end)}`;
}

if (import.meta.main) writeFileSync(alertRulesPage, withAlertRules(readFileSync(alertRulesPage, 'utf8')));
