import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('the Try the API page', () => {
  it("sends requests with the session's rights", async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/docs/try#GET%20%2Fusage');
    const response = page.locator('#answer');
    await expect.poll(() => page.getByLabel('Workspace').inputValue()).toBe(stage.world.workspace_id);

    await page.getByRole('button', { name: 'Send' }).click();

    await expect.poll(() => response.innerText()).toMatch(/^200\n/);
    expect(JSON.parse((await response.innerText()).slice(4))).toMatchObject({ object: 'usage' });
    await page.getByLabel('Operation').selectOption('GET /api-keys');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => response.innerText()).toContain('"data": [');
    await page.getByLabel('Operation').selectOption('GET /email/{id}');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => response.innerText()).toContain('Enter a value for {id}.');
    expectQuiet(tab);
    await visitor.stop();
  });

  it('prompts a visitor to sign in', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.context().clearCookies();
    await page.goto('/docs/try');

    await page.getByRole('button', { name: 'Send' }).click();

    await page.getByText('not signed in').waitFor();
    await visitor.stop();
  });
});
