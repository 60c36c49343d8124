import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

interface Record {
  readonly type: string;
  readonly fqdn: string;
  readonly value: string;
  readonly required: boolean;
}

describe('Domains', () => {
  it('a domain is added, each wrong record says what was found, and it turns green by itself', async () => {
    const { dns } = stage.world;
    const visitor = await stage.visitor('member');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/domains');
    await page.getByRole('button', { name: 'Add a domain' }).first().click();
    await page.getByLabel('Domain', { exact: true }).fill('shop.test');
    await page.getByRole('button', { name: 'Add the domain' }).click();
    await page.getByRole('heading', { name: 'shop.test' }).waitFor();
    await page.getByText('Pending', { exact: true }).waitFor();
    const answer = await visitor.context.request.get(
      `/trpc/domains.get?input=${encodeURIComponent('{"domain":"shop.test"}')}`,
      { headers: { 'x-postrider': '1' } },
    );
    const { result } = (await answer.json()) as { result: { data: { dns_records: readonly Record[] } } };
    const required = result.data.dns_records.filter((record) => record.required && record.type === 'TXT');
    const proof = required.find(({ fqdn }) => fqdn.startsWith('_postrider'));
    const others = required.filter((record) => record !== proof);
    const card = page
      .getByRole('listitem')
      .filter({ hasText: proof?.fqdn ?? '' })
      .first();
    expect(await card.getByRole('button', { name: /^Copy/ }).count()).toBeGreaterThanOrEqual(2);

    dns.set(proof?.fqdn ?? '', 'TXT', ['postrider-verification=of-another']);
    for (const { fqdn, value } of others) dns.set(fqdn, 'TXT', [value]);

    // Nothing is pressed from here on.
    await card.getByText('Wrong value').waitFor();
    await card.getByText('postrider-verification=of-another').first().waitFor();
    await page.getByText('Right', { exact: true }).first().waitFor();
    dns.set(proof?.fqdn ?? '', 'TXT', [proof?.value ?? '']);
    await page.getByText('Verified', { exact: true }).waitFor();
    await page.getByText('Programs can send from any address of shop.test.').waitFor();
    expectQuiet(watched);
    await visitor.stop();
  });

  it('a domain is suspended with a reason and resumed by an operator, and its keys are rotated once', async () => {
    const { world } = stage;
    await world.domain('levers.test');
    const visitor = await stage.visitor('operator');
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/domains/levers.test');
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };

    await choose('Suspend domain');
    await page.getByLabel('Reason').fill('A report of spam');
    await page.getByRole('button', { name: 'Suspend domain' }).click();
    await page.getByText('Suspended', { exact: true }).waitFor();
    await page.getByText('Suspended by an operator: A report of spam').waitFor();
    await choose('Resume domain');
    await page.getByRole('button', { name: 'Resume domain' }).click();
    await page.getByText('Suspended', { exact: true }).waitFor({ state: 'detached' });
    await choose('Rotate DKIM keys');
    await page.getByRole('button', { name: 'Rotate DKIM keys' }).click();
    await page.getByText('DKIM keys rotated').waitFor();
    await choose('Rotate DKIM keys');
    await page.getByRole('button', { name: 'Rotate DKIM keys' }).click();
    await page.getByText('A key rotation of levers.test is in progress').waitFor();

    const keys = await world.services.sql`
      select role from dkim_keys k join domains d on d.id = k.domain_id where d.name = 'levers.test' order by role`;
    expect(keys.map(({ role }) => role)).toEqual(['active', 'next']);
    await visitor.stop();
  });

  it('a domain is loaded once its link is hovered, and a missing one shows its error', async () => {
    await stage.world.domain('hovered.test');
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/domains');
    const link = page.getByRole('link', { name: 'hovered.test' });
    await link.waitFor();

    const loaded = page.waitForResponse(/domains\.get/);
    await link.hover();

    expect((await loaded).ok()).toBe(true);
    expect(new URL(page.url()).pathname).toBe('/domains');
    await page.goto('/domains/missing.test');
    await page.getByText('domain_not_found').waitFor();
    await visitor.stop();
  });
});
