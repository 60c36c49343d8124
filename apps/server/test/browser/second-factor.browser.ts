import { invoke } from '@postrider/core';
import { createLoginLink, resetSignIn, setSignInPolicy } from '@postrider/core/people';
import { provision } from '@postrider/core/workspaces';
import { words as account } from '@postrider/dashboard/strings/pages/settings/account';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { totpCode } from '@postrider/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems, endSessionOnNextChange, expectQuiet, type Stage, startStage } from './dashboard.ts';
import { routePath } from './route-path.ts';

const operator = { email: 'ops@sandbox.test', password: 'correct horse: battery' };
const STEP_MS = 30_000;
const HOUR_MS = 3_600_000;
const { factor } = account;

let stage: Stage;
beforeAll(async () => {
  // Test worlds send to their own SMTP server, whatever the relay is.
  const DELIVERY = 'smtp://relay.test';
  stage = await startStage({ ADMIN_EMAIL: operator.email, ADMIN_PASSWORD: operator.password, DELIVERY });
  await stage.world.domain('acme.test');
  await stage.world.services.sql`delete from users`;
  await provision(stage.world.services);
  // So that it can be removed.
  const policy = { access: 'instance', second_factor: 'optional' } as const;
  await invoke(stage.world.as(stage.world.workspace_id), setSignInPolicy, policy);
});
afterAll(() => stage.stop());

async function enterPassword(page: Page): Promise<void> {
  await page.goto('/login?next=/settings/account');
  await page.getByLabel(signIn.email).fill(operator.email);
  await page.getByLabel(signIn.password).fill(operator.password);
  await page.keyboard.press('Enter');
}

async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel(shell.session.code).fill(code);
  await page.keyboard.press('Enter');
}

describe('a second factor', () => {
  let secret: string;
  let recovery_codes: readonly string[];
  /** Each code works once, also one of the next step, so each test waits for a later one. */
  const nextCode = async () => {
    await stage.world.clock.advance(2 * STEP_MS);
    return totpCode(secret, stage.world.clock.now());
  };

  it('is added on the account page, with recovery codes that are shown once', async () => {
    const visitor = await stage.visitor(null);
    const tab = await visitor.open();
    const { page } = tab;
    await enterPassword(page);
    await page.getByRole('button', { name: factor.add }).click();
    const dialog = page.getByRole('dialog', { name: factor.adding.title });
    await dialog.getByRole('img', { name: factor.adding.picture }).waitFor();
    expect(await axeProblems(page, null)).toEqual([]);
    secret = (await dialog.getByRole('region', { name: factor.adding.secret }).textContent()) ?? '';
    await dialog.getByLabel(factor.adding.field).fill(await nextCode());
    await dialog.getByRole('button', { name: factor.adding.submit }).click();
    const codes = page.getByRole('dialog', { name: factor.codes.title });
    const text = await codes.getByRole('region', { name: factor.codes.title }).textContent();
    recovery_codes = text?.split('\n') ?? [];

    expect(recovery_codes).toHaveLength(10);
    await codes.getByLabel(factor.codes.stored).check();
    await codes.getByRole('button', { name: factor.codes.done }).click();
    await page.getByText(factor.left(10)).waitFor();
    expectQuiet(tab);
    await visitor.stop();
  });

  it('is asked for at sign-in, which then goes to the requested page', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await enterPassword(page);
    await enterCode(page, '000000');
    await page.getByRole('alert').waitFor();
    expect(await axeProblems(page, null)).toEqual([]);
    await enterCode(page, await nextCode());

    await page.getByText(factor.left(10)).waitFor();
    expect(routePath(page.url())).toBe('/settings/account');
    await visitor.stop();
  });

  it.each([
    ['30 seconds slow', -1],
    ['30 seconds fast', 1],
  ])('accepts the code of a phone that is %s once', async (_, steps) => {
    const { clock } = stage.world;
    // Long enough for the earlier wrong codes to be forgotten.
    await clock.freeze(new Date(clock.now() + 40 * STEP_MS));
    const code = totpCode(secret, stage.world.clock.now(), steps);
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await enterPassword(page);
    await enterCode(page, totpCode(secret, stage.world.clock.now(), 2 * steps));
    await page.getByRole('alert').waitFor();
    await enterCode(page, code);
    await page.getByText(factor.left(10)).waitFor();

    await visitor.context.clearCookies();
    await enterPassword(page);
    await enterCode(page, code);
    await page.getByRole('alert').waitFor();
    await clock.unfreeze();
    await visitor.stop();
  });

  it('is asked for after a sign-in link', async () => {
    const { world } = stage;
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    const { url } = await invoke(world.as(world.workspace_id), createLoginLink, { email: operator.email });
    await page.goto(new URL(url).pathname);
    await page.getByRole('button', { name: signIn.submit }).click();
    await enterCode(page, await nextCode());
    await page.getByRole('navigation', { name: shell.menu }).waitFor();
    await visitor.stop();
  });

  it('is asked for after an emailed reset', async () => {
    const { world } = stage;
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto('/login/forgot');
    await page.getByLabel(signIn.email).fill(operator.email);
    await page.getByRole('button', { name: signIn.forgot.submit }).click();
    const resetPath = async () => {
      await world.drain();
      const email = world.smtp.messages.findLast(({ envelope_to }) => envelope_to.includes(operator.email));
      const text = (email && (await world.smtp.parsed(email)).text) ?? '';
      return /\/login\/reset\/[\w-]+/.exec(text)?.[0] ?? null;
    };
    await expect.poll(resetPath).not.toBeNull();
    await page.goto((await resetPath()) ?? '/');
    await page.getByLabel(signIn.reset.password).fill(operator.password);
    await page.getByRole('button', { name: signIn.reset.submit }).click();
    await enterCode(page, await nextCode());
    await page.getByRole('navigation', { name: shell.menu }).waitFor();
    await visitor.stop();
  });

  it('can be replaced by a recovery code', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await enterPassword(page);
    await enterCode(page, recovery_codes[0] ?? '');

    await page.getByText(factor.left(9)).waitFor();
    await visitor.stop();
  });

  it('is asked for in the dialogs of an old and an expired session, and can be removed', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await enterPassword(page);
    await enterCode(page, await nextCode());
    await page.getByRole('button', { name: factor.renew.submit }).click();
    await stage.world.clock.advance(HOUR_MS);
    await page.getByRole('dialog').getByRole('button', { name: factor.renew.submit }).click();
    const confirm = page.getByRole('dialog', { name: shell.session.password.title });
    await confirm.getByLabel(shell.session.password.field).fill(operator.password);
    await confirm.getByRole('button', { name: shell.session.password.submit }).click();
    await confirm.getByLabel(shell.session.code).fill(await nextCode());
    await confirm.getByRole('button', { name: shell.session.password.submit }).click();
    const codes = page.getByRole('dialog', { name: factor.codes.title });
    await codes.getByLabel(factor.codes.stored).check();
    await codes.getByRole('button', { name: factor.codes.done }).click();

    await page.getByRole('button', { name: factor.remove.submit }).click();
    const removal = page.getByRole('dialog', { name: factor.remove.title });
    await endSessionOnNextChange(page);
    await removal.getByRole('button', { name: factor.remove.submit }).click();
    const again = page.getByRole('dialog', { name: shell.session.session.title });
    await again.getByLabel(shell.session.session.field).fill(operator.password);
    await again.getByRole('button', { name: shell.session.session.submit }).click();
    await again.getByLabel(shell.session.code).fill(await nextCode());
    await again.getByRole('button', { name: shell.session.session.submit }).click();

    await page.getByRole('button', { name: factor.add }).waitFor();
    await visitor.stop();
  });

  it('is gone once the sign-in has been reset on the server', async () => {
    const { world } = stage;
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const { url } = await invoke(world.as(world.workspace_id), resetSignIn, { email: 'operator@people.test' });
    await page.goto(new URL(url).pathname);
    await page.getByRole('button', { name: signIn.submit }).click();
    await page.waitForURL((location) => location.pathname.startsWith('/w/'));
    await page.goto('/settings/account');

    await page.getByRole('button', { name: factor.add }).waitFor();
    await visitor.stop();
  });
});
