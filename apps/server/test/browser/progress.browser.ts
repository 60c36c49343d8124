import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

/** Holds back the responses to some requests until the returned function is called. */
async function holdBack(page: Page, matches: (url: string, method: string) => boolean): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**', async (route) => {
    const request = route.request();
    if (matches(request.url(), request.method())) await promise;
    // The page may have been closed meanwhile.
    await route.continue().catch(() => undefined);
  });
  return resolve;
}

const spinnerOf = (button: Locator) =>
  button.evaluate((element) => {
    const { content, animationName } = getComputedStyle(element, '::after');
    return { content, animation: animationName };
  });
/** Clicks, and looks two frames later in the page itself: a call from here may take longer than the 300 ms. */
const clickAndLook = (link: Locator) =>
  link.evaluate(async (element) => {
    (element as HTMLElement).click();
    for (let frame = 0; frame < 2; frame++) await new Promise((done) => requestAnimationFrame(done));
    const { content, animationName } = getComputedStyle(element, '::after');
    return { heading: document.querySelector('main h1')?.textContent, content, animation: animationName };
  });
const boxOf = (button: Locator) => button.boundingBox();

async function trySignIn(page: Page): Promise<Locator> {
  await page.goto('/login');
  await page.getByLabel(signIn.email).fill('nobody@sandbox.test');
  await page.getByLabel(signIn.password).fill('not this one');
  return page.getByRole('button', { name: signIn.submit });
}

describe('a button whose request is in flight', () => {
  it('shows a spinner and keeps its place and size', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    const release = await holdBack(page, (url, method) => url.endsWith('/login') && method === 'POST');
    const button = await trySignIn(page);
    const box = await boxOf(button);
    expect(await spinnerOf(button)).toEqual({ content: 'none', animation: 'none' });

    await button.click();

    await expect.poll(() => spinnerOf(button)).toEqual({ content: '""', animation: 'turn' });
    expect(await boxOf(button)).toEqual(box);
    release();
    await page.getByRole('alert').waitFor();
    expect(await spinnerOf(button)).toEqual({ content: 'none', animation: 'none' });
    await visitor.stop();
  });

  it('shows an ellipsis instead of a spinner with reduced motion', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const release = await holdBack(page, (url, method) => url.endsWith('/login') && method === 'POST');
    const button = await trySignIn(page);
    const box = await boxOf(button);

    await button.click();

    await expect.poll(() => spinnerOf(button)).toEqual({ content: '"…" / ""', animation: 'none' });
    expect(await boxOf(button)).toEqual(box);
    expect(await page.getByRole('button', { name: signIn.submit, exact: true }).count()).toBe(1);
    release();
    await visitor.stop();
  });
});

describe('a page whose data is loading', () => {
  it('shows a skeleton after 300 ms', async () => {
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    const release = await holdBack(page, (url) => url.includes('emails.list'));
    await page.goto('/emails');
    const skeleton = page.getByRole('main').getByRole('status', { name: parts.loading });
    await skeleton.waitFor();

    const style = () =>
      skeleton.evaluate((element) => {
        const { animationName, animationDelay, opacity } = getComputedStyle(element);
        return { animationName, animationDelay, opacity };
      });

    expect(await style()).toMatchObject({ animationName: 'appear', animationDelay: '0.3s' });
    await expect.poll(style).toMatchObject({ opacity: '1' });
    release();
    await page.getByText(emails.empty.title).waitFor();
    await visitor.stop();
  });
});

describe('a page whose script is loading', () => {
  it('marks the pressed link, keeps the page, and shows a skeleton after 300 ms', async () => {
    const visitor = await stage.visitor('viewer');
    const { page } = await visitor.open();
    await page.goto('/metrics');
    const heading = page.getByRole('main').getByRole('heading', { level: 1 });
    await heading.filter({ hasText: shell.places.metrics }).waitFor();
    await page.waitForLoadState('networkidle');
    const release = await holdBack(page, (url) => url.endsWith('.js'));
    const link = page.getByRole('navigation', { name: shell.menu }).getByRole('link', { name: shell.places.webhooks });

    expect(await clickAndLook(link)).toEqual({ heading: shell.places.metrics, content: '""', animation: 'turn' });
    await page.getByRole('main').getByRole('status', { name: parts.loading }).waitFor();
    expect(await heading.innerText()).toBe(shell.places.webhooks);
    expect(await spinnerOf(link)).toMatchObject({ animation: 'turn' });
    release();
    await page.getByRole('main').getByRole('status', { name: parts.loading }).waitFor({ state: 'detached' });
    await expect.poll(() => spinnerOf(link)).toEqual({ content: 'none', animation: 'none' });
    await visitor.stop();
  });
});
