import { describe, expect, it } from 'vitest';
import { countEach } from '../rate-windows.ts';
import { type ApiResponse, errorOf, rateOf } from '../rest-server.ts';
import {
  hello,
  keyed,
  leaveEmails,
  numbered,
  onlyCopyOf,
  openSender,
  other,
  rest,
  send,
  storedMessages,
  usedEmails,
  world,
} from './send-fixture.ts';

openSender();

describe('422', () => {
  const reasonOf = async (response: ApiResponse): Promise<string> => {
    const error = errorOf(response);
    expect([response.status, error.code], response.text).toEqual([422, 'unprocessable']);
    rateOf(response, world.clock.now());
    return error.reason;
  };

  it("a domain that does not exactly match one of the workspace's verified domains is rejected", async () => {
    const { workspace_id } = await world.workspace('free');
    await world.domain('theirs.test', workspace_id);
    await world.domain('sub.deep.test');
    await world.drain();
    const before = [await storedMessages(), await usedEmails(world.workspace_id)];

    for (const domain of [
      'unknown.test',
      'sub.good.test',
      'xgood.test',
      'theirs.test',
      'deep.test',
      'good.test.evil.test',
    ])
      expect(await reasonOf(await send({ from: `a@${domain}` }))).toBe('domain_not_verified');
    expect(await reasonOf(await send({ from: '"a@good.test" <a@unknown.test>' }))).toBe('domain_not_verified');

    expect(await world.drain()).toEqual([]);
    expect([await storedMessages(), await usedEmails(world.workspace_id)]).toEqual(before);
  });

  it.each(['pending', 'failed', 'suspended'])('a sending domain that is %s is rejected', async (status) => {
    await world.domain(`${status}.test`);
    await world.services.sql`update domains set status = ${status} where name = ${`${status}.test`}`;

    const response = await send({ from: `a@${status}.test` });

    expect(await reasonOf(response)).toBe('domain_not_verified');
    expect(errorOf(response).message).toContain(status);
  });

  it('an eleventh unique recipient on the Free plan is rejected', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('cap.test', workspace_id);
    const eleven = {
      from: 'a@cap.test',
      to: numbered(8),
      cc: ['c@example.com'],
      bcc: ['d@example.com', 'e@example.com'],
    };

    const response = await send(eleven, { key: secret });

    expect(await reasonOf(response)).toBe('recipient_cap_exceeded');
    expect(errorOf(response)).toMatchObject({ limit: 10, recipients: 11 });
    expect(await usedEmails(workspace_id)).toBe(0);
  });

  it('a scheduled time more than 60 s in the past is rejected', async () => {
    for (const seconds of [61, 3600]) {
      const scheduled_at = new Date(world.clock.now() - seconds * 1000).toISOString();
      expect(await reasonOf(await send({ scheduled_at }))).toBe('scheduled_in_past');
    }
    expect(await reasonOf(await send({ scheduled_at: '1970-01-01T00:00:00Z' }))).toBe('scheduled_in_past');
    expect(await reasonOf(await send({ scheduled_at: '9999-12-31T23:59:59Z' }))).toBe('scheduled_too_far');
  });

  it('a different body under the same Idempotency-Key is rejected, and the first response is preserved', async () => {
    const first = await send({}, keyed('other-body'));

    expect(await reasonOf(await send({ subject: 'Other' }, keyed('other-body')))).toBe('idempotency_mismatch');
    expect((await send({}, keyed('other-body'))).text).toBe(first.text);
  });

  it('a message to suppressed recipients only is rejected, while a mixed one reaches the other recipients', async () => {
    await world.services.sql`
      insert into suppressions (workspace_id, id, email, reason, created_at)
      values (${world.workspace_id}, derived_id('sup', no_id(), 'test'), 'gone@example.com', 'bounce', clock_now())`;

    expect(await reasonOf(await send({ to: 'gone@EXAMPLE.com' }))).toBe('all_recipients_suppressed');
    const mixed = await send({ to: ['gone@example.com', 'here@example.com'] });

    expect((await onlyCopyOf(mixed)).envelope_to).toEqual(['here@example.com']);
  });

  it("only one of twenty concurrent requests to two processes can use the month's last email", async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('last.test', workspace_id);
    await leaveEmails(workspace_id, 1);

    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? rest : other).call('POST', '/email/send', {
          key: secret,
          body: { ...hello, from: 'a@last.test' },
        }),
      ),
    );

    expect(countEach(responses.map((response) => response.status))).toEqual(
      new Map([
        [202, 1],
        [422, 19],
      ]),
    );
    const [refusal] = responses.filter((response) => response.status === 422);
    if (refusal) expect(errorOf(refusal)).toMatchObject({ reason: 'quota_exceeded', limit: 3000, used: 3000 });
    expect(await usedEmails(workspace_id)).toBe(3000);
  });

  it('two keys share the monthly volume, which sandbox sends and rejections do not use', async () => {
    const { secret, workspace_id } = await world.workspace('free');
    await world.domain('month.test', workspace_id);
    const from = { from: 'a@month.test' };
    const key = await rest.call('POST', '/api-keys', {
      key: secret,
      body: { name: 'Second', scopes: ['email:send'] },
    });
    const sandbox = { name: 'Sandbox', scopes: ['email:send'], mode: 'sandbox' };
    const response = await rest.call('POST', '/api-keys', { key: secret, body: sandbox });
    await leaveEmails(workspace_id, 2);

    expect(await reasonOf(await send({ ...from, to: numbered(3) }, { key: secret }))).toBe('quota_exceeded');
    expect((await send(from, { key: secret })).status).toBe(202);
    expect((await send(from, { key: String(response.body.secret) })).status).toBe(202);
    expect((await send(from, { key: String(key.body.secret) })).status).toBe(202);
    expect(await reasonOf(await send(from, { key: secret }))).toBe('quota_exceeded');
    expect((await send(from, { key: String(response.body.secret) })).status).toBe(202);

    expect(await usedEmails(workspace_id)).toBe(3000);
  });
});
