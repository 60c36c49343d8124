import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { words as requests } from '@postrider/dashboard/strings/pages/requests';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { words as shell } from '@postrider/dashboard/strings/shell';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, refusedMail, type Stage, startStage } from './dashboard.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('the Requests page', () => {
  it('groups rejected requests by reason, with a link to each request', async () => {
    await refusedMail(stage, { to: ['ada@example.com', 'nobody'] });
    await refusedMail(stage, { to: 'nobody' });
    await refusedMail(stage, { subject: undefined });
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/logs');
    await page.getByText(wordsAround((reason) => requests.answer.some(requests.counted(3, false), reason))).waitFor();

    const groups = page.getByRole('table', { name: requests.groups });
    await groups.getByRole('link', { name: 'invalid_email' }).focus();
    await page.keyboard.press('Enter');

    const each = page.getByRole('table', { name: requests.each });
    await expect.poll(() => each.getByRole('row').count()).toBe(3);
    expectQuiet(tab);
    await visitor.stop();
  });

  it.each([
    ['an address that is none', { to: ['ada@example.com', 'nobody'] }, '/to/1'],
    ['a field that is missing', { subject: undefined }, '/subject'],
    ['a name that is misspelled', { replyTo: 'ada@example.com' }, '/replyTo'],
    ['a domain that is not verified', { from: 'hello@nowhere.test' }, '/from'],
    ['no content', { text: '' }, '/html'],
  ])('points to %s, and shows a corrected request that is accepted', async (_, body, pointer) => {
    const id = await refusedMail(stage, body);
    const visitor = await stage.visitor('admin');
    const { page } = await visitor.open();
    await page.goto(`/logs?open=${id}`);
    const drawer = page.getByRole('dialog');
    await drawer.getByText(pointer, { exact: true }).waitFor();

    const curl = await drawer.getByRole('region', { name: parts.texts.correctedRequest }).innerText();
    const { stdout } = await promisify(execFile)('sh', ['-c', curl.replace('<API key>', stage.world.secret)]);

    expect(JSON.parse(stdout)).toMatchObject({ status: 'queued' });
    await visitor.stop();
  });

  it('explains to a member who can view rejected requests', async () => {
    const visitor = await stage.visitor('member');
    const { page } = await visitor.open();
    await page.goto('/logs');

    await page.getByText(shell.forbidden.title(shell.places.logs)).waitFor();
    await visitor.stop();
  });
});
