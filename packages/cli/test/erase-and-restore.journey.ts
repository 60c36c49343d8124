import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runCommand } from '../src/run-command.ts';
import { type Outcome, openCommandLine } from './command-line.ts';

const { directory, environment, postrider, send } = await openCommandLine();

describe('destructive commands', () => {
  /** Runs a command as on a terminal where a person types the answer. */
  async function responding(args: readonly string[], response: string): Promise<Outcome & { readonly prompt: string }> {
    let [out, err, prompt] = ['', '', ''];
    const code = await runCommand(args, {
      env: environment(),
      question: async (text) => {
        prompt += text;
        return response;
      },
      draw: (text) => {
        err += text;
      },
      print: (text) => {
        out += `${text}\n`;
      },
      note: (text) => {
        err += `${text}\n`;
      },
    });
    return { code, out, err, prompt };
  }

  it('show what an erasure would destroy, and wait until the count is typed', async () => {
    await send('--to', 'counted@example.com');
    await send('--to', 'counted@example.com');

    const dryRun = await postrider(['erase', 'counted@example.com']);
    const other = await responding(['erase', 'counted@example.com'], '1');
    const erasure = await responding(['erase', 'counted@example.com'], '2');

    expect([dryRun.code, dryRun.err]).toEqual([2, expect.stringMatching(/^missing_option: .* of 2 emails .*--yes/s)]);
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('not_confirmed: ')]);
    expect(other.prompt).toBe('Type 2 to continue: ');
    expect([erasure.code, erasure.out]).toEqual([0, expect.stringMatching(/^ers_\w+ {2}completed/)]);
  });

  it('also require the count to revoke one key, and audit verify draws a progress bar', async () => {
    const key = JSON.parse((await postrider(['keys', 'create', '--name', 'K', '--scope', 'admin', '--json'])).out);
    const revocation = await responding(['keys', 'revoke', key.id], '1');
    const verification = await responding(['audit', 'verify'], '');

    expect(revocation.err).toContain(`${key.id} (K, never used) would be revoked permanently.`);
    expect(revocation.code).toBe(0);
    expect(verification.err).toMatch(/verified \[#{24}\] (\d+) of \1 /);
  });
});

describe('the erase command', () => {
  it('prints a receipt with counts and places where data may remain, without the address', async () => {
    await send('--to', 'erased.person@example.com');
    await vi.waitFor(
      async () => {
        const { out } = await postrider(['logs', 'list', '--to', 'erased.person@example.com', '--json']);
        expect(JSON.parse(out).data[0]).toMatchObject({ status: 'delivered' });
      },
      { timeout: 30_000, interval: 200 },
    );

    const { code, out } = await postrider(['erase', 'erased.person@example.com', '--yes']);

    expect(code).toBe(0);
    expect(out).toMatch(/^ers_\w+ {2}completed\n/);
    expect(out).toMatch(/^recipients +1$/m);
    expect(out).toContain('The address may remain in:');
    expect(out).not.toContain('erased.person');
    const { out: remainder } = await postrider(['logs', 'list', '--to', 'erased.person@example.com', '--json']);
    expect(JSON.parse(remainder).data).toEqual([]);
  });

  it('returns immediately with --no-wait, and rejects an invalid address', async () => {
    const start = await postrider(['erase', 'another.person@example.com', '--no-wait', '--yes', '--json']);
    const rejection = await postrider(['erase', 'no-address', '--yes']);

    expect(JSON.parse(start.out)).toMatchObject({ object: 'erasure', id: expect.stringMatching(/^ers_/) });
    expect([rejection.code, rejection.err]).toEqual([1, expect.stringMatching(/email/)]);
  });
});

describe('the restore-check command', () => {
  it('holds the instance, and closes emails that a log lists as sent', async () => {
    await postrider(['queues', 'hold', 'queue', 'delivery.attempt', '--reason', 'A backup is to have open mail']);
    const email = JSON.parse((await send('--to', 'sent@example.com', '--json')).out);
    const open = JSON.parse((await send('--to', 'open@example.com', '--json')).out);
    const log = join(directory, 'sent.log');
    await writeFile(
      log,
      `<${email.id}@sandbox.test> to=<sent@example.com> status=sent\nabout <${open.id}@sandbox.test>\n`,
    );

    const report = await postrider(['restore-check', '--sent', log]);
    const closing = await postrider(['restore-check', '--sent', log, '--close', '--json']);
    const missingLog = await postrider(['restore-check', '--sent', join(directory, 'absent.log')]);

    expect(report.code).toBe(0);
    expect(report.out).toMatch(/^hld_\w+ holds all email and webhooks until you release it$/m);
    expect(report.out).toContain('1 worker is already running');
    expect(report.out).toContain(`${email.id}  sent@example.com  ${log}`);
    expect(report.out).toContain(`${log}:2  about <${open.id}@sandbox.test>`);
    const { hold, known_sent, missing } = JSON.parse(closing.out);
    expect(JSON.parse(closing.out)).toMatchObject({ object: 'restore_check', closed: 1 });
    expect([known_sent.count, missing.count]).toEqual([1, 0]);
    expect([missingLog.code, missingLog.err]).toEqual([1, expect.stringMatching(/^file_not_found: /)]);
    expect((await postrider(['queues', 'release', 'queue', 'delivery.attempt'])).code).toBe(0);
    // The instance hold is active.
    const view = await postrider(['email', 'get', open.id]);
    expect(view.out).toContain(hold.id);
    expect((await postrider(['queues', 'release', 'instance', 'all'])).out).toContain('instance all is released');
    await vi.waitFor(async () => expect((await postrider(['email', 'get', open.id])).out).toContain('delivered'), {
      timeout: 30_000,
      interval: 200,
    });
    expect((await postrider(['email', 'get', email.id])).out).toContain('Known as sent by');
  });
});
