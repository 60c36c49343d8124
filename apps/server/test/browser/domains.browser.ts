import { words as domains } from '@postrider/dashboard/strings/pages/domains';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';
import { routePath } from './route-path.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

interface Record {
  readonly type: string;
  readonly fqdn: string;
  readonly value: string;
  readonly purpose: keyof typeof domains.detail.purpose;
  readonly required: boolean;
}

describe('the Domains page', () => {
  it('shows the value found for each invalid record of a new domain, and turns green automatically', async () => {
    const { dns } = stage.world;
    const visitor = await stage.visitor('member');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/domains');
    await page.getByRole('button', { name: domains.add }).first().click();
    await page.getByLabel(domains.dialog.name, { exact: true }).fill('shop.test');
    await page.getByRole('dialog').getByRole('button', { name: domains.dialog.submit }).click();
    await page.getByRole('heading', { name: 'shop.test' }).waitFor();
    await page.getByText(domains.statuses.pending[0], { exact: true }).waitFor();
    const response = await visitor.context.request.get(
      `/trpc/domains.get?input=${encodeURIComponent('{"domain":"shop.test"}')}`,
      { headers: { 'x-postrider': '1' } },
    );
    const { result } = (await response.json()) as { result: { data: { dns_records: readonly Record[] } } };
    const required = result.data.dns_records.filter((record) => record.required && record.type === 'TXT');
    const proof = required.find(({ fqdn }) => fqdn.startsWith('_postrider'));
    const others = required.filter((record) => record !== proof);
    const card = page
      .getByRole('listitem')
      .filter({ hasText: proof?.fqdn ?? '' })
      .first();
    expect(await card.getByRole('button', { name: wordsAround(parts.copy.copy) }).count()).toBeGreaterThanOrEqual(2);

    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: stage.origin });
    for (const { purpose, value } of required) {
      const [name] = domains.detail.purpose[purpose];
      await page.getByRole('button', { name: parts.copy.copy(domains.recordText.value(name)) }).click();
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(value);
    }

    dns.set(proof?.fqdn ?? '', 'TXT', ['postrider-verification=of-another']);
    for (const { fqdn, value } of others) dns.set(fqdn, 'TXT', [value]);

    // Nothing is clicked from here on.
    await card.getByText(domains.recordStatuses.mismatch).waitFor();
    await card.getByText('postrider-verification=of-another').first().waitFor();
    await page.getByText(domains.recordStatuses.ok, { exact: true }).first().waitFor();
    dns.set(proof?.fqdn ?? '', 'TXT', [proof?.value ?? '']);
    await page.getByText(domains.statuses.verified[0], { exact: true }).waitFor();
    await page.getByText(domains.detail.can('shop.test')).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('lets an operator suspend a domain with a reason, resume it, and rotate its keys once', async () => {
    const { world } = stage;
    await world.domain('levers.test');
    const visitor = await stage.visitor('operator');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/domains/levers.test');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: domains.actions.menu }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };

    await choose(domains.actions.suspend.submit);
    await page.getByLabel(parts.reason.label).fill('A report of spam');
    await page.getByRole('button', { name: domains.actions.suspend.submit }).click();
    await page.getByText(domains.statuses.suspended[0], { exact: true }).waitFor();
    await page.getByText('Suspended by an operator: A report of spam').waitFor();
    await choose(domains.actions.resume.submit);
    await page.getByRole('button', { name: domains.actions.resume.submit }).click();
    await page.getByText(domains.statuses.suspended[0], { exact: true }).waitFor({ state: 'detached' });
    await choose(domains.actions.rotate.submit);
    await page.getByRole('button', { name: domains.actions.rotate.submit }).click();
    await page.getByText(domains.actions.rotate.done).waitFor();
    await choose(domains.actions.rotate.submit);
    await page.getByRole('button', { name: domains.actions.rotate.submit }).click();
    await page.getByText('A key rotation of levers.test is in progress').waitFor();

    const keys = await world.services.sql`
      select role from dkim_keys k join domains d on d.id = k.domain_id where d.name = 'levers.test' order by role`;
    expect(keys.map(({ role }) => role)).toEqual(['active', 'next']);
    await visitor.stop();
  });

  it('preloads a domain when its link is hovered over, and shows an error for a missing one', async () => {
    await stage.world.domain('hovered.test');
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/domains');
    const link = page.getByRole('link', { name: 'hovered.test' });
    await link.waitFor();

    const loaded = page.waitForResponse(/domains\.get/);
    await link.hover();

    expect((await loaded).ok()).toBe(true);
    expect(routePath(page.url())).toBe('/domains');
    await page.goto('/domains/missing.test');
    await page.getByText('domain_not_found').waitFor();
    await visitor.stop();
  });
});
