import { invoke } from '@postrider/core';
import { setSignInPolicy } from '@postrider/core/people';
import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as operators } from '@postrider/dashboard/strings/pages/operations/operators';
import { words as account } from '@postrider/dashboard/strings/pages/settings/account';
import { words as members } from '@postrider/dashboard/strings/pages/settings/members';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { totpCode } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, startStage } from './dashboard.ts';
import { routePath } from './route-path.ts';
import { wordsAround } from './words-around.ts';

const { policy } = members;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());
beforeEach(async () => {
  const { world } = stage;
  await invoke(world.as(world.workspace_id), setSignInPolicy, { access: 'instance', second_factor: 'optional' });
  await invoke(world.as(world.workspace_id), setSignInPolicy, { access: 'workspace', second_factor: 'optional' });
});

async function withoutFactor(role: 'viewer' | 'admin') {
  const visitor = await stage.visitor(role);
  await stage.world.services.sql`
    delete from totp_factors where user_id in (select id from users where email = ${`${role}@people.test`})`;
  return visitor;
}

describe('a sign-in policy', () => {
  it('is set for the instance, and stops people until they have a second factor', async () => {
    const operator = await stage.visitor('operator');
    const { page: settings } = await operator.open();
    await settings.goto('/instance/operators');
    await settings.getByRole('heading', { name: operators.title }).waitFor();
    await settings.getByRole('button', { name: policy.options.required, exact: true }).click();
    await settings.getByLabel(policy.grace).fill('0');
    await settings.getByRole('button', { name: policy.save }).click();
    await settings.getByText(policy.saved).waitFor();
    await operator.stop();

    const viewer = await withoutFactor('viewer');
    const tab = await viewer.open();
    const { page } = tab;
    await page.goto('/emails');
    await page.getByText(shell.factor.due).waitFor();
    await expect.poll(() => routePath(page.url())).toBe('/settings/account');
    expect(await page.getByRole('navigation', { name: shell.menu }).count()).toBe(0);
    expect(await axeProblems(page, null)).toEqual([]);
    await page.getByRole('button', { name: account.factor.add }).click();
    const dialog = page.getByRole('dialog', { name: account.factor.adding.title });
    const secret = (await dialog.getByRole('region', { name: account.factor.adding.secret }).textContent()) ?? '';
    await dialog.getByLabel(account.factor.adding.field).fill(totpCode(secret, stage.world.clock.now()));
    await dialog.getByRole('button', { name: account.factor.adding.submit }).click();
    const codes = page.getByRole('dialog', { name: account.factor.codes.title });
    await codes.getByLabel(account.factor.codes.stored).check();
    await codes.getByRole('button', { name: account.factor.codes.done }).click();

    await page.getByRole('navigation', { name: shell.menu }).waitFor();
    await page.getByText(shell.factor.due).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: account.factor.remove.submit }).click();
    const removal = page.getByRole('dialog', { name: account.factor.remove.title });
    await removal.getByRole('button', { name: account.factor.remove.submit }).click();
    await removal.getByText('A policy requires a second factor').waitFor();
    await page.goto('/emails');
    await page.getByRole('heading', { name: emails.title }).waitFor();
    // The rejected removal is in the console.
    expectQuiet({ ...tab, problems: tab.problems.filter((problem) => !/40[13]|422/.test(problem)) });
    await viewer.stop();
  });

  it('is set for a workspace, and warns its admins during the grace period', async () => {
    const visitor = await withoutFactor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/members');
    await page.getByRole('button', { name: policy.options.required_for_admins, exact: true }).click();
    await page.getByLabel(policy.grace).fill('91');
    await page.getByRole('button', { name: policy.save }).click();
    await page.locator('.field .problem').waitFor();
    await page.getByLabel(policy.grace).fill('5');
    await page.getByRole('button', { name: policy.save }).click();

    await page.getByText(wordsAround(shell.factor.soon)).waitFor();
    await page.getByRole('link', { name: shell.factor.add }).click();
    await page.getByRole('heading', { name: account.title }).waitFor();
    await visitor.stop();
  });
});
