import { describe, expect, it } from 'vitest';
import { openCommandLine } from './command-line.ts';

const { postrider, url } = await openCommandLine();

describe('the keys command', () => {
  it('creates, lists and revokes a key, which is then rejected', async () => {
    const key = JSON.parse((await postrider(['keys', 'create', '--name', 'Reader', '--scope', 'admin', '--json'])).out);
    const list = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: key.secret });
    expect(list.out).toMatch(new RegExp(`${key.id} .*active.*Reader`));

    const revocation = await postrider(['keys', 'revoke', key.id, '--yes']);

    expect(revocation.out).toContain(`${key.id}  revoked`);
    const rejection = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: key.secret });
    expect(rejection.code).toBe(1);
    expect(rejection.err).toMatch(/^revoked_key: .*\nSet POSTRIDER_API_KEY/);
  });

  it('rotates a key, and prints its replacement', async () => {
    const key = JSON.parse((await postrider(['keys', 'create', '--name', 'Old', '--scope', 'admin', '--json'])).out);

    const rotation = await postrider(['keys', 'rotate', key.id]);

    const [secret, line] = rotation.out.split('\n');
    expect(line).toMatch(new RegExp(`^key_\\w+ replaces ${key.id}; shown once$`));
    const list = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: secret ?? '' });
    const [successor] = line?.split(' ') ?? [];
    expect(list.out).toMatch(new RegExp(`^${key.id} +active .* until \\S+ +replaced by ${successor}$`, 'm'));
  });
});

describe('the operators command', () => {
  it("resets an operator's password with reset-password, and prints one that works", async () => {
    const reset = await postrider(['operators', 'reset-password', 'admin@sandbox.test', '--json']);

    const { password } = JSON.parse(reset.out);
    const signIn = async (value: string) =>
      (
        await fetch(`${url}/login`, {
          method: 'POST',
          redirect: 'manual',
          headers: { origin: url },
          body: new URLSearchParams({ email: 'admin@sandbox.test', password: value }),
        })
      ).status;
    expect([await signIn(password), await signIn('wrong')]).toEqual([303, 401]);
  });

  it('resets how an operator signs in with reset-sign-in, after asking', async () => {
    const prompt = await postrider(['operators', 'reset-sign-in', 'admin@sandbox.test']);
    expect(prompt.code).not.toBe(0);
    expect(prompt.err).toContain('second factor');

    const reset = await postrider(['operators', 'reset-sign-in', 'admin@sandbox.test', '--yes']);

    const [link = '', line] = reset.out.split('\n');
    expect(line).toMatch(/^Signs in admin@sandbox\.test once\. Expires at \S+\.$/);
    const press = () => fetch(link, { method: 'POST', redirect: 'manual', headers: { origin: url } });
    expect([(await press()).status, (await press()).status]).toEqual([303, 401]);
    const unknown = await postrider(['operators', 'reset-sign-in', 'eve@sandbox.test', '--yes', '--json']);
    expect(unknown.err).toContain('user_not_found');
  });

  it('rejects an unknown email address', async () => {
    const rejection = await postrider(['operators', 'reset-password', 'nobody@sandbox.test']);

    expect(rejection.code).toBe(1);
    expect(rejection.err).toMatch(/^user_not_found: /);
  });

  it('creates a login link that signs in the only operator once, at the public URL', async () => {
    const creation = await postrider(['operators', 'login-link', '--json']);
    const link = JSON.parse(creation.out);
    const press = () => fetch(link.url, { method: 'POST', redirect: 'manual', headers: { origin: url } });

    expect(link).toMatchObject({ email: 'admin@sandbox.test', url: expect.stringContaining(`${url}/login/link/`) });
    expect((await press()).status).toBe(303);
    expect((await press()).status).toBe(401);
  });

  it('adds and removes a second operator, but cannot remove the last one', async () => {
    const addition = await postrider(['operators', 'add', 'Second@people.test', '--password']);
    expect(addition.out).toMatch(
      /^\S{20}\nthe new user’s password; shown once\nAdded second@people\.test as an operator\n$/,
    );
    expect((await postrider(['operators', 'login-link'])).err).toMatch(/^missing_option: There are 2 operators/);

    expect((await postrider(['operators', 'remove', 'SECOND@people.test', '--yes'])).code).toBe(0);

    const list = await postrider(['operators', 'list', '--json']);
    expect(JSON.parse(list.out).data).toMatchObject([{ object: 'operator', email: 'admin@sandbox.test' }]);
    expect((await postrider(['operators', 'remove', 'admin@sandbox.test', '--yes'])).err).toMatch(/^last_admin: /);
  });
});

describe('the members command', () => {
  it('adds a member, changes the role, and removes any member except the last admin', async () => {
    const addition = await postrider(['members', 'add', 'ada@people.test', '--role', 'admin']);
    const second = await postrider(['members', 'add', 'bob@people.test', '--role', 'viewer', '--json']);
    const change = await postrider(['members', 'set-role', 'bob@people.test', 'member']);
    const list = await postrider(['members', 'list', '--json']);

    expect(addition.out).toMatch(
      /^http\S+\/login\/link\/\S{43}\nsigns the new user in once; expires at .*\nAdded ada@people\.test to wsp_\S+ as admin\n$/,
    );
    expect(JSON.parse(second.out)).toMatchObject({ role: 'viewer', login_url: expect.any(String) });
    expect(change.out).toMatch(/^Changed bob@people\.test to member in wsp_/);
    expect(JSON.parse(list.out).data).toMatchObject([
      { email: 'bob@people.test', role: 'member' },
      { email: 'ada@people.test', role: 'admin' },
    ]);
    expect(list.out).not.toContain('link');
    expect((await postrider(['members', 'remove', 'ada@people.test', '--yes'])).err).toMatch(/^last_admin: /);
    expect((await postrider(['members', 'remove', 'bob@people.test', '--yes'])).code).toBe(0);
    expect((await postrider(['members', 'remove', 'bob@people.test', '--yes'])).err).toMatch(/^member_not_found: /);
  });

  it('rejects an unknown role or workspace', async () => {
    const owner = await postrider(['members', 'add', 'eve@people.test', '--role', 'owner']);
    expect([owner.code, owner.err]).toEqual([2, expect.stringContaining('viewer, member, admin')]);
    expect((await postrider(['members', 'list', '--workspace', 'wsp_none'])).err).toMatch(/^workspace_not_found: /);
  });
});

describe('the workspaces and plans commands', () => {
  it('create, change and list a plan and a workspace that uses it', async () => {
    const plan = await postrider(['plans', 'create', 'tiny', '--recipients', '5', '--monthly', '100', '--json']);
    const creation = await postrider(['workspaces', 'create', 'Shop', '--plan', 'tiny', '--json']);
    const { id, api_key } = JSON.parse(creation.out);
    const keys = await postrider(['keys', 'list'], { POSTRIDER_API_KEY: api_key.secret });

    const stops = await postrider(['workspaces', 'update', id, '--unknown-policy', 'stop']);
    const move = await postrider(['workspaces', 'set-plan', id, 'growth', '--reason', 'grown']);
    const wider = await postrider(['plans', 'update', 'tiny', '--monthly', 'none']);
    const limited = await postrider(['plans', 'update', 'tiny', '--workspace-rate', '600']);
    const unlimited = await postrider(['plans', 'update', 'tiny', '--workspace-rate', 'none', '--json']);
    const deletion = await postrider(['plans', 'delete', 'tiny', '--yes']);

    expect(JSON.parse(plan.out)).toMatchObject({ name: 'tiny', monthly_emails: 100, send_per_minute: 1000 });
    expect(keys.out).toMatch(new RegExp(`^${api_key.id} +active .* First key +admin .*\n$`));
    expect(stops.out).toMatch(/tiny +stop after a lost reply/);
    expect(move.out).toMatch(/growth +stop after a lost reply .* Shop$/m);
    expect(wider.out).toContain('no monthly limit');
    expect(limited.out).toContain('600 requests per minute across all API keys');
    expect(JSON.parse(unlimited.out)).toMatchObject({ workspace_rate: null });
    expect(deletion).toMatchObject({ code: 0, out: 'Deleted plan tiny\n' });
    const list = (await postrider(['workspaces', 'list'])).out.trimEnd().split('\n');
    expect(list).toEqual([expect.stringContaining(id), expect.stringMatching(/business .* Default$/)]);
    expect((await postrider(['plans', 'list'])).out).toMatch(/^business +no monthly limit/);
    expect((await postrider(['plans', 'delete', 'growth', '--yes'])).err).toMatch(/^plan_in_use: /);
  });
});

describe('the audit command', () => {
  it('lists, exports and verifies entries', async () => {
    const { id } = JSON.parse(
      (await postrider(['keys', 'create', '--name', 'Seen', '--scope', 'email:send', '--json'])).out,
    );

    const list = await postrider(['audit', 'list', '--target', id]);
    const download = await postrider(['audit', 'export', '--action', 'api_key.created']);
    const reads = await postrider(['audit', 'export', '--kind', 'reads', '--target', id]);
    const verification = await postrider(['audit', 'verify']);

    expect(list.err).toBe('');
    expect(list.out).toMatch(/key First key +rest +api_key\.created +key_\S+ +\{"name":"Seen"/);
    const targets = download.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).target_id);
    expect(targets).toContain(id);
    expect([reads.out, reads.code]).toEqual(['', 0]);
    expect(verification.out).toMatch(/^\d+ entries are intact\nhead [0-9a-f]{64}\n$/);
    expect((await postrider(['audit', 'verify', '--instance', '--json'])).code).toBe(0);
  });
});
