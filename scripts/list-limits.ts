// Writes the table of limits in docs/limits.md: limits set by LIMITS and the environment from the configuration, and
// fixed limits from the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { limits, readConfig } from '@postrider/core';
import { fixedLimits } from './fixed-limits.ts';

export const limitsPage = fileURLToPath(new URL('../docs/limits.md', import.meta.url));

const BEGIN = '<!-- limits: written by `node scripts/list-limits.ts` -->\n';
const END = '<!-- limits end -->';

/** Returns a page with the table between its markers rewritten from the code. */
export function withLimits(page: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`the page lacks its marks ${BEGIN.trim()} and ${END}`);
  const rows = [
    ...Object.entries(limits).map(([name, { usual: default_value, of: description }]) => [
      `\`LIMITS=${name}\``,
      default_value,
      description,
    ]),
    ...ofTheEnvironment(),
    ...fixedLimits().map(({ usual: default_value, of: description }) => ['fixed', default_value, description]),
  ].map(([set_by, default_value, description]) => `| ${set_by} | \`${default_value}\` | ${description} |`);
  const table = ['| setting | default | limit |', '| --- | --- | --- |', ...rows].join('\n');
  return `${page.slice(0, begin + BEGIN.length)}\n${table}\n\n${page.slice(end)}`;
}

/** Returns the time limits that have their own environment variables. */
function ofTheEnvironment(): [set_by: string, usual: string, of: string][] {
  const { SHUTDOWN_GRACE, RETRY_SCHEDULE, WEBHOOK_RETRY_SCHEDULE } = readConfig({});
  const sum = (seconds: readonly number[]) => seconds.reduce((total, one) => total + one, 0);
  return [
    ['`SHUTDOWN_GRACE`', seconds(SHUTDOWN_GRACE), 'a stop'],
    ['`RETRY_SCHEDULE`', seconds(sum(RETRY_SCHEDULE)), 'all attempts for an email'],
    ['`WEBHOOK_RETRY_SCHEDULE`', seconds(sum(WEBHOOK_RETRY_SCHEDULE)), 'all webhook attempts for an event'],
  ];
}

function seconds(all: number): string {
  const parts = [
    [Math.floor(all / 86_400), 'd'],
    [Math.floor((all % 86_400) / 3600), 'h'],
    [Math.floor((all % 3600) / 60), 'm'],
    [all % 60, 's'],
  ] as const;
  return parts.flatMap(([count, unit]) => (count > 0 ? [`${count}${unit}`] : [])).join(' ');
}

if (import.meta.main) writeFileSync(limitsPage, withLimits(readFileSync(limitsPage, 'utf8')));
