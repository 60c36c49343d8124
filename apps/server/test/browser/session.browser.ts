import { provision } from '@postrider/core/workspaces';
import { words as compose } from '@postrider/dashboard/strings/pages/compose';
import { words as detail } from '@postrider/dashboard/strings/pages/emails/detail';
import { words as account } from '@postrider/dashboard/strings/pages/settings/account';
import { words as apiKeys } from '@postrider/dashboard/strings/pages/settings/api-keys';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endSessionOnNextChange, expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';
import { routePath } from './route-path.ts';
import { wordsAround } from './words-around.ts';

const operator = { email: 'ops@sandbox.test', password: 'correct horse: battery' };

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({ ADMIN_EMAIL: operator.email, ADMIN_PASSWORD: operator.password });
  await stage.world.services.sql`delete from users`;
  await provision(stage.world.services);
});
afterAll(() => stage.stop());

describe('a session', () => {
  it('starts on the requested page, and leaves the entered address in the form after a wrong password', async () => {
    const visitor = await stage.visitor(null);
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/settings/api-keys');
    await page.getByLabel(signIn.email).fill(operator.email);
    await page.getByLabel(signIn.password).fill('not this one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel(signIn.email).inputValue()).toBe(operator.email);

    await page.getByLabel(signIn.password).fill(operator.password);
    await page.getByRole('button', { name: signIn.submit }).click();

    await page.getByRole('heading', { name: apiKeys.title }).waitFor();
    expect(routePath(page.url())).toBe('/settings/api-keys');
    // The console logs the rejections as errors.
    tab.problems.splice(0);
    await page.getByRole('button', { name: shell.account.menu(operator.email) }).click();
    await page.getByRole('menuitem', { name: shell.account.signOut }).click();
    await page.getByRole('heading', { name: signIn.title }).waitFor();
    expect((await visitor.context.cookies()).map(({ name }) => name)).toEqual(['device']);
    // A query that was in flight when the session ended is also rejected.
    expectQuiet({ ...tab, problems: tab.problems.filter((problem) => !problem.includes('401')) });
    await visitor.stop();
  });

  it('preserves the page and its form on expiry, and continues after the next sign-in', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto('/login?next=/emails/new');
    await page.getByLabel(signIn.email).fill(operator.email);
    await page.getByLabel(signIn.password).fill(operator.password);
    await page.keyboard.press('Enter');
    await page.getByLabel(compose.subject).fill('Typed before the end');
    await endSessionOnNextChange(page);
    await page.getByRole('button', { name: compose.submit }).click();
    const dialog = page.getByRole('dialog', { name: shell.session.session.title });
    await dialog.getByLabel(shell.session.session.field).fill(operator.password);

    await dialog.getByRole('button', { name: shell.session.session.submit }).click();

    await page.getByRole('heading', { name: 'Typed before the end' }).waitFor();
    await visitor.stop();
  });

  it('is listed on the account page, where another session ends it', async () => {
    const signedIn = async () => {
      const visitor = await stage.visitor(null);
      const { page } = await visitor.open();
      await page.goto('/login?next=/settings/account');
      await page.getByLabel(signIn.email).fill(operator.email);
      await page.getByLabel(signIn.password).fill(operator.password);
      await page.keyboard.press('Enter');
      await page.getByText(account.sessions.current).waitFor();
      return { visitor, page };
    };
    await stage.world.services.sql`delete from sessions`;
    const first = await signedIn();
    const second = await signedIn();
    const sessions = () => second.page.getByRole('table', { name: account.sessions.title }).getByRole('row').count();
    expect(await sessions()).toBe(3);
    await second.page.getByText('Chrome on Linux').first().waitFor();

    await second.page.getByRole('button', { name: account.sessions.end, exact: true }).click();

    await expect.poll(sessions).toBe(2);
    await first.page.reload();
    await first.page.getByRole('heading', { name: signIn.title }).waitFor();
    const third = await signedIn();
    await third.page.getByRole('button', { name: account.sessions.endOthers }).click();
    await third.page.getByRole('button', { name: account.sessions.endOthers }).waitFor({ state: 'detached' });
    await second.page.reload();
    await second.page.getByRole('heading', { name: signIn.title }).waitFor();
    for (const { visitor } of [first, second, third]) await visitor.stop();
  });

  it('prompts for the password after an hour, and then repeats the action', async () => {
    const visitor = await stage.visitor(null);
    const { page } = await visitor.open();
    await page.goto('/login?next=/settings/api-keys');
    await page.getByLabel(signIn.email).fill(operator.email);
    await page.getByLabel(signIn.password).fill(operator.password);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: apiKeys.create }).click();
    await stage.world.clock.advance(3_700_000);
    await page.getByLabel(apiKeys.dialog.name).fill('Kept');
    await page.getByRole('button', { name: apiKeys.dialog.submit }).click();
    const dialog = page.getByRole('dialog', { name: shell.session.password.title });
    await dialog.getByLabel(shell.session.password.field).fill(operator.password);

    await dialog.getByRole('button', { name: shell.session.password.submit }).click();

    await page.getByRole('dialog', { name: apiKeys.secret.title('Kept') }).waitFor();
    await visitor.stop();
  });
});

describe('the first run', () => {
  it('leads from sign-in to the first captured email in five actions', async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/');
    await page.getByRole('link', { name: shell.newEmail }).first().click();
    await page.getByRole('button', { name: compose.submit }).click();
    await page.getByText(compose.sent).waitFor();
    await stage.world.drain();

    await page.getByText(wordsAround((took) => detail.answer.captured(1, took))).waitFor();
    await visitor.stop();
  });

  it('remembers the theme, and uses it in the first paint', async () => {
    await sendMail(stage, {});
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto('/emails');
    await page.getByRole('button', { name: wordsAround(shell.account.menu) }).click();
    await page.getByRole('menuitemradio', { name: shell.account.theme.dark }).click();
    await page.goto('/emails', { waitUntil: 'commit' });

    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await visitor.stop();
  });
});

describe('an earlier path', () => {
  it.each([
    ['/operations/jobs', '/instance/jobs'],
    ['/instance/health', '/instance/status'],
    ['/stats', '/metrics'],
  ])('leaves the address bar: %s becomes %s', async (earlier, path) => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    await page.goto(earlier);
    await page.waitForURL((url) => url.pathname.replace(/^\/w\/[^/]+/, '') === path);
    await visitor.stop();
  });
});
