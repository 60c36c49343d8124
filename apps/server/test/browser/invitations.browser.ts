import { words as members } from '@postrider/dashboard/strings/pages/settings/members';
import { words as signIn } from '@postrider/dashboard/strings/pages/sign-in';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, startStage } from './dashboard.ts';

const PASSWORD = 'correct horse: battery';
let stage: Stage;
beforeAll(async () => {
  // Test worlds send to their own SMTP server, whatever the relay is.
  stage = await startStage({ DELIVERY: 'smtp://relay.test' });
  await stage.world.domain('acme.test');
});
afterAll(() => stage.stop());

/** Returns the path of the link in the last email to an address. */
async function linkTo(to: string, subject: string): Promise<string> {
  await stage.world.drain();
  const { smtp } = stage.world;
  const email = smtp.messages.findLast(({ envelope_to }) => envelope_to.includes(to));
  if (!email) throw new Error(`no email to ${to}`);
  const parsed = await smtp.parsed(email);
  expect(parsed.subject).toContain(subject);
  return /https?:\/\/[^/]+(\/login\/\S+)/.exec(parsed.text ?? '')?.[1] ?? '';
}

describe('an invited person', () => {
  it('opens the emailed link, chooses a password, and later resets it', async () => {
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    await tab.page.goto('/settings/members?open=new');
    await tab.page.getByLabel(members.inviting.email).fill('ada@example.com');
    await tab.page.getByRole('dialog').getByRole('button', { name: members.inviting.submit }).click();
    await tab.page.getByText(members.sent.emailed('ada@example.com')).waitFor();
    await tab.page.getByRole('button', { name: members.sent.done }).click();
    await tab.page.getByRole('heading', { name: members.pending.title }).waitFor();
    await tab.page.getByText('in 6 d').waitFor();

    const guest = await stage.visitor(null);
    const { page, problems } = await guest.open();
    await page.goto(await linkTo('ada@example.com', 'admin@people.test invited you to'));
    await page.getByLabel(signIn.reset.password).fill(PASSWORD);
    await page.getByRole('button', { name: signIn.invitation.submit }).click();
    await page.getByRole('navigation', { name: shell.menu }).waitFor();
    await tab.page.reload();
    await tab.page.getByText('ada@example.com').waitFor();
    expect(await tab.page.getByRole('heading', { name: members.pending.title }).count()).toBe(0);
    expectQuiet(tab);

    const second = await stage.visitor(null);
    const { page: other } = await second.open();
    await other.goto('/login');
    await other.getByRole('link', { name: signIn.forgot.link }).click();
    await other.getByLabel(signIn.email).fill('ada@example.com');
    await other.getByRole('button', { name: signIn.forgot.submit }).click();
    await other.getByText('a reset link is on its way').waitFor();
    await expect
      .poll(async () => (await stage.world.services.sql`select from messages where subject like 'Reset%'`).length)
      .toBe(1);
    await other.goto(await linkTo('ada@example.com', 'Reset your Postrider password'));
    await other.getByLabel(signIn.reset.password).fill('another horse: battery');
    // The reset ends the open page's session, so its next poll is rejected.
    expect(problems).toEqual([]);
    await other.getByRole('button', { name: signIn.reset.submit }).click();
    await other.getByRole('navigation', { name: shell.menu }).waitFor();

    await page.goto('/settings/account');
    await page.getByLabel(signIn.password, { exact: true }).waitFor();
    for (const one of [visitor, guest, second]) await one.stop();
  });
});
