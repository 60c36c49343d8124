import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeProblems, expectQuiet, type Stage, startStage } from './dashboard.ts';
import { layoutProblems } from './layout-problems.ts';

const MAX_SHIFT = 0.02;
const MAX_SCRIPT_BYTES = 100_000;
/** Runs in the page: sums the layout shifts since it was opened. */
const shiftOfPage = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) sum += value;
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 300);
})`;

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

    await page.getByText('You’re not signed in').waitFor();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await visitor.stop();
  });

  it('sends an email from the sandbox with a key, unchanged', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.context().clearCookies();
    await page.goto('/docs/try#POST%20%2Femail%2Fsend');

    await page.getByLabel('API key, in place of your session').fill(stage.world.secret);
    await page.getByRole('button', { name: 'Send' }).click();

    await expect.poll(() => page.locator('#answer').innerText()).toMatch(/^202\n[\s\S]*"status": "queued"/);
    await visitor.stop();
  });
});

describe('a documentation page', () => {
  const NAMES = [
    ...['production', 'sending', 'sdk', 'python', 'webhooks', 'testing', 'simulator', 'domains', 'submission'],
    ...['from-resend', 'api', 'errors', 'graphql', 'command-line', 'self-hosting', 'growing', 'kubernetes', 'releases'],
    ...['backup', 'settings', 'templates', 'api/email', 'api/webhooks', 'api/objects'],
  ];

  it('has no axe issue in both themes, and moves nothing', { timeout: 300_000 }, async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    const problems: Record<string, readonly string[]> = {};
    for (const name of NAMES) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(`/docs/${name}`);
      const shift = await page.evaluate<number>(shiftOfPage);
      const light = await axeProblems(page, null);
      await page.emulateMedia({ colorScheme: 'dark' });
      const dark = await axeProblems(page, ['color-contrast']);
      problems[name] = [...light, ...dark, ...(shift > MAX_SHIFT ? [`moved by ${shift}`] : [])];
    }

    expect(problems).toEqual(Object.fromEntries(NAMES.map((name) => [name, []])));
    expectQuiet(tab);
    await visitor.stop();
  });

  it('copies a sample, and shows the language that the reader chose on every page', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/docs/sending');
    const samples = page.locator('.tabs').first();
    const shown = () => samples.locator('figure:visible').evaluateAll((all) => all.map((one) => one.dataset.language));
    expect(await shown()).toEqual(['ts']);

    await samples.getByRole('button', { name: 'Python' }).click();
    await samples.getByRole('button', { name: 'Copy' }).click();

    expect(await shown()).toEqual(['python']);
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('urllib.request.urlopen(');
    await page.reload();
    expect(await shown()).toEqual(['python']);
    expect(await samples.getByRole('button', { name: 'Python' }).getAttribute('aria-pressed')).toBe('true');
    await visitor.stop();
  });

  it('shows request and response beside the description of an operation', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/docs/api/email#post-emailsend');
    const operation = page.locator('.operation').first();
    const description = await operation.getByText('Send one email').boundingBox();
    const request = await operation.locator('figure:visible').first().boundingBox();

    expect(request?.x).toBeGreaterThan((description?.x ?? 0) + (description?.width ?? Number.NaN));
    expect(Math.abs((request?.y ?? Number.NaN) - (description?.y ?? 0))).toBeLessThan(60);
    await operation.getByText('"status": "queued"').waitFor();
    await visitor.stop();
  });

  it('is found while typing, with the keyboard alone', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto('/docs/webhooks');

    await page.keyboard.press('/');
    await page.keyboard.type('idempot');
    await page.getByRole('option', { name: 'Idempotency Sending' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');

    await expect.poll(() => new URL(page.url()).pathname + new URL(page.url()).hash).toBe('/docs/sending#idempotency');
    await visitor.stop();
  });

  it('begins with its content on a phone, and loads little script', async () => {
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.setViewportSize({ width: 390, height: 844 });
    let script_bytes = 0;
    page.on('response', async (response) => {
      if (response.request().resourceType() === 'script') script_bytes += (await response.body()).length;
    });
    for (const name of ['sending', 'api', 'api/email', 'errors']) {
      await page.goto(`/docs/${name}`);

      expect(await layoutProblems(page), name).toEqual([]);
      expect((await page.locator('main h1 + *').boundingBox())?.y ?? Number.NaN, name).toBeLessThan(300);
    }
    expect(script_bytes).toBeGreaterThan(0);
    expect(script_bytes / 4).toBeLessThan(MAX_SCRIPT_BYTES);
    await visitor.stop();
  });

  it('shows every sample and finds pages without JavaScript', async () => {
    const visitor = await stage.visitor('admin');
    const { page: scripted } = await visitor.open();
    const context = await scripted.context().browser()?.newContext({ javaScriptEnabled: false });
    if (!context) throw new Error('the browser is gone');
    const page = await context.newPage();
    await page.goto(`${stage.origin}/docs/sending`);

    expect(await page.locator('.tabs').first().locator('figure:visible').count()).toBe(4);
    await page.getByRole('combobox').fill('idempotency');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Sending: Idempotency' }).waitFor();
    await context.close();
    await visitor.stop();
  });
});
