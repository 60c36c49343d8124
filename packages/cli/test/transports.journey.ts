import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Outcome, openCommandLine, outcomeOf, spawnCommand } from './command-line.ts';

const CANARY = 'canary-52f0de-password';

const { directory, environment, postrider } = await openCommandLine();

/** Runs a command in its own process with this text on stdin. */
function piped(stdin: string, args: readonly string[]): Promise<Outcome> {
  const child = spawnCommand([...args, '--output', 'text'], environment());
  child.stdin.end(stdin);
  return outcomeOf(child);
}

async function fileWith(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const rules = (list: readonly object[]) => fileWith('rules.json', JSON.stringify(list));

describe('transports', () => {
  it('can be created, updated and deleted by name, with a password from a file or stdin', async () => {
    const password_file = await fileWith('password', `${CANARY}\n`);
    const relay = ['--host', 'Relay.example.com', '--username', 'shop'];
    const creation = await postrider(['transports', 'create', 'Relay', ...relay, '--password-file', password_file]);
    const other = await piped(`${CANARY}\n`, ['transports', 'create', 'Other', ...relay]);
    const without = await piped('', ['transports', 'create', 'Third', ...relay]);
    const direct = await postrider(['transports', 'create', 'Direct', '--kind', 'mx']);
    const update = await postrider(['transports', 'update', 'Relay', '--port', '465', '--tls', 'implicit']);
    const anonymous = await postrider(['transports', 'update', 'Other', '--name', 'Open', '--no-username', '--json']);

    expect(creation.out).toMatch(/^trn_\w+ {2}Relay {2}smtp {2}relay\.example\.com:587 {2}starttls {2}shop\n$/);
    expect(other.out).toMatch(/^trn_\w+ {2}Other {2}smtp {2}/);
    expect(without).toMatchObject({ code: 1, err: expect.stringContaining('missing_password: ') });
    expect(direct.out).toMatch(/^trn_\w+ {2}Direct {2}mx /);
    expect(update.out).toMatch(/ {2}relay\.example\.com:465 {2}implicit {2}shop\n$/);
    expect(JSON.parse(anonymous.out)).toMatchObject({
      object: 'transport',
      name: 'Open',
      kind: 'smtp',
      tls: 'starttls',
      username: null,
    });
    const list = await postrider(['transports', 'list']);
    expect(list.out).toMatch(/^default +DELIVERY +capture +\n(trn_\w+ +(Relay|Open|Direct) .*\n){3}$/);
    for (const name of ['Relay', 'Open', 'Direct'])
      expect(await postrider(['transports', 'delete', name, '--yes'])).toMatchObject({
        code: 0,
        out: `Deleted transport ${name}\n`,
      });
    const missing = await postrider(['transports', 'delete', 'Relay', '--yes']);
    expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/^transport_not_found: /) });
    const audit = await postrider(['audit', 'list', '--instance', '--json']);
    expect(audit.out).toContain('transport.created');
    for (const { out, err } of [creation, other, update, anonymous, list, audit])
      expect(out + err).not.toContain(CANARY);
  });

  it('can be managed with --local, without an API key', async () => {
    const local = (...args: string[]) => postrider(['transports', ...args, '--local'], { POSTRIDER_API_KEY: '' });
    const password_file = await fileWith('password', CANARY);
    const relay = ['--host', 'relay.example.com', '--username', 'shop', '--password-file', password_file];

    const creation = await local('create', 'Local', ...relay);
    const over_http = await postrider(['transports', 'list', '--json']);
    const on_machine = await local('list', '--json');
    const set = await local('set-rules', await rules([{ tag: 'invoice', transports: ['Local', 'default'] }]));
    const used = await local('delete', 'Local', '--yes');
    await local('set-rules', await rules([]));
    const deletion = await local('delete', 'Local', '--yes');

    expect(creation).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(on_machine.out)).toEqual(JSON.parse(over_http.out));
    expect(set.out).toBe('1.  tag=invoice  Local, DELIVERY\n');
    expect(used).toMatchObject({ code: 1, err: expect.stringMatching(/^transport_in_use: /) });
    expect(deletion.out).toBe('Deleted transport Local\n');
    expect(on_machine.out).not.toContain(CANARY);
  });
});

describe('transport rules', () => {
  it('are replaced from a file or stdin, and the printed JSON can be set again', async () => {
    const { id } = JSON.parse((await postrider(['transports', 'create', 'Bulk', '--kind', 'mx', '--json'])).out);
    const list = [
      { priority: 'bulk', destination: 'Example.net', transports: ['Bulk', 'DELIVERY'] },
      { from_domain: 'shop.example.com', transports: ['default'] },
    ];

    const set = await postrider(['transports', 'set-rules', await rules(list), '--json']);
    const again = await piped(set.out, ['transports', 'set-rules', '-']);

    const any = { workspace_id: null, from_domain: null, tag: null, priority: null, destination: null };
    expect(JSON.parse(set.out)).toEqual({
      output_version: 1,
      object: 'transport_rules',
      data: [
        { ...any, priority: 'bulk', destination: 'example.net', transports: [id, 'default'] },
        { ...any, from_domain: 'shop.example.com', transports: ['default'] },
      ],
    });
    expect(again.out).toMatch(
      /^1\. {2}priority=bulk destination=example\.net +Bulk, DELIVERY\n2\. {2}from_domain=shop\.example\.com +DELIVERY\n$/,
    );
    expect(again.out).toBe((await postrider(['transports', 'rules'])).out);
    await piped('[]', ['transports', 'set-rules', '-']);
    expect((await postrider(['transports', 'rules'])).out).toBe('No rules. All email uses DELIVERY.\n');
  });

  it.each([
    ['{', 'invalid_rules: .* JSON'],
    ['{}', 'invalid_rules: .* the file: '],
    ['[{ "form_domain": "example.com", "transports": ["default"] }]', 'invalid_rules: .* rule 1: .*"form_domain"'],
    ['[{ "priority": "low", "transports": ["default"] }]', 'invalid_rules: .* rule 1, priority: '],
    ['[{ "transports": ["Elsewhere"] }]', 'unknown_transport: Rule 1 names the transport Elsewhere'],
    ['[{ "destination": "no domain", "transports": ["default"] }]', 'invalid_type: .*destination'],
  ])('%s is rejected, and the current rules remain', async (text, problem) => {
    await postrider(['transports', 'set-rules', await rules([{ tag: 'kept', transports: ['default'] }])]);

    const rejection = await postrider(['transports', 'set-rules', await fileWith('bad.json', text)]);

    expect(rejection).toMatchObject({ code: 1, err: expect.stringMatching(new RegExp(`^${problem}`)) });
    expect((await postrider(['transports', 'rules'])).out).toBe('1.  tag=kept  DELIVERY\n');
  });
});

describe('`transports preview`', () => {
  const email = ['--from-domain', 'shop.example.com', '--to-domain', 'Example.net'];
  const preview = (...args: string[]) => postrider(['transports', 'preview', ...email, ...args]);

  it('follows the saved rules by sender, recipient, tags, priority and workspace', async () => {
    const [workspace] = JSON.parse((await postrider(['workspaces', 'list', '--json'])).out).data;
    await postrider(['transports', 'create', 'Preview', '--kind', 'mx']);
    const saved = [
      { tag: 'b', priority: 'bulk', transports: ['Preview', 'default'] },
      { destination: 'example.net', tag: 'a', transports: ['Preview'] },
      { workspace_id: workspace.id, transports: ['Preview'] },
    ];
    await postrider(['transports', 'set-rules', await rules(saved)]);

    const outputs = [
      await preview(),
      await preview('--tag', 'a', '--tag', 'b'),
      await preview('--tag', 'a', '--tag', 'b', '--priority', 'bulk'),
      await preview('--local'),
      await preview('--workspace', workspace.id),
    ];

    expect(outputs.map(({ out, err }) => out || err)).toEqual([
      'No rule applies. The email uses DELIVERY.\n',
      'Rule 2 applies. The email uses Preview.\n',
      'Rule 1 applies. The email uses Preview, then DELIVERY.\n',
      'No rule applies. The email uses DELIVERY.\n',
      'Rule 3 applies. The email uses Preview.\n',
    ]);
  });

  it('follows drafted rules from a file without saving them', async () => {
    await postrider(['transports', 'set-rules', await rules([])]);
    const draft = await fileWith('draft.json', JSON.stringify([{ priority: 'normal', transports: ['Preview'] }]));
    const unknown = await fileWith('unknown.json', JSON.stringify([{ transports: ['Elsewhere'] }]));

    const over_http = await preview('--rules', draft, '--json');
    const local = await preview('--rules', draft, '--json', '--local');
    const rejection = await preview('--rules', unknown);

    expect(JSON.parse(over_http.out)).toEqual({
      output_version: 1,
      object: 'transport_route',
      rule: 1,
      rule_of: 'instance',
      transports: [{ id: expect.stringMatching(/^trn_/), name: 'Preview' }],
      captured: true,
    });
    expect(JSON.parse(local.out)).toEqual(JSON.parse(over_http.out));
    expect(rejection).toMatchObject({ code: 1, err: expect.stringMatching(/^unknown_transport: /) });
    expect((await postrider(['transports', 'rules'])).out).toBe('No rules. All email uses DELIVERY.\n');
    await postrider(['transports', 'delete', 'Preview', '--yes']);
  });
});

describe('`transports health`', () => {
  it('lists every transport with its status and what it sent today, the same over HTTP and with --local', async () => {
    await postrider(['transports', 'create', 'Daily', '--kind', 'mx', '--messages-per-day', '50']);

    const text = await postrider(['transports', 'health']);
    const over_http = await postrider(['transports', 'health', '--json']);
    const local = await postrider(['transports', 'health', '--json', '--local']);

    expect(text.out).toMatch(/^DELIVERY {2}ok/);
    expect(text.out).toMatch(/^Daily {5}ok {2}0 of 50 sent today$/m);
    expect(JSON.parse(over_http.out)).toMatchObject({
      object: 'list',
      data: expect.arrayContaining([
        expect.objectContaining({ transport_id: 'default', status: 'ok', closed_until: null, used_today: null }),
      ]),
    });
    expect(JSON.parse(local.out)).toEqual(JSON.parse(over_http.out));
  });
});
