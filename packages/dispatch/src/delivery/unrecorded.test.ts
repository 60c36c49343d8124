import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ContentSlot, UnrecordedMail } from './unrecorded.ts';

const signal = new AbortController().signal;

/** Takes slots until one has to wait. */
async function takeAll(mails: UnrecordedMail): Promise<{ taken: ContentSlot[]; next: Promise<ContentSlot | null> }> {
  const slots: ContentSlot[] = [];
  for (;;) {
    const turn = mails.take(signal);
    if (turn instanceof Promise) return { taken: slots, next: turn };
    mails.answered(turn);
    slots.push(turn);
  }
}

it('chaos C11: the limit starts at 8, tracks what two settles record in 20 ms, and at most doubles', async () => {
  const mails = new UnrecordedMail(128);
  const limits = [mails.limit];
  for (const [count, took_ms] of [
    [100, 10],
    [100, 10],
    [100, 10],
    [100, 10],
    [24, 10],
    [24, 10],
    [24, 10],
    [24, 10],
    [1, 5],
    [1, 5],
    [1, 5],
    [1, 5],
  ] as const) {
    mails.noteSettle(count, took_ms);
    limits.push(mails.limit);
  }

  expect(limits).toEqual([8, 16, 32, 64, 128, 128, 128, 128, 96, 96, 96, 96, 8]);
});

it('chaos C11: the next delivery waits until a result is recorded, unless it is aborted', async () => {
  const mails = new UnrecordedMail(128);
  const { taken: slots, next } = await takeAll(mails);
  const stop = new AbortController();
  const aborted = mails.take(stop.signal);

  stop.abort();
  const [first] = slots;
  if (first) mails.recorded(first);

  expect(slots).toHaveLength(8);
  expect(await aborted).toBeNull();
  expect(await next).toMatchObject({ answered: false });
});

it('a slow server’s delivery does not delay others, and counts toward the limit again once it replies', async () => {
  const mails = new UnrecordedMail(128);
  const slow = Array.from({ length: 8 }, () => mails.take(signal) as ContentSlot);
  await pause(60);

  const ninth = mails.take(signal);
  expect(ninth).not.toBeInstanceOf(Promise);
  for (const turn of slow) mails.answered(turn);

  expect(mails.take(signal)).toBeInstanceOf(Promise);
});

it('a drain does not limit unrecorded deliveries', async () => {
  const mails = new UnrecordedMail(null);

  for (let count = 0; count < 1000; count++) expect(mails.take(signal)).not.toBeInstanceOf(Promise);
});
