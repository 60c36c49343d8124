import { readFile } from 'node:fs/promises';
import { invoke } from '@postrider/core';
import { rollUpStats } from '@postrider/core/stats';
import { createTransport, setTransportRules } from '@postrider/core/transports';
import { words as transports } from '@postrider/dashboard/strings/pages/operations/transports';
import { words as overview } from '@postrider/dashboard/strings/pages/overview';
import { words as stats } from '@postrider/dashboard/strings/pages/stats';
import { words as parts } from '@postrider/dashboard/strings/parts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectQuiet, type Stage, sendMail, startStage } from './dashboard.ts';
import { wordsAround } from './words-around.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage.stop());

describe('the Overview page', () => {
  it('does not show 0 for email that has not been counted yet', async () => {
    const own = await startStage();
    await sendMail(own, {});
    const visitor = await own.visitor('viewer');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/');
    await page.getByText(overview.figures.uncounted).waitFor();
    const accepted = page.locator('.figures > div').filter({ hasText: overview.figures.accepted }).locator('dd');
    expect(await accepted.innerText()).toBe(overview.figures.unknown);

    await own.world.drain();
    await own.world.clock.advance(120_000);
    await rollUpStats(own.world.services);
    await page.reload();

    await page.getByText(overview.figures.complete).waitFor();
    expect(await accepted.innerText()).toBe('1');
    expectQuiet(tab);
    await visitor.stop();
    await own.stop();
  });

  it('warns admins about their own relay without feedback, and links to it', async () => {
    const own = await startStage({ DELIVERY: 'mx' });
    const ctx = own.world.as(own.world.workspace_id);
    const relay = { name: 'Our relay', kind: 'smtp', host: 'relay.example', reach: 'workspace' } as const;
    const { id } = await invoke(ctx, createTransport, relay);
    await invoke(ctx, setTransportRules, { rules: [{ transports: [id, 'default'] }], reach: 'workspace' });
    const visitor = await own.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/');

    await page.getByRole('link', { name: overview.problems.texts.feedback_missing(1) }).click();

    await page.getByRole('table', { name: transports.title }).getByText('Our relay').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/settings\/transports$/);
    expectQuiet(tab);
    await visitor.stop();
    await own.stop();
  });
});

describe('the Stats page', () => {
  it('offers a chart by keyboard, as a table, and as a file without formulas', async () => {
    await sendMail(stage, { tags: ['=1+1'] });
    await sendMail(stage, { tags: ['few'] });
    await sendMail(stage, { tags: ['=1+1'] });
    await stage.world.drain();
    await stage.world.clock.advance(120_000);
    await rollUpStats(stage.world.services);
    const visitor = await stage.visitor('admin');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/metrics?by=tag');
    await page.getByText(wordsAround((bounced) => stats.answer.captured('100.0%', '3', bounced))).waitFor();

    const chart = page.getByRole('slider', { name: stats.mail });
    await chart.focus();
    await page.keyboard.press('Home');
    expect(await chart.getAttribute('aria-valuetext')).toContain(`${stats.metrics.accepted} 0`);
    await page.keyboard.press('End');
    const alerts: (string | null)[] = [];
    for (const _ of [0, 1]) {
      alerts.push(await chart.getAttribute('aria-valuetext'));
      await page.keyboard.press('ArrowLeft');
    }
    expect(alerts.join()).toContain(
      `${stats.metrics.accepted} 3, ${stats.metrics.delivered} 0, ${stats.metrics.captured} 3`,
    );

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: stats.saveBreakdown }).click();
    expect(await readFile((await (await downloading).path()) ?? '', 'utf8')).toMatch(/^'=1\+1,2,0,0,2,0,0,0,0,0,0\r$/m);
    const breakdown = page.getByRole('table', { name: stats.breakdown });
    const first = () => breakdown.getByRole('row').nth(1).innerText();
    expect(await first()).toContain('=1+1');
    await breakdown.getByRole('button', { name: stats.metrics.accepted }).click();
    await expect.poll(first).toContain('few');
    expect(await breakdown.getByRole('columnheader', { name: stats.metrics.accepted }).getAttribute('aria-sort')).toBe(
      'ascending',
    );
    await page.getByRole('button', { name: parts.charts.table }).first().click();
    const table = page.getByRole('table', { name: stats.mail });
    // A run that spans the start of an hour also includes that hour.
    await expect.poll(() => table.getByRole('row').count()).toBeOneOf([25, 26]);
    expect(new URL(page.url()).searchParams.get('view')).toBe('table');
    expectQuiet(tab);
    await visitor.stop();
  });

  it('shows a viewer email by domain, tag, destination and transport, but no durations', async () => {
    const visitor = await stage.visitor('viewer');
    const tab = await visitor.open();
    const { page } = tab;
    await page.goto('/metrics');
    await page.getByRole('slider', { name: stats.mail }).waitFor();

    expect(await page.getByRole('group', { name: stats.by }).getByRole('button').allInnerTexts()).toEqual([
      stats.dimensions.domain,
      stats.dimensions.tag,
      stats.dimensions.destination,
      stats.dimensions.transport,
    ]);
    expectQuiet(tab);
    await visitor.stop();
  });
});
