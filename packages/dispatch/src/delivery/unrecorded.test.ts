import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type ContentSlot, UnrecordedMail } from './unrecorded.ts';

const signal = new AbortController().signal;

/** Takes slots until one has to wait. */
async function takeAll(messages: UnrecordedMail): Promise<{ taken: ContentSlot[]; next: Promise<ContentSlot | null> }> {
  const slots: ContentSlot[] = [];
  for (;;) {
    const turn = messages.take(signal);
    if (turn instanceof Promise) return { taken: slots, next: turn };
    messages.answered(turn);
    slots.push(turn);
  }
}

it('chaos C11: the limit starts at 8, tracks what two settles record in 20 ms, and at most doubles', async () => {
  const messages = new UnrecordedMail(128);
  const limits = [messages.limit];
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
    messages.noteSettle(count, took_ms);
    limits.push(messages.limit);
  }

  expect(limits).toEqual([8, 16, 32, 64, 128, 128, 128, 128, 96, 96, 96, 96, 8]);
});

it('chaos C11: the next delivery waits until a result is recorded, unless it is aborted', async () => {
  const messages = new UnrecordedMail(128);
  const { taken: slots, next } = await takeAll(messages);
  const stop = new AbortController();
  const aborted = messages.take(stop.signal);

  stop.abort();
  const [first] = slots;
  if (first) messages.recorded(first);

  expect(slots).toHaveLength(8);
  expect(await aborted).toBeNull();
  expect(await next).toMatchObject({ answered: false });
});

it('a slow server’s delivery does not delay others, and counts toward the limit again once it replies', async () => {
  const messages = new UnrecordedMail(128);
  const slow = Array.from({ length: 8 }, () => messages.take(signal) as ContentSlot);
  await pause(60);

  const ninth = messages.take(signal);
  expect(ninth).not.toBeInstanceOf(Promise);
  for (const turn of slow) messages.answered(turn);

  expect(messages.take(signal)).toBeInstanceOf(Promise);
});

it('a drain does not limit unrecorded deliveries', async () => {
  const messages = new UnrecordedMail(null);

  for (let count = 0; count < 1000; count++) expect(messages.take(signal)).not.toBeInstanceOf(Promise);
});
