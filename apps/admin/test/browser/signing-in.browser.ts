import { provision } from '@postrider/core/workspaces';
import { startChromium, type Visitor, visit } from '@postrider/testing/chromium';
import { openWorld } from '@postrider/testing/open-world';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAdmin } from '../admin-server.ts';

const operator = { email: 'ops@sandbox.test', password: 'correct horse: battery' };

const world = await openWorld({ ADMIN_EMAIL: operator.email, ADMIN_PASSWORD: operator.password });
const admin = await openAdmin(world);
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  await world.services.sql`delete from users`;
  await provision(world.services);
  browser = await startChromium();
});
afterAll(async () => {
  await browser.close();
});
beforeEach(async () => {
  visitor = await visit(browser, admin.port);
});
afterEach(() => visitor.stop());

describe('signing in', () => {
  it('returns the user to the requested page, and signing out ends the session', async () => {
    const { page, problems, foreign } = await visitor.open();
    await page.goto('/graphiql');
    expect(new URL(page.url()).pathname).toBe('/login');

    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(operator.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/graphiql');

    const [cookie] = await visitor.context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    await page.goto('/logout');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/login');
    expect((await visitor.context.cookies()).map(({ name }) => name)).toEqual(['device']);
    await page.goto('/graphiql');
    expect(new URL(page.url()).pathname).toBe('/login');
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('reports a wrong password, and leaves the entered address in the form', async () => {
    const { page } = await visitor.open();
    await page.goto('/login');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill('not this one');
    await page.getByLabel('Password').press('Enter');

    await page.getByRole('alert').waitFor();

    expect(await page.getByLabel('Email address').inputValue()).toBe(operator.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    expect(await visitor.context.cookies()).toEqual([]);
  });

  it('cannot be triggered by a form on another site', async () => {
    const { page } = await visitor.open();
    const response_promise = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.setContent(`<form method="post" action="http://127.0.0.1:${admin.port}/login">
      <input name="email" value="${operator.email}"><input name="password" value="${operator.password}"></form>`);
    await page.evaluate('document.forms[0].submit()');

    expect((await response_promise).status()).toBe(403);
    expect(await visitor.context.cookies()).toEqual([]);
  });
});

describe('confirming a password', () => {
  it('returns the user to the requested page, and reports a wrong password', async () => {
    const { page, problems, foreign } = await visitor.open();
    await page.goto('/login');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(operator.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(({ pathname }) => pathname.startsWith('/w/'));
    // Without a built dashboard, its pages return 503.
    problems.splice(0);
    await page.goto('/login/confirm?next=/graphiql');
    expect(await page.getByLabel('Email address').inputValue()).toBe(operator.email);
    expect(await page.evaluate('document.activeElement.name')).toBe('password');

    await page.getByLabel('Password').fill('not this one');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill(operator.password);
    await page.getByLabel('Password').press('Enter');

    await page.waitForURL('**/graphiql');
    // The browser logs the rejected password as an error.
    expect(problems.filter((problem) => !problem.includes('401 (Unauthorized)'))).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it('shows how long the confirmation is valid if there is no page to return to', async () => {
    const { page, problems } = await visitor.open();
    await page.goto('/login');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(operator.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(({ pathname }) => pathname.startsWith('/w/'));
    // Without a built dashboard, its pages return 503.
    problems.splice(0);
    await page.goto('/login/confirm');

    await page.getByLabel('Password').fill(operator.password);
    await page.getByRole('button', { name: 'Confirm' }).click();

    await page.getByRole('heading', { name: 'Password confirmed' }).waitFor();
    expect(problems).toEqual([]);
  });
});
