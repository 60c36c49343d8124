import { openWorld } from '@postrider/testing/open-world';
import { describe, expect, it } from 'vitest';
import { openRest } from './rest-server.ts';

const world = await openWorld();
const rest = await openRest(world);

const mail = { from: 'shop@sandbox.test', to: ['a@example.com', 'b@example.com'], subject: 'Hello', text: 'Hi there' };

describe('200', () => {
  it('a dry run renders the email and checks each recipient, but stores, counts and sends nothing', async () => {
    await world.services.sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${world.workspace_id}, derived_id('sup', no_id(), 'test'), 'b@example.com', 'test', clock_now())`;

    const response = await rest.call('POST', '/email/send?dry_run=true', { body: mail });

    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      object: 'email_preview',
      status: 'queued',
      recipients: [
        { email: 'a@example.com', kind: 'to', verdict: 'would_send' },
        { email: 'b@example.com', kind: 'to', verdict: 'suppressed' },
      ],
    });
    expect(response.body.mime).toContain('Subject: Hello\r\n');
    const [rows] = await world.services.sql<{ messages: number; used: number }[]>`
      select (select count(*) from messages)::int as messages, (select count(*) from usage_months)::int as used`;
    expect(rows).toEqual({ messages: 0, used: 0 });
    expect(await world.drain()).toEqual([]);
  });

  it('a dry run uses one slot in the send window', async () => {
    const first = await rest.call('POST', '/email/send?dry_run=true', { body: mail });

    expect(first.headers.get('x-ratelimit-limit')).toBe('1000');
    expect(Number(first.headers.get('x-ratelimit-remaining'))).toBeLessThan(1000);
  });
});

describe('400', () => {
  it.each(['1', 'yes', 'TRUE', ''])('dry_run=%s is rejected instead of causing a send', async (value) => {
    const response = await rest.call('POST', `/email/send?dry_run=${value}`, { body: mail });

    expect(response.status).toBe(400);
    expect(await world.drain()).toEqual([]);
  });

  it.each(['dryRun', 'dry-run', 'DRY_RUN', 'dry_rn'])(
    'the misspelling %s is rejected instead of causing a send',
    async (name) => {
      const response = await rest.call('POST', `/email/send?${name}=true`, { body: mail });

      expect(response.status).toBe(400);
      expect(response.body).toMatchObject({ error: { reason: 'unknown_parameter' } });
      expect(await world.drain()).toEqual([]);
    },
  );

  it('invalid fields are listed as they are for a send', async () => {
    const response = await rest.call('POST', '/email/send?dry_run=true', { body: { to: 'x' } });

    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      error: { details: expect.arrayContaining([expect.objectContaining({ param: 'from' })]) },
    });
  });
});

describe('422', () => {
  it('a message that a send would reject is rejected', async () => {
    const response = await rest.call('POST', '/email/send?dry_run=true', { body: { ...mail, from: 'a@other.test' } });

    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({ error: { reason: 'domain_not_verified' } });
  });
});
