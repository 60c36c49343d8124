import type { SmtpVerdict } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';
import { type DeliveryState, messageStatus, openStates } from '../states/index.ts';

const HOUR_MS = 3_600_000;

const world = await openWorld({ RETRY_SCHEDULE: '1m,1m' });

const verdicts: Readonly<Record<string, SmtpVerdict>> = {
  accept: { kind: 'accept' },
  refuse: { kind: 'reply', code: 550, text: '5.1.1 no', at: 'rcpt' },
  later: { kind: 'reply', code: 451, text: '4.3.0 later', at: 'rcpt' },
  lost: { kind: 'drop', at: 'after_dot' },
};
const responses = fc.array(fc.constantFrom(...Object.keys(verdicts)), { minLength: 3, maxLength: 3 });

interface Recipient {
  readonly state: DeliveryState;
  readonly status: DeliveryState;
  readonly events: number;
  readonly event_count: number;
}

async function recipientsOf(id: string): Promise<Recipient[]> {
  return world.services.sql<Recipient[]>`
    select r.state, m.status, m.event_count, (select count(*) from events e where e.message_id = m.id)::int as events
    from messages m join recipients r on r.message_id = m.id where m.id = ${id}`;
}

describe('a message’s status', () => {
  it('aggregates its recipients’ states after every round, whatever the server replies', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(responses, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (scripts, scheduled) => {
          run += 1;
          const mailbox = (index: number) => `run${run}.${index}@example.com`;
          const script = new Map(scripts.map((list, index) => [mailbox(index), list]));
          world.smtp.script(({ to, nth }) => verdicts[script.get(to)?.[nth - 1] ?? ''] ?? { kind: 'accept' });
          const { id } = await invoke(world.as(world.workspace_id), sendMessage, {
            from: 'hello@sandbox.test',
            to: [...script.keys()],
            subject: 'Hello',
            text: 'Hi',
            ...(scheduled && { scheduled_at: new Date(world.clock.now() + HOUR_MS / 2).toISOString() }),
          });

          for (let round = 0; round < 5; round++) {
            await world.drain();
            const recipients = await recipientsOf(id);
            const counts: Partial<Record<DeliveryState, number>> = {};
            for (const { state } of recipients) counts[state] = (counts[state] ?? 0) + 1;
            for (const { status, events, event_count } of recipients) {
              expect(status).toBe(messageStatus(counts));
              expect(event_count).toBe(events);
            }
            await world.clock.advance(HOUR_MS);
          }

          const open = (await recipientsOf(id)).filter(({ state }) => openStates.some((one) => one === state));
          expect(open).toEqual([]);
        },
      ),
      { numRuns: 12 },
    );
  });
});
