import { scopes } from '@postrider/core/api-keys';
import { describe, expect, it } from 'vitest';
import { errorOf, rateOf } from '../rest-server.ts';
import { hello, keyed, openSender, other, post, rest, send, world } from './send-fixture.ts';

openSender();

describe('401', () => {
  it.each([
    [undefined, 'missing_key'],
    ['', 'malformed_key'],
    ['Bearer', 'malformed_key'],
    ['Bearer ', 'malformed_key'],
    ['Basic YTpi', 'malformed_key'],
    ['Bearer x', 'malformed_key'],
    [`Bearer pr_live_${'0'.repeat(64)}`, 'unknown_key'],
    [`Bearer pr_test_${'0'.repeat(64)}`, 'unknown_key'],
    [`Bearer pr_live_${'A'.repeat(64)}`, 'malformed_key'],
  ])('the header Authorization: %s is rejected as %s', async (authorization, reason) => {
    const response = await rest.call('POST', '/email/send', {
      key: null,
      body: hello,
      headers: authorization === undefined ? {} : { authorization },
    });

    expect(response.status).toBe(401);
    expect(errorOf(response)).toMatchObject({ code: 'unauthorized', reason });
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="postrider"');
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
    expect(response.headers.get('ratelimit-policy')).toBe('"address";q=120;w=60');
  });

  it('a key with a changed, extra or surrounding character is rejected', async () => {
    const last = world.secret.endsWith('0') ? '1' : '0';
    for (const key of [
      world.secret.slice(0, -1) + last,
      world.secret.slice(0, -1),
      `${world.secret}0`,
      `${world.secret} x`,
      `${world.secret},${world.secret}`,
      world.secret.toUpperCase(),
    ]) {
      expect((await send({}, { key })).status).toBe(401);
    }
  });

  it('a key in the query or the body is ignored', async () => {
    const path = `/email/send?api_key=${world.secret}&authorization=Bearer%20${world.secret}`;

    const response = await rest.call('POST', path, { key: null, body: { ...hello, api_key: world.secret } });

    expect(errorOf(response).reason).toBe('missing_key');
  });

  it('an invalid key takes precedence over an invalid body, Idempotency-Key and media type', async () => {
    const key = `pr_live_${'0'.repeat(64)}`;
    const type = { 'content-type': 'text/plain' };

    expect((await post('{', { key })).status).toBe(401);
    expect((await post(hello, { key, headers: type })).status).toBe(401);
    expect((await send({}, { key, ...keyed('') })).status).toBe(401);
    expect((await send({}, { key: null, ...keyed('') })).status).toBe(401);
  });

  it('a revoked or expired key, or one used from a disallowed address, is rejected', async () => {
    const revoked = await world.key({ scopes: ['email:send'] });
    const expires_at = new Date(world.clock.now() + 1000).toISOString();
    const expired = await world.key({ scopes: ['email:send'], expires_at });
    const other_network = await world.key({ scopes: ['email:send'], allowed_ips: ['192.0.2.0/24', '2001:db8::/32'] });
    const workspace = await world.key({ scopes: ['email:send'], allowed_ips: ['127.0.0.0/8'] });
    expect((await send({}, { key: revoked.secret })).status).toBe(202);
    expect((await send({}, { key: expired.secret })).status).toBe(202);

    await rest.call('DELETE', `/api-keys/${revoked.id}`);
    await world.clock.advance(1000);

    expect(errorOf(await send({}, { key: revoked.secret })).reason).toBe('revoked_key');
    expect(errorOf(await send({}, { key: expired.secret })).reason).toBe('expired_key');
    expect(errorOf(await send({}, { key: other_network.secret })).reason).toBe('address_not_allowed');
    expect((await send({}, { key: workspace.secret })).status).toBe(202);
  });

  it('a revocation on the other process takes effect', async () => {
    const key = await world.key({ scopes: ['email:send'] });
    const foreign = () => other.call('POST', '/email/send', { key: key.secret, body: hello });
    expect((await foreign()).status).toBe(202);

    await rest.call('DELETE', `/api-keys/${key.id}`);

    expect((await foreign()).status).toBe(401);
  });
});

describe('403', () => {
  it('the email:send scope is required, whatever other scopes a key has', async () => {
    for (const scope of scopes) {
      const { secret } = await world.key({ scopes: [scope] });
      const response = await send({}, { key: secret });

      if (scope === 'email:send' || scope === 'admin') expect(response.status).toBe(202);
      else {
        expect(response.status).toBe(403);
        expect(errorOf(response)).toMatchObject({ reason: 'missing_scope', required_scope: 'email:send' });
        expect(rateOf(response, world.clock.now())).toMatchObject({ limit: 1000, remaining: 999 });
      }
    }
  });

  it('a missing scope takes precedence over an invalid body and Idempotency-Key', async () => {
    const { secret } = await world.key({ scopes: ['email:logs:read'] });

    expect((await post('{', { key: secret })).status).toBe(403);
    expect((await post('[]', { key: secret })).status).toBe(403);
    expect((await send({}, { key: secret, ...keyed('') })).status).toBe(403);
  });

  it('a domain-restricted key cannot send from other domains', async () => {
    const { secret } = await world.key({ scopes: ['email:send'], domains: ['GOOD.test.'] });

    expect((await send({ from: 'a@good.test' }, { key: secret })).status).toBe(202);
    expect(errorOf(await send({}, { key: secret })).reason).toBe('key_domain_restricted');
  });
});
