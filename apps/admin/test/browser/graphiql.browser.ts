import { startChromium, visit } from '@postrider/testing/chromium';
import { openWorld } from '@postrider/testing/open-world';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAdmin } from '../admin-server.ts';
import { signedIn } from '../signed-in.ts';

const world = await openWorld();
const admin = await openAdmin(world);
let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(async () => {
  await browser.close();
});

describe('GraphiQL', () => {
  it("a signed-in user can run queries with the session's rights, without a key", async () => {
    const { cookie } = await signedIn(world, admin, 'operator');
    const visitor = await visit(browser, admin.port);
    const [name = '', value = ''] = cookie.split('=');
    await visitor.context.addCookies([{ name, value, url: `http://127.0.0.1:${admin.port}` }]);
    const { page, problems, foreign } = await visitor.open();
    await page.goto('/graphiql');

    await page.getByRole('button', { name: /execute query/i }).click();

    await page.getByText('"nodes"').waitFor();
    const stored = 'JSON.stringify([location.href, Object.entries(localStorage), Object.entries(sessionStorage)])';
    expect(await page.evaluate(stored)).not.toContain('pr_sess_');
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
    await visitor.stop();
  });

  it('uses a key entered under Headers, and loads nothing from any other host', async () => {
    const { cookie } = await signedIn(world, admin, 'operator');
    const key = await world.key({ scopes: ['admin'] });
    const visitor = await visit(browser, admin.port);
    const [name = '', value = ''] = cookie.split('=');
    await visitor.context.addCookies([{ name, value, url: `http://127.0.0.1:${admin.port}` }]);
    const { page, problems, foreign } = await visitor.open();
    await page.goto('/graphiql');

    await page.getByRole('button', { name: 'Headers' }).click();
    await page
      .locator('.graphiql-editor-tool .monaco-editor:visible, .graphiql-editor-tool .CodeMirror:visible')
      .last()
      .click();
    await page.keyboard.insertText(`{"Authorization": "Bearer ${key.secret}"}`);
    await page.getByRole('button', { name: /execute query/i }).click();

    await page.getByText('"nodes"').waitFor();
    expect(await page.locator('.result-window').innerText()).toContain('"remaining"');
    expect(problems).toEqual([]);
    expect(foreign).toEqual([]);
    await visitor.stop();
  });

  it('never stores the key in the browser, and leaves nothing behind after sign-out', async () => {
    const { cookie } = await signedIn(world, admin, 'operator');
    const visitor = await visit(browser, admin.port);
    const [name = '', value = ''] = cookie.split('=');
    await visitor.context.addCookies([{ name, value, url: `http://127.0.0.1:${admin.port}` }]);
    const { page } = await visitor.open();
    const stored = () => page.evaluate(() => JSON.stringify(Object.entries(localStorage)));
    await page.goto('/graphiql');
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.locator('.graphiql-editor-tool .monaco-editor:visible').last().click();
    await page.keyboard.insertText('{"Authorization": "Bearer pr_live_secret"}');
    await page.getByRole('button', { name: /execute query/i }).click();
    await expect.poll(stored).toContain('graphiql');

    expect(await stored()).not.toContain('pr_live_secret');
    await page.goto('/logout');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/login');
    expect(await stored()).toBe('[]');
    await visitor.stop();
  });
});
