import { words as emails } from '@postrider/dashboard/strings/pages/emails';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, sendMail, startStage } from './dashboard.ts';

const SCRIPT_BUDGET_BYTES = 160_000;
const PAGE_BUDGET_BYTES = 260_000;
const EMAILS_PER_SECOND = 10;
const WATCHED_MS = 4000;
const EARLIER = 60;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
  for (let number = 1; number <= EARLIER; number++) await sendMail(stage, { subject: `Earlier ${number}` });
});
afterAll(() => stage.stop());

interface Load {
  readonly path: string;
  readonly type: string;
  /** The size on the wire, with headers once the response has ended. */
  bytes: number;
  encoding?: string | undefined;
}

/** Records what the page loads from now on. */
async function recordLoads(page: Page): Promise<() => readonly Load[]> {
  const devtools = await page.context().newCDPSession(page);
  const loads = new Map<string, Load>();
  devtools.on('Network.requestWillBeSent', ({ requestId, request, type = 'Other' }) =>
    loads.set(requestId, { path: new URL(request.url).pathname, type, bytes: 0 }),
  );
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    const load = loads.get(requestId);
    if (load) load.encoding = response.headers['content-encoding'];
  });
  devtools.on('Network.dataReceived', ({ requestId, encodedDataLength }) => {
    const load = loads.get(requestId);
    if (load) load.bytes += encodedDataLength;
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const load = loads.get(requestId);
    if (load) load.bytes = encodedDataLength;
  });
  await devtools.send('Network.enable');
  return () => [...loads.values()];
}

const sum = (loads: readonly Load[]) => loads.reduce((total, { bytes }) => total + bytes, 0);
const listed = (loads: readonly Load[]) =>
  loads
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ path, bytes }) => `${bytes} ${path}`)
    .join('\n');

describe('what the first load of /emails costs', () => {
  it(`is at most ${SCRIPT_BUDGET_BYTES} bytes of script, and ${PAGE_BUDGET_BYTES} in all in ${WATCHED_MS} ms with ${EMAILS_PER_SECOND} emails a second`, async () => {
    const visitor = await stage.visitor('operator');
    const { page } = await visitor.open();
    const loads = await recordLoads(page);
    const until = Date.now() + WATCHED_MS;
    const sent: Promise<unknown>[] = [];
    // A busy machine fires late, and then sends what has become due.
    const load = setInterval(() => {
      const due = Math.floor(((WATCHED_MS - (until - Date.now())) * EMAILS_PER_SECOND) / 1000);
      while (sent.length < due) sent.push(sendMail(stage, { subject: 'Meanwhile' }));
    }, 1000 / EMAILS_PER_SECOND);

    await page.goto('/emails');
    await page.getByRole('heading', { name: emails.title }).waitFor();
    await page.waitForTimeout(until - Date.now());
    const watched = loads();
    clearInterval(load);
    await Promise.all(sent);

    const scripts = watched.filter(({ type }) => type === 'Script');
    expect(scripts.filter(({ encoding }) => encoding !== 'br')).toEqual([]);
    expect(scripts.length).toBeGreaterThan(5);
    expect(sum(scripts), listed(scripts)).toBeLessThanOrEqual(SCRIPT_BUDGET_BYTES);
    expect(sent.length).toBeGreaterThan((EMAILS_PER_SECOND * WATCHED_MS) / 2000);
    expect(sum(watched), listed(watched)).toBeLessThanOrEqual(PAGE_BUDGET_BYTES);
    await visitor.stop();
  });
});
