import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { words as api } from '@postrider/dashboard/strings/api';
import { words as apiKeys } from '@postrider/dashboard/strings/pages/settings/api-keys';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

const use = async (secret: string) =>
  (await fetch(`${stage.origin}/v1/email/logs`, { headers: { authorization: `Bearer ${secret}` } })).status;

describe('the API Keys page in Settings', () => {
  it("seed 74 and 75: shows a new key's secret once, stores it nowhere, and revokes the key", async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/');
    await page.getByRole('link', { name: shell.places.settings }).click();
    await page.getByRole('link', { name: shell.places.apiKeys }).click();
    await page.getByRole('button', { name: apiKeys.create }).click();
    await page.getByLabel(apiKeys.dialog.name).fill('Shop');
    await page.getByRole('button', { name: apiKeys.dialog.presets.read }).click();
    await page.getByRole('button', { name: apiKeys.dialog.submit }).click();
    const secret = await page.getByRole('region', { name: parts.texts.apiKey, exact: true }).innerText();

    expect(secret).toMatch(/^pr_live_[0-9a-f]{64}$/);
    expect(await use(secret)).toBe(200);
    // However often Esc is pressed, it does not close the dialog before the box is ticked.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('alert').getByText(apiKeys.secret.guard).waitFor();
    const stored = 'JSON.stringify([location.href, Object.entries(localStorage), Object.entries(sessionStorage)])';
    expect(await page.evaluate(stored)).not.toContain(secret.slice(8));

    await page.getByLabel(apiKeys.secret.stored).check();
    await page.getByRole('button', { name: apiKeys.secret.done }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: apiKeys.actions('Shop') }).click();
    await page.getByRole('menuitem', { name: apiKeys.revoke }).click();
    await page.getByLabel(parts.confirm.label('Shop')).fill('Stop');
    await page.getByRole('button', { name: apiKeys.revoking.submit }).click();
    await page.getByText(parts.confirm.mismatch('Shop')).waitFor();
    expect(await use(secret)).toBe(200);
    await page.getByLabel(parts.confirm.label('Shop')).fill('Shop');
    await page.getByRole('button', { name: apiKeys.revoking.submit }).click();
    await page.getByText(apiKeys.revoking.done('Shop')).waitFor();
    expect(await use(secret)).toBe(401);
    expectQuiet(tab);
    await visitor.stop();
  });

  it('rotates a key by keyboard alone, after which both keys work', async () => {
    const key = await stage.world.key({ scopes: ['email:logs:read'], name: 'Nightly' });
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/settings/api-keys');
    await page.getByRole('button', { name: apiKeys.actions('Nightly') }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(apiKeys.rotate);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: apiKeys.rotating.title('Nightly') }).waitFor();
    await page.keyboard.press('Enter');

    const secret = await page.getByRole('region', { name: parts.texts.apiKey, exact: true }).innerText();

    expect([await use(secret), await use(key.secret)]).toEqual([200, 200]);
    await visitor.stop();
  });

  it("shows each action in every API's format, with an equivalent effect", async () => {
    const key = await stage.world.key({ scopes: ['email:logs:read'], name: 'Copied' });
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto(`/settings/api-keys?revoke=${key.id}`);
    const dialog = page.getByRole('dialog', { name: apiKeys.revoking.title('Copied') });
    await dialog.getByText(parts.sameByApi).click();
    const curl = await dialog.getByRole('region', { name: parts.texts.curl }).innerText();
    expect(await dialog.getByRole('region', { name: parts.texts.command, exact: true }).innerText()).toBe(
      `npx postrider keys revoke ${key.id}`,
    );
    await page.goto(`/settings/api-keys?rotate=${key.id}`);
    await page.getByText(parts.sameByApi).click();
    const graphql = await page.getByRole('region', { name: parts.texts.graphqlMutation }).innerText();

    const [query, variables = '{}'] = graphql.split('\n\n');
    const rotated = await fetch(`${stage.origin}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stage.world.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: JSON.parse(variables) }),
    });
    expect(await rotated.json()).toMatchObject({ data: { apiKeyRotate: { __typename: 'ApiKeyCreatePayload' } } });
    expect(await use(key.secret)).toBe(200);
    await promisify(execFile)('sh', ['-c', curl.replace('<API key>', stage.world.secret)]);
    expect(await use(key.secret)).toBe(401);
    await visitor.stop();
  });

  it('shows a member who can open the page', async () => {
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/settings/api-keys');

    await page
      .getByText(wordsAround((location) => api.refusal(api.rolesWith.admin, location, 'member')))
      .first()
      .waitFor();
    const navigation = page.getByRole('navigation', { name: shell.menu });
    expect(await navigation.getByRole('link', { name: shell.places.settings }).count()).toBe(0);
    expect(await page.getByRole('button', { name: apiKeys.create }).count()).toBe(0);
    await visitor.stop();
  });
});
