// Loaded into a traced process: keeps when each message reached each step, and writes it to TRACE_FILE at the exit.

import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { DELIVERY_STEPS_CHANNEL, type ReachedStep } from '@postrider/core/delivery';
import type { TracedStep } from './steps.ts';

const file = process.env.TRACE_FILE;
if (isMainThread && file !== undefined) {
  const steps: TracedStep[] = [];
  subscribe(DELIVERY_STEPS_CHANNEL, (message) => {
    // The cast is safe because only reachStep publishes to this channel.
    const { step, message_id } = message as ReachedStep;
    steps.push([message_id, step, performance.timeOrigin + performance.now()]);
  });
  process.once('exit', () => writeFileSync(file, JSON.stringify(steps)));
}
