import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { createClient, serviceUrl } from '../connect/client.ts';
import { writeProfile } from '../connect/settings.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal } from '../terminal/terminal.ts';

export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .description('read an API key from stdin and store it with the URL for later commands')
    .option('--url <url>', "Postrider's URL")
    .option('--json', 'print JSON')
    .action(async (options: { url?: string; json?: boolean }) => {
      // Never taken as an argument: other users of the machine can see arguments, and the shell saves them in its
      // history.
      terminal.note('Paste an API key, then press Enter and Ctrl-D:');
      const key = (terminal.stdin ? await text(terminal.stdin) : '').trim();
      if (key === '') throw noKey();
      const env = {
        ...terminal.env,
        ...(options.url !== undefined && { POSTRIDER_URL: options.url }),
        POSTRIDER_API_KEY: key,
      };
      const client_terminal = { ...terminal, env };
      const url = serviceUrl(client_terminal);
      const known = await createClient(client_terminal).apiKeys.current();
      const file = writeProfile(terminal, { url, key });
      show(terminal, options.json, { file, url, key_id: known.id, scopes: known.scopes }, () => {
        return `Stored ${url} and the key "${plain(known.name)}" (${known.scopes.join(' ')}) in ${file}`;
      });
    });
}

function noKey(): Problem {
  return new Problem({
    reason: 'missing_key',
    message: 'No API key on stdin, so nothing was stored.',
    advice: 'Paste the key, then press Enter and Ctrl-D, or pipe it in.',
  });
}
