import type { World } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';

const default_world = await openWorld();
const telling = await openWorld({ TRANSCRIPTS: 'all' });

/** Returns the transcripts of the attempts for a message whose first few attempts are deferred. */
async function transcriptsOf(world: World, deferrals: number): Promise<(string | null)[]> {
  world.smtp.script(({ stage, nth }) =>
    stage === 'rcpt' && nth <= deferrals ? { kind: 'reply', code: 451, text: '4.3.0 later' } : { kind: 'accept' },
  );
  const mail = { from: 'hello@sandbox.test', to: `after${deferrals}@example.com`, subject: 'Hello', text: 'Hi' };
  const { id } = await invoke(world.as(world.workspace_id), sendMessage, mail);
  for (let round = 0; round <= deferrals; round++) {
    await world.drain();
    await world.clock.advance(3_600_000);
  }
  const { status, attempts } = await invoke(world.as(world.workspace_id), getMessage, { id });
  expect(status).toBe('delivered');
  for (const { reply, phases_ms } of attempts) expect([reply, phases_ms]).not.toContain(null);
  return attempts.map(({ transcript }) => transcript);
}

describe('an attempt’s transcript', () => {
  it('is stored for a failure and later attempts, but not for a first-try success', async () => {
    expect(await transcriptsOf(default_world, 0)).toEqual([null]);
    expect(await transcriptsOf(default_world, 1)).toEqual([
      expect.stringContaining('451'),
      expect.stringContaining('250'),
    ]);
  });

  it('is stored for every attempt if TRANSCRIPTS=all', async () => {
    expect(await transcriptsOf(telling, 0)).toEqual([expect.stringContaining('250')]);
  });
});
