import type { Health } from '@postrider/core/health';
import type { Command } from 'commander';
import { graphql, query, select } from '../connect/graphql.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

const health = query('health', {}, select<Health>('status checks { name status detail advice since page checkedAt }'));

const words: Readonly<Record<Health['status'], string>> = { ok: 'Healthy', warning: 'Degraded', failing: 'Failing' };
const exit_codes: Readonly<Record<Health['status'], number>> = { ok: 0, warning: 1, failing: 2 };

/** Adds the command that says whether all is well; its exit code says the same to scripts. */
export function addStatus(program: Command, terminal: Terminal): void {
  program
    .command('status')
    .description('whether email is being sent, and what needs attention; exits with 0, 1 or 2')
    .option('--json', 'print JSON')
    .action(async (options: { readonly json?: boolean }) => {
      const result: Health = { ...(await graphql(terminal, health, {})), object: 'health' };
      show(terminal, options.json, result, () => statusText(result));
      if (result.status !== 'ok') terminal.fail(exit_codes[result.status]);
    });
}

function statusText({ status, checks }: Health): string {
  const problems = checks.filter((check) => check.status !== 'ok');
  const rows = problems.map(({ name, status: state, detail, advice }) => [
    words[state],
    name.replaceAll('_', ' '),
    plain([detail, advice].filter(Boolean).join(' ')),
  ]);
  return [words[status], ...(rows.length === 0 ? [] : [table(rows)])].join('\n');
}
