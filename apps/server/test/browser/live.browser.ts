import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('seven tabs of one browser', () => {
  it('share one stream, and all hear of a new mail; when its tab is closed, another goes on', async () => {
    await sendMail(stage, { subject: 'Before' });
    const visitor = await stage.visitor('viewer');
    const tabs = await Promise.all(Array.from({ length: 7 }, () => visitor.open()));
    const streams: string[] = [];
    for (const { page } of tabs) {
      page.on('request', (request) => {
        if (request.url().includes('/trpc/live')) streams.push(request.url());
      });
      await page.goto('/emails');
      await page.getByRole('link', { name: 'Before' }).waitFor();
    }
    await expect.poll(() => streams.length).toBe(1);
    await sendMail(stage, { subject: 'After' });

    for (const { page } of tabs) await page.getByRole('button', { name: '1 new' }).waitFor();

    expect(streams).toHaveLength(1);
    const [first, ...others] = tabs;
    await first?.page.close();
    await expect.poll(() => streams.length).toBe(2);
    await sendMail(stage, { subject: 'Later' });
    for (const { page } of others) await page.getByRole('button', { name: '2 new' }).waitFor();
    await visitor.stop();
  });
});
