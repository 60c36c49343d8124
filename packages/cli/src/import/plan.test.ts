import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { resendNames } from '@postrider/core/webhooks';
import { describe, expect, it } from 'vitest';
import { planDomains, planSuppressions, planWebhooks } from './plan.ts';
import { type ProviderName, providerNames, providers } from './providers.ts';
import { readExport } from './read-export.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../../test-data/${name}`, import.meta.url));
const suppressionsOf = async (provider: ProviderName, file: string) =>
  planSuppressions(file, await readExport(file), providers[provider]);

async function writeExport(name: string, text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'postrider-import-')), name);
  await writeFile(file, text);
  return file;
}

describe('a suppression export', () => {
  it.each([
    ['resend', 'resend-suppressions.json', 'steve@example.com', 'from Resend, manual, 2026-10-06T23:47:56.678Z'],
    [
      'postmark',
      'postmark-suppressions.json',
      'unsubscribed@example.com',
      'from Postmark, ManualSuppression, Recipient, 2019-12-17T08:58:33-05:00',
    ],
    ['ses', 'ses-suppressions.json', 'gone@example.com', 'from SES, BOUNCE, 2026-04-10T21:03:05+00:00'],
    [
      'mailgun',
      'mailgun-suppressions.json',
      'gone@example.com',
      'from Mailgun, 550, No such mailbox, Fri, 21 Oct 2026 11:02:55 UTC',
    ],
  ] as const)('preserves the address, reason and time from %s', async (provider, file, email, reason) => {
    const plan = await suppressionsOf(provider, fixture(file));

    expect(plan.entries[0]).toEqual({ line: 1, email, reason });
    expect(plan).toMatchObject({ skipped: [], unknown_columns: [] });
  });

  it('is read as CSV from SendGrid, and any line that cannot be imported is reported', async () => {
    const plan = await suppressionsOf('sendgrid', fixture('sendgrid-bounces.csv'));

    expect(plan.entries.map(({ line, email }) => [line, email])).toEqual([
      [2, 'ada@gone.example'],
      [3, 'bob@gone.example'],
    ]);
    expect(plan.entries[1]?.reason).toBe('from SendGrid, 5.1.1, 550 5.1.1 unknown user, second line, 1433800303');
    expect(plan.skipped).toEqual([
      { line: 5, why: 'not an address is not an email address' },
      { line: 6, why: 'ADA@gone.example is also on line 2' },
    ]);
  });

  it('reports unknown columns, and accepts known columns in any spelling', async () => {
    const file = await writeExport(
      'list.csv',
      '\uFEFFEmail Address,Suppression-Reason,Mood\r\na@b.example,HardBounce,bad\r\n',
    );

    const plan = await suppressionsOf('postmark', file);

    expect(plan.unknown_columns).toEqual(['Mood']);
    expect(plan.entries).toEqual([{ line: 2, email: 'a@b.example', reason: 'from Postmark, HardBounce' }]);
  });

  it.each([
    ['another kind', 'id,name\n1,x\n', /has no column email\. Its columns: id, name/],
    ['a quote that is not closed', 'email,reason\na@b.example,"open\n', /a quoted cell is not closed/],
    ['broken JSON', '{ "data": [', /cannot be read/],
    ['an object without a list', '{ "error": "denied" }', /it contains no list/],
  ])('is rejected if it is %s', async (_, text, message) => {
    const file = await writeExport('export', text);

    await expect(suppressionsOf('sendgrid', file)).rejects.toThrow(message);
  });
});

describe('a domain or webhook export', () => {
  it.each(providerNames)('has no unknown columns when exported from %s', async (provider) => {
    const domains = fixture(`${provider}-domains.json`);
    const webhooks = fixture(`${provider}-webhooks.json`);

    const names = planDomains(domains, await readExport(domains), providers[provider]);
    const hooks = planWebhooks(webhooks, await readExport(webhooks), providers[provider]);

    expect(names).toEqual({ names: ['moved.example'], skipped: [], unknown_columns: [] });
    expect(hooks).toMatchObject({ unknown_columns: [] });
    expect(hooks.webhooks).toHaveLength(1);
  });

  it('preserves the Resend format, omits disabled webhooks, and reports events that never occur', async () => {
    const file = fixture('resend-webhooks.json');

    const plan = planWebhooks(file, await readExport(file), providers.resend);

    expect(plan.webhooks).toEqual([
      { url: 'https://example.com/resend', format: 'resend', events: ['email.bounced', 'email.queued'] },
    ]);
    expect(plan.skipped).toEqual([
      { line: 1, why: 'https://example.com/resend: added without email.opened, which Postrider does not support' },
      { line: 2, why: 'https://example.com/off: it is disabled' },
    ]);
  });

  it('has its triggers and switches mapped to event types', async () => {
    const [postmark, sendgrid] = [fixture('postmark-webhooks.json'), fixture('sendgrid-webhooks.json')];

    const triggers = planWebhooks(postmark, await readExport(postmark), providers.postmark);
    const switches = planWebhooks(sendgrid, await readExport(sendgrid), providers.sendgrid);

    expect(triggers.webhooks[0]?.events).toEqual(['email.bounced', 'email.delivered', 'email.failed']);
    expect(switches.webhooks[0]?.events).toEqual([
      'email.bounced',
      'email.complained',
      'email.delivered',
      'email.delivery_delayed',
    ]);
  });

  it('leaves out identities that are addresses, and subscriptions that are not for HTTP', async () => {
    const identities = await writeExport(
      'identities.json',
      '{ "EmailIdentities": [{ "IdentityName": "ada@example.com" }, { "IdentityName": "shop.example" }] }',
    );
    const subscriptions = fixture('ses-webhooks.json');

    const domains = planDomains(identities, await readExport(identities), providers.ses);
    const hooks = planWebhooks(subscriptions, await readExport(subscriptions), providers.ses);

    expect(domains).toMatchObject({
      names: ['shop.example'],
      skipped: [{ line: 1, why: 'ada@example.com is not a domain' }],
    });
    expect(hooks.webhooks.map(({ url }) => url)).toEqual(['https://example.com/ses']);
    expect(hooks.skipped).toEqual([
      { line: 2, why: 'team@example.com: it has no events that Postrider supports (its events: none)' },
    ]);
  });

  it('becomes one webhook per URL, with the events from every entry', async () => {
    const hook = (MessageStream: string, Url: string, trigger: string) => ({
      Url,
      MessageStream,
      Triggers: { [trigger]: { Enabled: true } },
    });
    const list = [
      hook('outbound', 'https://example.com/hook', 'SpamComplaint'),
      hook('outbound', 'https://example.com/other', 'Delivery'),
      hook('broadcasts', 'https://example.com/hook', 'Delivery'),
      hook('receipts', 'https://example.com/hook', 'SpamComplaint'),
    ];
    const file = await writeExport('webhooks.json', JSON.stringify({ Webhooks: list }));

    const plan = planWebhooks(file, await readExport(file), providers.postmark);

    expect(plan.webhooks).toEqual([
      { url: 'https://example.com/hook', format: 'postrider', events: ['email.complained', 'email.delivered'] },
      { url: 'https://example.com/other', format: 'postrider', events: ['email.delivered'] },
    ]);
    const reason = 'https://example.com/hook: it has the same URL as entry 1, which includes its events';
    expect(plan.skipped).toEqual([3, 4].map((line) => ({ line, why: reason })));
  });

  it('includes every event that has a name in the Resend format', () => {
    const supported = Object.entries(resendNames).filter(([, theirs]) => theirs !== null);

    expect(supported.map(([type]) => type).sort()).toEqual(
      Object.values(providers.resend.webhooks.types).flat().sort(),
    );
    for (const [type, theirs] of supported) expect(providers.resend.webhooks.types[theirs ?? '']).toContain(type);
  });
});
