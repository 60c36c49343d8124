import { provision } from '@postrider/core/workspaces';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';

const operator = { email: 'ops@sandbox.test', password: 'correct horse: battery' };

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ ADMIN_EMAIL: operator.email, ADMIN_PASSWORD: operator.password });
  await stage.world.services.sql`delete from users`;
  await provision(stage.world.services);
});
afterAll(() => stage.stop());

describe('a session', () => {
  it('begins at the page that was asked for, and a wrong password keeps what was typed', async () => {
    const visitor = await stage.visitor(null);
    const watched = await visitor.open();
    const { page } = watched;
    await page.goto('/settings/api-keys');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill('not this one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe(operator.email);

    await page.getByLabel('Password').fill(operator.password);
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { name: 'API Keys' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/api-keys');
    // The refusals are errors to the console.
    watched.problems.splice(0);
    await page.getByRole('button', { name: `Account of ${operator.email}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await visitor.context.cookies()).map(({ name }) => name)).toEqual(['device']);
    // A query that was under way as the session ended is rejected too.
    expectQuiet({ ...watched, problems: watched.problems.filter((problem) => !problem.includes('401')) });
    await visitor.stop();
  });

  it('keeps the page and its form when it expires, and continues after signing in again', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto('/login?next=/compose');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(operator.password);
    await page.keyboard.press('Enter');
    await page.getByLabel('Subject').fill('Typed before the end');
    await visitor.context.clearCookies();
    await page.getByRole('button', { name: 'Send' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign in again' });
    await dialog.getByLabel('Password').fill(operator.password);

    await dialog.getByRole('button', { name: 'Sign in' }).click();

    await page.getByRole('heading', { name: 'Typed before the end' }).waitFor();
    await visitor.stop();
  });

  it('asks for the password when it is an hour old, and repeats the action', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto('/login?next=/settings/api-keys');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(operator.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'New API Key' }).click();
    await stage.world.clock.advance(3_700_000);
    await page.getByLabel('Name').fill('Kept');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm your password' });
    await dialog.getByLabel('Password').fill(operator.password);

    await dialog.getByRole('button', { name: 'Confirm' }).click();

    await page.getByRole('dialog', { name: 'Key of Kept' }).waitFor();
    await visitor.stop();
  });
});

describe('the first run', () => {
  it('leads from signing in to the first captured mail in five actions', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('link', { name: 'Compose' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The mail is accepted.').waitFor();
    await stage.world.drain();

    await page.getByText('Delivered to its recipient').waitFor();
    await visitor.stop();
  });

  it('keeps the theme and shows it in the first paint', async () => {
    await sendMail(stage, {});
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/emails');
    await page.getByRole('button', { name: /^Account of/ }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    await page.goto('/emails', { waitUntil: 'commit' });

    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await visitor.stop();
  });
});
