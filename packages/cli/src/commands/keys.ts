import { type ApiKey, type ApiKeysCreateBody, scopes } from '@postrider/sdk';
import type { Command } from 'commander';
import { all, createClient } from '../connect/client.ts';
import { confirm, yesOption } from '../terminal/confirm.ts';
import { Problem } from '../terminal/problem.ts';
import { plain, show, type Terminal, table } from '../terminal/terminal.ts';

interface CreateOptions {
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly mode?: string;
  readonly domain?: readonly string[];
  readonly allowIp?: readonly string[];
  readonly expires?: string;
  readonly local?: boolean;
  readonly json?: boolean;
}

export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description("the workspace's API keys");
  keys
    .command('list')
    .description('list keys, newest first')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean }) => {
      const data = await allKeys(terminal);
      show(terminal, options.json, { object: 'list', data, has_more: false, next_cursor: null }, () =>
        table(
          data.map((key) => [
            key.id,
            key.status,
            `${key.prefix}…${key.last4}`,
            plain(key.name),
            key.scopes.join(','),
            key.last_used_at === null ? 'never used' : `used ${key.last_used_at}`,
            key.expires_at === null ? '' : `until ${key.expires_at}`,
            key.replaced_by === null ? '' : `replaced by ${key.replaced_by}`,
          ]),
        ),
      );
    });
  keys
    .command('create')
    .description('create a key; its secret is printed once')
    .option('--name <text>', 'name that says where the key is used')
    .option('--scope <scope...>', `any of ${scopes.join(' ')}`)
    .option('--mode <mode>', 'live, or sandbox to capture email instead of delivering it')
    .option('--domain <name...>', 'domain it can send from (default: any)')
    .option('--allow-ip <network...>', 'IP address or network it can be used from (default: any)')
    .option('--expires <time>', 'expiration time (ISO 8601, UTC if there is no offset)')
    .option(
      '--local',
      'run on the server without an API key, connecting directly to the database (default: all scopes)',
    )
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const key = options.local ? await createLocally(terminal, options) : await createOverHttp(terminal, options);
      show(terminal, options.json, key, () => `${key.secret}\n${key.id}, ${key.scopes.join(' ')}; shown once`);
    });
  keys
    .command('rotate <id>')
    .description('replace a key with a new one that has the same scopes; the old key works for another 24 hours')
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      const key = await createClient(terminal).apiKeys.rotate(id);
      show(terminal, options.json, key, () => `${key.secret}\n${key.id} replaces ${id}; shown once`);
    });
  keys
    .command('revoke <id>')
    .description('revoke a key immediately; this cannot be undone')
    .option(...yesOption)
    .option('--json', 'print JSON')
    .action(async (id: string, options: { json?: boolean; yes?: boolean }) => {
      if (!options.yes) {
        const known = (await allKeys(terminal)).find((key) => key.id === id);
        const used = known?.last_used_at ? `last used ${known.last_used_at}` : 'never used';
        const preview = `${id}${known ? ` (${plain(known.name)}, ${used})` : ''} would be revoked permanently.`;
        await confirm(terminal, { preview, count: 1, yes: false });
      }
      const key = await createClient(terminal).apiKeys.revoke(id);
      show(terminal, options.json, key, () => `${key.id}  ${key.status} at ${key.revoked_at}`);
    });
}

function allKeys(terminal: Terminal): Promise<ApiKey[]> {
  return all(createClient(terminal).apiKeys.list({ limit: 100 }));
}

async function createOverHttp(terminal: Terminal, options: CreateOptions) {
  const { name, scope } = options;
  if (!name || !scope) {
    throw new Problem({
      reason: 'missing_option',
      message: 'A key needs a name and at least one scope.',
      advice: `Add --name and --scope. Scopes: ${scopes.join(', ')}.`,
    });
  }
  return createClient(terminal).apiKeys.create(requestOf({ ...options, name, scope }));
}

async function createLocally(terminal: Terminal, options: CreateOptions) {
  // Loaded on demand, because it takes half a second.
  const [{ invoke }, { createKey }, { withMachine }] = await Promise.all([
    import('@postrider/core'),
    import('@postrider/core/api-keys'),
    import('../machine/machine.ts'),
  ]);
  const request = requestOf({
    ...options,
    name: options.name ?? 'Created on the server',
    scope: options.scope ?? scopes,
  });
  return withMachine(terminal, async (machine) => invoke(await machine.asWorkspace(), createKey, request));
}

type CreateKeyOptions = CreateOptions & { readonly name: string; readonly scope: readonly string[] };

function requestOf({ name, scope, mode, domain, allowIp, expires }: CreateKeyOptions): ApiKeysCreateBody {
  const body = { name, scopes: scope, mode, domains: domain, allowed_ips: allowIp, expires_at: expires };
  // The service rejects an unknown mode, and lists the valid ones.
  return body as ApiKeysCreateBody;
}
