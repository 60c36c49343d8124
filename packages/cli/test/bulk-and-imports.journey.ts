import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { type Outcome, openCommandLine } from './command-line.ts';

const { directory, postrider, send } = await openCommandLine();

describe('the bulk command', () => {
  it('previews a bulk operation, runs it once its count is confirmed, and records a receipt', async () => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
    const email = await send('--to', 'ada@example.com', '--tag', 'bulk', '--schedule', scheduled_at, '--json');
    const { id } = JSON.parse(email.out);

    const preview = await postrider(['bulk', 'preview', 'cancel', '--tag', 'bulk']);
    expect(preview.err).toBe('');
    expect(preview.out).toContain(`cancel would process 1 item\n  ${id}\n`);
    const token = /bulk run (\S+)/.exec(preview.out)?.[1] ?? '';
    const unconfirmed = await postrider(['bulk', 'run', token, '--reason', 'a mistake']);
    expect([unconfirmed.code, unconfirmed.err]).toEqual([
      2,
      expect.stringMatching(/^missing_option: .*Nothing was started/),
    ]);
    const miscount = await postrider(['bulk', 'run', token, '--reason', 'a mistake', '--count', '2']);
    expect([miscount.code, miscount.err]).toEqual([1, expect.stringContaining('matched 1, not 2')]);
    const start = await postrider(['bulk', 'run', token, '--reason', 'a mistake', '--count', '1', '--json']);
    const bulk = JSON.parse(start.out);
    expect(bulk).toMatchObject({ action: 'cancel', filter: { tag: ['bulk'] }, reason: 'a mistake', matched: 1 });

    const read = async () => JSON.parse((await postrider(['bulk', 'get', bulk.id, '--json'])).out);
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'completed', done: 1 }), {
      timeout: 30_000,
      interval: 100,
    });
    expect((await postrider(['bulk', 'items', bulk.id])).out).toBe(`${id}  done\n`);
    expect((await postrider(['bulk', 'list'])).out).toMatch(
      new RegExp(`^${bulk.id} .* cancel +completed +1 done +0 failed +0 skipped +a mistake\n$`),
    );
    const not_written = await postrider(['bulk', 'download', bulk.id]);
    expect(not_written).toMatchObject({ code: 1, out: '' });
    expect(not_written.err).toContain(`bulk_not_found: ${bulk.id} is not an export but cancel`);
    const lateCancel = await postrider(['bulk', 'cancel', bulk.id]);
    expect([lateCancel.code, lateCancel.err.split(':')[0]]).toEqual([1, 'bulk_finished']);
  });

  it('selects emails with a filter by sender domain, and returns no token for a preview without matches', async () => {
    const email = await send('--to', 'ada@example.com', '--tag', 'aimed', '--json');
    const { id } = JSON.parse(email.out);

    const bySender = await postrider([
      'bulk',
      'preview',
      'export',
      '--tag',
      'aimed',
      '--sender-domain',
      'sandbox.test',
    ]);
    expect(bySender.out).toContain(`export would process 1 item\n  ${id}\n`);
    const byDomain = await postrider(['bulk', 'preview', 'export', '--tag', 'aimed', '--to-domain', 'example.com']);
    expect(byDomain.out).toContain(`export would process 1 item\n  ${id}\n`);
    for (const option of ['--sender-domain', '--domain']) {
      const mismatch = await postrider(['bulk', 'preview', 'export', '--tag', 'aimed', option, 'example.com']);
      expect([mismatch.code, mismatch.out]).toEqual([0, expect.stringMatching(/^No matches for export/)]);
      expect(mismatch.out).not.toContain('bulk run');
    }
  });

  it('downloads an export as JSON lines', async () => {
    const email = await send('--to', 'ada@example.com', '--tag', 'exported', '--json');
    const preview = await postrider(['bulk', 'preview', 'export', '--tag', 'exported', '--json']);
    const start = await postrider([
      'bulk',
      'run',
      JSON.parse(preview.out).token,
      '--reason',
      'asked for',
      '--yes',
      '--json',
    ]);
    const { id } = JSON.parse(start.out);

    const lines = await vi.waitFor(
      async () => {
        const { out } = await postrider(['bulk', 'download', id]);
        expect(out).not.toBe('');
        return out.trimEnd().split('\n');
      },
      { timeout: 30_000, interval: 100 },
    );

    expect(lines.map((line) => JSON.parse(line).id)).toEqual([JSON.parse(email.out).id]);
  });
});

function parts({ out }: Outcome): Record<string, unknown>[] {
  return (JSON.parse(out) as { parts: Record<string, unknown>[] }).parts;
}

describe('the import command', () => {
  const data = (name: string) => fileURLToPath(new URL(`../test-data/${name}`, import.meta.url));
  const files = [
    ...['--suppressions', data('postmark-suppressions.json')],
    ...['--domains', data('postmark-domains.json')],
    ...['--webhooks', data('postmark-webhooks.json')],
  ];

  it('previews its changes, applies them on request, and changes nothing when repeated', async () => {
    const dry = await postrider(['import', 'postmark', ...files]);
    const first = await postrider(['import', 'postmark', ...files, '--apply', '--json']);
    const repeat = await postrider(['import', 'postmark', ...files, '--apply', '--json']);

    expect(dry.out).toContain('3 found, 3 to add');
    expect(dry.out).toMatch(/Dry run: nothing was written\. Add --apply to import\.\n$/);
    expect(dry.out).toContain('added without Open, which Postrider does not support');
    expect(parts(first)).toMatchObject([
      { what: 'suppressions', added: 3, present: 0, refused: [] },
      { what: 'domains', added: 1, present: 0 },
      { what: 'webhooks', added: 1, secrets: [{ secret: expect.stringMatching(/^whsec_/) }] },
    ]);
    expect(parts(repeat)).toMatchObject([
      { added: 0, present: 3 },
      { added: 0, present: 1 },
      { added: 0, present: 1 },
    ]);
    expect((await postrider(['domains', 'list', '--output', 'text'])).out).toMatch(/moved\.example\s+pending/);
    expect((await postrider(['suppressions', 'list', '--email', 'bounced@example.com'])).out).toContain(
      'from Postmark, HardBounce',
    );
  });

  it('requires a file, and rejects one of the wrong type before writing anything', async () => {
    expect(await postrider(['import', 'resend'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing_option'),
    });
    const mixture = ['--suppressions', data('resend-suppressions.json'), data('resend-domains.json'), '--apply'];

    const rejection = await postrider(['import', 'resend', ...mixture]);

    expect(rejection.err).toMatch(/^missing_column: .*has no column email/);
    expect((await postrider(['suppressions', 'list', '--email', 'steve@example.com'])).out).toBe('No results.\n');
  });
});

describe('the suppressions command', () => {
  it('adds, lists and removes an address', async () => {
    const addition = await postrider(['suppressions', 'add', 'Ada@Example.com', '--reason', 'asked by phone']);
    expect(addition.out).toMatch(/ada@example\.com +manual .*asked by phone/);
    expect((await postrider(['suppressions', 'list', '--email', 'ADA@example.com'])).out).toBe(addition.out);
    expect((await postrider(['suppressions', 'add', 'ada@example.com'])).err).toMatch(/^suppression_exists: /);

    const removal = await postrider(['suppressions', 'remove', 'ada@EXAMPLE.com']);

    expect(removal).toMatchObject({ code: 0, out: 'ada@example.com  removed\n' });
    expect((await postrider(['suppressions', 'list', '--email', 'ada@example.com'])).out).toBe('No results.\n');
    expect((await postrider(['suppressions', 'remove', 'ada@example.com'])).err).toMatch(/^suppression_not_found: /);
  });

  it('imports a file in parts, lists its invalid lines, and changes nothing when repeated (newcomer N19)', async () => {
    const file = join(directory, 'addresses.csv');
    const addresses = Array.from({ length: 450 }, (_, index) => `m${index}@example.com,"left, in May"`);
    await writeFile(file, ['email,reason', ...addresses, '', 'nobody', 'last@example.com'].join('\r\n'));

    const first = await postrider(['suppressions', 'import', file]);
    const repeat = await postrider(['suppressions', 'import', file, '--json']);

    expect(first).toMatchObject({ code: 1, out: '451 added, 0 already suppressed, 1 rejected\n' });
    expect(first.err).toMatch(/^line 453: email: .*\npartly_imported: /);
    expect(JSON.parse(repeat.out)).toMatchObject({ added: 0, present: 451, refused: [{ line: 453, email: 'nobody' }] });
    const list = await postrider(['suppressions', 'list', '--source', 'import', '--limit', '150', '--json']);
    const { data } = JSON.parse(list.out);
    expect(data).toHaveLength(150);
    expect(data.at(-1)).toMatchObject({ source: 'import', reason: 'left, in May' });
  });

  it('reports a missing file as unreadable', async () => {
    expect((await postrider(['suppressions', 'import', join(directory, 'none.txt')])).err).toMatch(
      /^unreadable_file: .*ENOENT/,
    );
  });
});

// Last, because these use up the key's requests of the minute, for which only this command waits.
describe('the import of 10,000 entries', () => {
  it.each([
    ['resend', (emails: readonly string[]) => ({ data: emails.map((email) => ({ object: 'suppression', email })) })],
    [
      'postmark',
      (emails: readonly string[]) => ({
        Suppressions: emails.map((EmailAddress) => ({ EmailAddress, Origin: 'Customer' })),
      }),
    ],
    [
      'sendgrid',
      (emails: readonly string[]) => emails.map((email) => ({ email, reason: 'Unknown', created: 1443651125 })),
    ],
    [
      'ses',
      (emails: readonly string[]) => ({
        SuppressedDestinationSummaries: emails.map((EmailAddress) => ({ EmailAddress, Reason: 'BOUNCE' })),
      }),
    ],
    ['mailgun', (emails: readonly string[]) => ({ items: emails.map((address) => ({ address, code: '550' })) })],
  ])(
    'works for %s, reports broken entries, and adds nothing when repeated',
    {
      timeout: 180_000,
    },
    async (provider, exported) => {
      const good = Array.from({ length: 9_990 }, (_, index) => `${provider}-${index}@example.com`);
      const broken = [
        '',
        'no-address',
        'a@',
        '@b.example',
        'a@b@c',
        'a b@example.com',
        `${'x'.repeat(400)}@example.com`,
      ];
      const repeated = good.slice(0, 3);
      const file = join(directory, `${provider}.json`);
      await writeFile(file, JSON.stringify(exported([...good, ...broken, ...repeated])));
      const command = ['import', provider, '--suppressions', file, '--apply', '--json'];

      const [first = {}] = parts(await postrider(command));
      const [repeat = {}] = parts(await postrider(command));

      const counts = ({ added, present, refused, skipped }: Record<string, unknown>) => ({
        added,
        present,
        reported: [refused, skipped].flat().length,
      });
      expect(counts(first)).toEqual({ added: 9_990, present: 0, reported: 10 });
      expect(counts(repeat)).toEqual({ added: 0, present: 9_990, reported: 10 });
    },
  );
});
