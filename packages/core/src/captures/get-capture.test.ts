import { monitorEventLoopDelay } from 'node:perf_hooks';
import { invoke } from '@postrider/core';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { getCapture } from './get-capture.ts';
import { recordCapture } from './record-capture.ts';

const world = await openWorld();

/** Captures an email in a workspace and returns its id. */
async function capture(workspace_id: string, raw: string): Promise<string> {
  const mail = { envelope_from: 'shop@sandbox.test', envelope_to: ['ada@example.com'], raw: Buffer.from(raw) };
  await recordCapture(world.services, mail, workspace_id);
  const [row] = await world.services.sql<{ id: string }[]>`
    select id from captures where workspace_id = ${workspace_id} order by id desc limit 1`;
  return row?.id ?? '';
}
const read = (workspace_id: string, id: string) => invoke(world.as(workspace_id), getCapture, { id });

const PLAIN = 'Subject: Hi\r\n\r\nHello\r\n';
/**
 * Builds a message with an address list that takes seconds to parse; the header that the capture list needs ends before
 * the list does.
 */
const slow = (addresses: number) =>
  `Subject: Slow\r\nX-Padding: ${'x'.repeat(64 * 1024)}\r\nTo: ${'a@b.test,'.repeat(addresses)}b@b.test\r\n\r\nHello\r\n`;

describe('reading a captured email', () => {
  it('fairness P37: does not block the event loop during parsing', async () => {
    const id = await capture(world.workspace_id, slow(100_000));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const started_at = performance.now();
    delay.enable();

    const { subject } = await read(world.workspace_id, id);

    delay.disable();
    expect(subject).toBe('Slow');
    expect(delay.max / 1e6).toBeLessThan((performance.now() - started_at) / 2);
  });

  it('fairness P37: alternates between workspaces, and is rejected beyond a workspace’s share', async () => {
    const neighbor = await world.workspace('business');
    const [greedy_id, id] = [
      await capture(world.workspace_id, slow(20_000)),
      await capture(neighbor.workspace_id, PLAIN),
    ];
    let count = 0;
    const greedy = Array.from({ length: 40 }, () =>
      read(world.workspace_id, greedy_id)
        .then(() => 'read')
        .catch((error: { readonly reason?: string }) => error.reason)
        .finally(() => {
          count += 1;
        }),
    );

    await read(neighbor.workspace_id, id);

    expect(count).toBeLessThan(40);
    const outcomes = await Promise.all(greedy);
    expect(outcomes.filter((outcome) => outcome === 'read').length).toBeGreaterThan(0);
    expect(outcomes.filter((outcome) => outcome === 'capture_busy').length).toBeGreaterThan(0);
    expect(new Set(outcomes)).toEqual(new Set(['read', 'capture_busy']));
  });
});
