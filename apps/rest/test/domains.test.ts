import { newId } from '@postrider/core';
import { cancelMailOf } from '@postrider/core/domains';
import { createWorld, type DnsZone, startDnsZone, type World } from '@postrider/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ApiResponse,
  type CallOptions,
  detailsOf,
  errorOf,
  type RestServer,
  rateOf,
  startRest,
} from './rest-server.ts';

let zone: DnsZone;
let world: World;
let rest: RestServer;

beforeAll(open);
afterAll(close);

async function open(): Promise<void> {
  zone = await startDnsZone();
  world = await createWorld({
    DNS_SERVERS: zone.address,
    HELO_NAME: 'mail.service.test',
    PUBLIC_URL: 'https://app.service.test',
  });
  rest = await startRest(world.services, world.secret);
  await world.clock.freeze(new Date(Math.floor(Date.now() / 60_000) * 60_000 + 5000));
}
beforeEach(() => world.clock.advance(60_000));
async function close(): Promise<void> {
  await rest.stop();
  await world.stop();
  await zone.stop();
}

interface RecordView {
  readonly purpose: string;
  readonly required: boolean;
  readonly type: string;
  readonly host: string;
  readonly fqdn: string;
  readonly value: string;
  readonly status: string;
  readonly found: readonly string[];
  readonly hint: string | null;
}

const add = (body: unknown, options: CallOptions = {}) => rest.call('POST', '/domains', { body, ...options });
const get = (name: string, options: CallOptions = {}) => rest.call('GET', `/domains/${name}`, options);
const verify = (name: string, options: CallOptions = {}) => rest.call('POST', `/domains/${name}/verify`, options);
const remove = (name: string, options: CallOptions = {}) => rest.call('DELETE', `/domains/${name}`, options);
const update = (name: string, body: unknown, options: CallOptions = {}) =>
  rest.call('PATCH', `/domains/${name}`, { body, ...options });
const rotate = (name: string, options: CallOptions = {}) => rest.call('POST', `/domains/${name}/rotate-keys`, options);
const examine = (name: string, options: CallOptions = {}) => rest.call('GET', `/domains/${name}/doctor`, options);
const send = (from: string, fields: object = {}) =>
  rest.call('POST', '/email/send', { body: { from, to: 'ada@example.com', subject: 'Hello', text: 'Hi', ...fields } });

// The schema of every response has already been checked.
const recordsOf = (response: ApiResponse) => response.body.dns_records as readonly RecordView[];

function recordOf(response: ApiResponse, fqdn: string): RecordView {
  const record = recordsOf(response).find((one) => one.fqdn === fqdn);
  if (!record) throw new Error(`no record ${fqdn} in ${response.text}`);
  return record;
}

/** Publishes a response's records, as a domain owner would. */
function publish(response: ApiResponse, matches: (record: RecordView) => boolean = () => true): void {
  for (const record of recordsOf(response).filter(matches)) {
    if (record.type === 'TXT') zone.set(record.fqdn, 'TXT', [record.value]);
    if (record.type === 'MX')
      zone.set(record.fqdn, 'MX', [{ priority: 10, exchange: record.value.split(' ')[1] ?? '' }]);
  }
}

/** Adds a domain and verifies it. */
async function verified(name: string, options: CallOptions = {}): Promise<ApiResponse> {
  const added = await add({ name }, options);
  expect(added.status, added.text).toBe(201);
  publish(added, (record) => record.required);
  const response = await verify(name, options);
  expect(response.body.status, response.text).toBe('verified');
  return response;
}

async function eventsOf(type: string): Promise<Record<string, unknown>[]> {
  const response = await rest.call('GET', `/events?type=${type}`);
  // The response's schema has already been checked.
  return (response.body.data as { data: Record<string, unknown> }[]).map((event) => event.data);
}

describe('201', () => {
  it('a new domain is returned along with its DNS records', async () => {
    const response = await add({ name: 'mail.new.test', return_path: 'bounces', foo: 1 });

    expect(response.status, response.text).toBe(201);
    expect(response.body).toMatchObject({
      object: 'domain',
      id: expect.stringMatching(/^dom_[0-9a-z]{26}$/),
      name: 'mail.new.test',
      status: 'pending',
      can_send: false,
      status_reason: null,
      created_at: new Date(world.clock.now()).toISOString(),
      verified_at: null,
      last_checked_at: null,
      next_check_at: new Date(world.clock.now() + 60_000).toISOString(),
    });
    expect(recordsOf(response)).toEqual(
      [
        ['ownership', true, 'TXT', '_postrider.mail', /^postrider-verification=[0-9a-f]{32}$/],
        ['dkim', true, 'TXT', 'pr1._domainkey.mail', /^v=DKIM1; k=rsa; p=MIIB[A-Za-z0-9+/=]{388}$/],
        ['return_path', false, 'MX', 'bounces.mail', /^10 mail\.service\.test$/],
        ['spf', false, 'TXT', 'bounces.mail', /^v=spf1 a:mail\.service\.test ~all$/],
        ['dmarc', false, 'TXT', '_dmarc.mail', /^v=DMARC1; p=none$/],
      ].map(([purpose, required, type, host, value]) => ({
        purpose,
        required,
        type,
        host,
        fqdn: `${host}.new.test`,
        value: expect.stringMatching(value as RegExp),
        ttl: 3600,
        status: 'pending',
        found: [],
        observed: [],
        diagnosis: null,
        hint: 'Publish it, then check the domain.',
        key_role: purpose === 'dkim' ? 'active' : null,
      })),
    );
    expect((await get('mail.new.test')).text).toBe(response.text);
    expect(rateOf(response, world.clock.now()).limit).toBe(120);
  });

  it('DKIM keys can use a selector chosen by the caller', async () => {
    const response = await add({ name: 'selector.test', dkim_selector: 'Acme', dkim_ed25519: true });

    const hosts = recordsOf(response)
      .filter((record) => record.purpose === 'dkim')
      .map((record) => record.host);
    expect(hosts).toEqual(['acme._domainkey', 'acme-ed25519._domainkey']);
    expect(recordOf(response, 'selector.test').host).toBe('@');
  });

  it('a name added but not verified elsewhere is accepted, with its own proof and keys', async () => {
    const other = await world.workspace('free');

    const [first, second] = [await add({ name: 'both.test' }), await add({ name: 'both.test' }, { key: other.secret })];

    expect([first.status, second.status]).toEqual([201, 201]);
    const values = [first, second].flatMap((response) => recordsOf(response).filter((record) => record.required));
    expect(new Set(values.map((record) => record.value)).size).toBe(4);
  });

  it('names in any script are accepted', async () => {
    const response = await add({ name: 'Bücher.Test' });

    expect(response.body.name).toBe('xn--bcher-kva.test');
    expect((await get(encodeURIComponent('bücher.test'))).status).toBe(200);
  });
});

describe('200', () => {
  it('a domain with valid required records is verified, and its email is signed with its keys', async () => {
    const added = await add({ name: 'right.test' });
    publish(added, (record) => record.required);
    expect(errorOf(await send('a@right.test')).reason).toBe('domain_not_verified');

    const response = await verify('right.test');

    const now = new Date(world.clock.now()).toISOString();
    expect(response.body).toMatchObject({
      status: 'verified',
      can_send: true,
      status_reason: null,
      verified_at: now,
      last_checked_at: now,
    });
    expect(recordsOf(response).map(({ purpose, status }) => [purpose, status])).toEqual([
      ['ownership', 'ok'],
      ['dkim', 'ok'],
      ['spf', 'missing'],
      ['dmarc', 'missing'],
    ]);
    expect(await eventsOf('domain.verified')).toContainEqual({
      domain: { id: added.body.id, name: 'right.test', status: 'verified', status_reason: null },
      email: null,
      recipient: null,
    });
    const sent = await send('a@right.test');
    await world.drain();
    const mail = await world.smtp.waitFor((one) => one.message_id?.includes(String(sent.body.id)) ?? false);
    expect(await world.signatures(mail)).toEqual(['pass rsa-sha256 right.test']);
  });

  it('an optional second key and the return path are used once their records are found', async () => {
    const added = await add({ name: 'whole.test', return_path: 'bounces.whole.test', dkim_ed25519: true });
    publish(added);

    const response = await verify('whole.test');

    expect(recordsOf(response).map(({ status, hint }) => [status, hint])).toEqual(
      recordsOf(response).map(() => ['ok', null]),
    );
    const sent = await send('a@whole.test');
    await world.drain();
    const mail = await world.smtp.waitFor((one) => one.message_id?.includes(String(sent.body.id)) ?? false);
    expect(await world.signatures(mail)).toEqual(['pass rsa-sha256 whole.test', 'pass ed25519-sha256 whole.test']);
    expect(mail.envelope_from).toMatch(/@bounces\.whole\.test$/);
  });

  it('each invalid record is reported along with the value found', async () => {
    const added = await add({ name: 'wrong.test' });
    const rsa = recordOf(added, 'pr1._domainkey.wrong.test');
    zone.set(rsa.fqdn, 'TXT', [rsa.value.slice(0, 200)]);
    zone.set('_postrider.wrong.test', 'TXT', ['postrider-verification=other', '\u0000<b>\u001b[31m']);
    zone.set('wrong.test', 'TXT', ['v=spf1 -all', 'v=spf1 ~all']);

    const response = await verify('wrong.test');

    expect(response.body).toMatchObject({ status: 'pending', can_send: false });
    expect(response.body.status_reason).toBe(
      'The ownership record _postrider.wrong.test has a different value, and the DKIM record pr1._domainkey.wrong.test is truncated.',
    );
    expect(recordOf(response, rsa.fqdn)).toMatchObject({ status: 'truncated', found: [rsa.value.slice(0, 200)] });
    expect(recordOf(response, '_postrider.wrong.test')).toMatchObject({
      status: 'mismatch',
      found: ['postrider-verification=other', '<b> [31m'],
      observed: [
        {
          resolver: zone.address,
          authoritative: false,
          values: ['postrider-verification=other', '<b> [31m'],
          ttl: 60,
          checked_at: response.body.last_checked_at,
        },
      ],
    });
    expect(recordOf(response, 'wrong.test')).toMatchObject({ purpose: 'spf', status: 'multiple' });
    expect((await get('wrong.test')).text).toBe(response.text);
  });

  it.each(['SERVFAIL', 'REFUSED'] as const)(
    'a verified domain stays verified despite %s, and its email is sent',
    async (failure) => {
      const name = `${failure.toLowerCase()}.test`;
      const before = await verified(name);
      for (const record of recordsOf(before)) zone.fail(record.fqdn, failure);

      const response = await verify(name);

      expect(response.body).toMatchObject({ status: 'verified', can_send: true, verified_at: before.body.verified_at });
      expect(response.body.status_reason).toMatch(/could not be looked up \(the name server .*\)/);
      expect(recordsOf(response).map((record) => record.status)).toEqual(recordsOf(response).map(() => 'lookup_error'));
      expect((await send(`a@${name}`)).status).toBe(202);
    },
  );

  it('a domain stays pending, with the reason, if no DNS server responds', async () => {
    const added = await add({ name: 'silent.test' });
    for (const record of recordsOf(added)) zone.fail(record.fqdn, 'timeout');

    const response = await verify('silent.test');

    expect(response.body).toMatchObject({ status: 'pending', last_checked_at: expect.any(String) });
    expect(response.body.status_reason).toContain(
      'could not be looked up (no server in DNS_SERVERS responded in time)',
    );
  });

  it('a domain that loses a record is at risk, can still send, and is verified again later', async () => {
    const before = await verified('lost.test');
    const ownership = recordOf(before, '_postrider.lost.test');
    zone.remove(ownership.fqdn);

    const lost = await verify('lost.test');
    const sent = await send('a@lost.test');
    zone.set(ownership.fqdn, 'TXT', [ownership.value]);
    const repeat = await verify('lost.test');

    expect(lost.body).toMatchObject({ status: 'at_risk', can_send: true });
    expect(lost.body.status_reason).toContain('_postrider.lost.test is missing');
    expect(sent.status).toBe(202);
    expect(repeat.body).toMatchObject({ status: 'verified', verified_at: before.body.verified_at });
    const about = (data: Record<string, unknown>) => JSON.stringify(data).includes('lost.test');
    expect((await eventsOf('domain.at_risk')).filter(about)).toHaveLength(1);
    expect((await eventsOf('domain.verified')).filter(about)).toHaveLength(2);
  });

  it('a domain unverified for 14 days fails, but can be verified later', async () => {
    const added = await add({ name: 'late.test' });
    await world.clock.advance(14 * 86_400_000);

    const failed = await verify('late.test');
    publish(added, (record) => record.required);
    const proven = await verify('late.test');

    expect(failed.body).toMatchObject({ status: 'failed', can_send: false });
    expect(proven.body).toMatchObject({ status: 'verified', can_send: true });
    expect(await eventsOf('domain.failed')).toContainEqual(
      expect.objectContaining({ domain: expect.objectContaining({ name: 'late.test', status: 'failed' }) }),
    );
  });

  it('a suspended domain stays suspended, even with valid records', async () => {
    await verified('suspended.test');
    await world.services.sql`update domains set status = 'suspended' where name = 'suspended.test'`;

    expect((await verify('suspended.test')).body).toMatchObject({ status: 'suspended', can_send: false });
    expect(errorOf(await remove('suspended.test')).reason).toBe('domain_not_allowed');
  });

  it('an examination leaves the domain unchanged', async () => {
    const added = await add({ name: 'examined.test' });
    publish(added, (record) => record.required);
    const before = await get('examined.test');

    const response = await examine('EXAMINED.test.');

    expect(response.status, response.text).toBe(200);
    expect(response.body).toMatchObject({ name: 'examined.test', added: true, status: 'pending', healthy: true });
    expect(recordsOf(response).map(({ purpose, status }) => `${purpose} ${status}`)).toEqual([
      'ownership ok',
      'dkim ok',
      'spf missing',
      'dmarc missing',
    ]);
    expect(response.body.steps).toHaveLength(4);
    expect((await get('examined.test')).text).toBe(before.text);
  });

  it('a domain outside the workspace is examined without the records unique to added domains', async () => {
    zone.set('elsewhere.test', 'TXT', ['v=spf1 include:other.test -all']);

    const response = await examine('elsewhere.test');

    expect(response.body).toMatchObject({ added: false, status: null, healthy: false });
    expect(recordsOf(response).map(({ purpose, status }) => `${purpose} ${status}`)).toEqual([
      'spf mismatch',
      'dmarc missing',
    ]);
    expect(response.body.zone_file).toBe(
      [
        '$ORIGIN elsewhere.test.',
        '@ 3600 IN TXT "v=spf1 a:mail.service.test ~all"',
        '_dmarc 3600 IN TXT "v=DMARC1; p=none"',
        '',
      ].join('\n'),
    );
  });

  it('the second signature can be turned on and off, which changes the listed records', async () => {
    await verified('second.test');

    const enabled = await update('second.test', { dkim_ed25519: true });
    const repeat = await update('second.test', { dkim_ed25519: true });
    const disabled = await update('second.test', { dkim_ed25519: false });

    const keys = (response: ApiResponse) =>
      recordsOf(response).flatMap(({ host, purpose }) => (purpose === 'dkim' ? [host] : []));
    expect([enabled, repeat, disabled].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(enabled.body).toMatchObject({ status: 'verified', can_send: true, dkim_ed25519: true });
    expect(keys(enabled)).toEqual(['pr1._domainkey', 'pr1-ed25519._domainkey']);
    expect(repeat.text).toBe(enabled.text);
    expect(disabled.body).toMatchObject({ status: 'verified', can_send: true, dkim_ed25519: false });
  });

  it('a changed return path is used once its record is found', async () => {
    await verified('path.test');

    const changed = await update('path.test', { return_path: 'bounces' });
    const sent = await send('a@path.test');
    await world.drain();
    publish(changed);
    await verify('path.test');
    const next = await send('a@path.test');
    await world.drain();
    const removed = await update('path.test', { return_path: null });

    const envelopeOf = async ({ body }: ApiResponse) =>
      (await world.smtp.waitFor((one) => one.message_id?.includes(String(body.id)) ?? false)).envelope_from;
    expect(changed.body).toMatchObject({ return_path: 'bounces.path.test', dkim_ed25519: false });
    expect(await envelopeOf(sent)).not.toMatch(/@bounces\.path\.test$/);
    expect(await envelopeOf(next)).toMatch(/@bounces\.path\.test$/);
    expect(removed.body.return_path).toBeNull();
    expect(recordsOf(removed).map(({ purpose }) => purpose)).not.toContain('return_path');
  });

  it('new keys are pending while the old ones are still used', async () => {
    const before = await verified('rotating.test');

    const response = await rotate('rotating.test');

    expect(response.status, response.text).toBe(200);
    const keys = recordsOf(response).filter((record) => record.purpose === 'dkim');
    expect(keys.map(({ host, required, status }) => [host, required, status])).toEqual([
      ['pr1._domainkey', true, 'ok'],
      ['pr2._domainkey', false, 'pending'],
    ]);
    expect(new Set([...keys, ...recordsOf(before)].map(({ value }) => value)).size).toBe(recordsOf(before).length + 1);
    expect(response.body).toMatchObject({
      status: 'verified',
      next_check_at: new Date(world.clock.now()).toISOString(),
    });
  });

  it('every spelling of a name refers to the same domain', async () => {
    const { body } = await add({ name: 'spelling.test' });

    for (const path of ['spelling.test', 'SPELLING.Test', 'spelling.test.', 'spelling%2etest', 'spelling.test%2E']) {
      expect((await get(path)).body.id, path).toBe(body.id);
    }
  });

  it("the list shows the workspace's domains, newest first, page by page", async () => {
    const { secret } = await world.workspace('free');
    const names = ['one.list.test', 'two.list.test', 'three.list.test'];
    for (const name of names) {
      await world.clock.advance(1);
      await add({ name }, { key: secret });
    }
    const list = (query: string) => rest.call('GET', `/domains${query}`, { key: secret });

    const page = await list('?limit=2');
    const remaining = await list(`?limit=2&cursor=${page.body.next_cursor}`);

    const domains = [page, remaining].flatMap((response) => response.body.data as { name: string }[]);
    expect(domains.map(({ name }) => name)).toEqual([...names].reverse());
    expect(domains[0]).toEqual((await get('three.list.test', { key: secret })).body);
    expect([page.body.has_more, remaining.body.has_more]).toEqual([true, false]);
  });

  it('the sandbox domain is verified, needs no records and describes its purpose', async () => {
    const [first, checked] = [await get('sandbox.test'), await verify('sandbox.test')];

    expect(first.body).toMatchObject({ status: 'verified', can_send: true, dns_records: [] });
    expect(first.body.status_reason).toContain('DELIVERY=capture');
    expect(checked.text).toBe(first.text);
  });

  it('removing a domain cancels its pending email in a background job, and returns the monthly volume', async () => {
    await verified('gone.test');
    const used = async () => Number((await rest.call('GET', '/usage')).body.used);
    const ahead = { scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() };
    const messages = [
      await send('a@gone.test'),
      await send('a@gone.test', ahead),
      await send('b@gone.test', { to: ['x@example.com', 'y@example.com'] }),
    ];
    const response = await send('a@sandbox.test', ahead);
    const before = await used();

    const reply = await remove('GONE.test.');

    expect([reply.status, reply.body]).toEqual([200, { object: 'domain', name: 'gone.test', deleted: true }]);
    expect(errorOf(await get('gone.test')).reason).toBe('domain_not_found');
    expect(errorOf(await send('a@gone.test')).reason).toBe('domain_not_verified');
    expect(await cancelJobsOf('gone.test')).toBe(1);
    for (const mail of messages) {
      const log = await rest.call('GET', `/email/logs/${mail.body.id}`);
      expect(log.body).toMatchObject({ status: 'canceled', last_event: { type: 'email.canceled' } });
      expect(log.text).toContain('domain_removed');
    }
    expect((await rest.call('GET', `/email/logs/${response.body.id}`)).body.status).toBe('scheduled');
    expect(await used()).toBe(before - 4);
    const rows = await world.services
      .sql`select from dkim_keys k where not exists (select from domains d where d.id = k.domain_id)`;
    expect(rows).toHaveLength(0);
    await world.clock.advance(60_000);
    await world.drain();
    expect(world.smtp.messages.filter((mail) => mail.message_id?.endsWith('@gone.test>'))).toEqual([]);
    expect(await cancelJobsOf('gone.test')).toBe(1);
    expect(await used()).toBe(before - 4);
  });

  it('email already attempted, or accepted late, is canceled without returning its volume', async () => {
    await verified('tried.test');
    world.smtp.script(({ to }) =>
      to === 'busy@example.com' ? { kind: 'reply', code: 451, text: 'later' } : { kind: 'accept' },
    );
    const sending = await send('a@tried.test', { to: ['busy@example.com', 'fine@example.com'] });
    await world.drain();
    await remove('tried.test');
    expect(await cancelJobsOf('tried.test')).toBe(1);
    const before = (await rest.call('GET', '/usage')).body.used;
    const log = await rest.call('GET', `/email/logs/${sending.body.id}`);
    await world.services.sql`
      update recipients set state = 'queued' where message_id = ${String(sending.body.id)} and state = 'canceled'`;
    await world.services.sql`update messages set status = 'queued' where id = ${String(sending.body.id)}`;

    await world.clock.advance(60_000);
    expect(await cancelJobsOf('tried.test')).toBe(1);

    const statuses = (response: ApiResponse) =>
      (response.body.recipients as { status: string }[]).map(({ status }) => status);
    expect(statuses(log).sort()).toEqual(['canceled', 'delivered']);
    expect(statuses(await rest.call('GET', `/email/logs/${sending.body.id}`)).sort()).toEqual([
      'canceled',
      'delivered',
    ]);
    expect((await rest.call('GET', '/usage')).body.used).toBe(before);
  });

  it('email accepted after the name is added again is not canceled', async () => {
    await verified('back.test');
    await remove('back.test');
    await world.clock.advance(1000);
    await verified('back.test');
    await world.clock.advance(1000);
    const sent = await send('a@back.test', { scheduled_at: new Date(world.clock.now() + 3_600_000).toISOString() });

    expect(await cancelJobsOf('back.test')).toBe(1);

    expect((await rest.call('GET', `/email/logs/${sent.body.id}`)).body.status).toBe('scheduled');
  });

  it('email being sent during the removal is canceled later', async () => {
    await verified('sending.test');
    const sent = await send('a@sending.test');
    const message_id = String(sent.body.id);
    await world.services.sql`
      update recipients set state = 'sending', lease = gen_random_uuid(), lease_until = clock_now() + interval '30 s'
      where message_id = ${message_id}`;
    await world.services.sql`update messages set status = 'sending' where id = ${message_id}`;
    await remove('sending.test');
    expect(await cancelJobsOf('sending.test')).toBe(1);
    await world.services.sql`
      update recipients set state = 'deferred', lease = null, lease_until = null where message_id = ${message_id}`;
    await world.services.sql`update messages set status = 'deferred' where id = ${message_id}`;

    await world.clock.advance(60_000);
    expect(await cancelJobsOf('sending.test')).toBe(2);

    expect((await rest.call('GET', `/email/logs/${message_id}`)).body.status).toBe('canceled');
  });
});

/** Runs the due cancellation jobs and returns how many were for the domain. */
async function cancelJobsOf(domain: string): Promise<number> {
  const { services } = world;
  const jobs = await services.jobs.fetch('domain.cancel_mail', 100);
  for (const job of jobs) await cancelMailOf(services, job.data);
  await services.sql.begin((tx) => services.jobs.complete(tx, 'domain.cancel_mail', jobs));
  return jobs.filter((job) => job.data.domain === domain).length;
}

describe('400', () => {
  it.each([
    '',
    'a',
    '-x.test',
    'a..b',
    'http://x.test',
    '*.x.test',
    '192.0.2.1',
    '[::1]',
    `${'a'.repeat(60)}.`.repeat(5),
    'x.test/',
    'a b.test',
    'x_y.test',
    '0x7f.1',
  ])('the name %j is rejected', async (name) => {
    const response = await add({ name });

    expect(response.status).toBe(400);
    expect(detailsOf(response)).toEqual(['name invalid_domain']);
  });

  it('a missing, misspelled or mistyped name is rejected', async () => {
    expect(detailsOf(await add({}))).toEqual(['name missing_field']);
    expect(detailsOf(await add({ name: ['x.test'] }))).toEqual(['name invalid_type']);
    expect(detailsOf(await add({ name: 'x.test', dkimSelector: 'a' }))).toEqual(['dkimSelector misspelled_field']);
    expect(errorOf(await add('{')).reason).toBe('malformed_json');
  });

  it.each(['a', '*.x.test', '192.0.2.1'])('%j is not examined because it is not a domain', async (name) => {
    expect(detailsOf(await examine(name))).toEqual(['domain invalid_domain']);
  });

  it.each(['', 'a.b', '-a', 'a_b', 'x'.repeat(56), 'ü'])('the selector %j is rejected', async (dkim_selector) => {
    expect(detailsOf(await add({ name: 'x.test', dkim_selector }))).toEqual(['dkim_selector invalid_type']);
  });

  it.each(['', 'a.test', 'x.test', 'a b', 'evilx.test', '-a'])(
    'the return path %j is rejected for x.test',
    async (path) => {
      expect(detailsOf(await add({ name: 'x.test', return_path: path }))).toEqual(['return_path invalid_domain']);
    },
  );
});

describe('a domain update', () => {
  it('rejects an external return path, and lists invalid fields', async () => {
    await add({ name: 'changed.test' });

    expect(detailsOf(await update('changed.test', { return_path: 'bounces.example.com' }))).toEqual([
      'return_path invalid_domain',
    ]);
    expect(detailsOf(await update('changed.test', { dkim_ed25519: 'yes' }))).toEqual(['dkim_ed25519 invalid_type']);
    expect(detailsOf(await update('changed.test', { dkimEd25519: true }))).toEqual(['dkimEd25519 misspelled_field']);
    expect((await get('changed.test')).body).toMatchObject({ return_path: null, dkim_ed25519: false });
  });
});

describe('401 and 403', () => {
  it('the key and its scope are checked before anything is read', async () => {
    const reader = await world.key({ scopes: ['domains:read'] });
    const writer = await world.key({ scopes: ['domains:write'] });

    expect((await add({ name: 'x.test' }, { key: null })).status).toBe(401);
    expect(errorOf(await add('{', { key: reader.secret }))).toMatchObject({ required_scope: 'domains:write' });
    const change = (name: string, options: CallOptions) => update(name, { dkim_ed25519: true }, options);
    for (const call of [verify, remove, rotate, change]) {
      expect(errorOf(await call('sandbox.test', { key: reader.secret }))).toMatchObject({
        required_scope: 'domains:write',
      });
    }
    expect((await get('sandbox.test', { key: reader.secret })).status).toBe(200);
    for (const response of [
      await get('x.test', { key: writer.secret }),
      await examine('x.test', { key: writer.secret }),
      await rest.call('GET', '/domains', { key: writer.secret }),
    ]) {
      expect(errorOf(response)).toMatchObject({ required_scope: 'domains:read' });
    }
  });
});

describe('404', () => {
  it('a domain in another workspace looks nonexistent, and stays unchanged', async () => {
    await verified('foreign.test');
    const { secret } = await world.workspace('free');

    const change = (name: string, options: CallOptions) => update(name, { dkim_ed25519: true }, options);
    for (const call of [get, verify, remove, rotate, change]) {
      const [foreign, absent] = [
        await call('foreign.test', { key: secret }),
        await call('absent.test', { key: secret }),
      ];
      expect([foreign.status, errorOf(foreign).reason]).toEqual([404, 'domain_not_found']);
      expect(errorOf(foreign).message).toBe(errorOf(absent).message.replace('absent', 'foreign'));
    }
    expect((await get('foreign.test')).body.status).toBe('verified');
  });

  it.each(['a', '%00', '*.test', 'x'.repeat(400), 'http%3A%2F%2Fx.test'])(
    'the invalid name %j is not found',
    async (path) => {
      expect([404, 400]).toContain((await get(path)).status);
    },
  );
});

describe('422', () => {
  it.each([
    'com',
    'co.uk',
    'github.io',
    'gmail.com',
    'GMAIL.com.',
    'web.de',
    'simulator.test',
    'mail.service.test',
    'app.service.test',
  ])('%s is rejected because no workspace can send from it', async (name) => {
    const response = await add({ name });

    // A single-label public suffix is not a valid domain name in the first place.
    expect(errorOf(response).reason).toBe(name.includes('.') ? 'domain_not_allowed' : 'invalid_domain');
  });

  it('new keys are rejected during another key change, and for the sandbox domain', async () => {
    await verified('busy.test');
    await rotate('busy.test');

    expect(errorOf(await rotate('busy.test')).reason).toBe('rotation_in_progress');
    expect(errorOf(await rotate('sandbox.test')).reason).toBe('domain_not_allowed');
    expect(errorOf(await update('sandbox.test', { dkim_ed25519: true })).reason).toBe('domain_not_allowed');
  });

  it('a name that no workspace can send from cannot be examined', async () => {
    for (const name of ['co.uk', 'gmail.com']) expect(errorOf(await examine(name)).reason).toBe('domain_not_allowed');
  });

  it('the sandbox domain is unavailable to other workspaces, and cannot be removed from its own', async () => {
    const { secret } = await world.workspace('free');

    expect(errorOf(await add({ name: 'sandbox.test' }, { key: secret })).reason).toBe('domain_not_allowed');
    expect(errorOf(await add({ name: 'sandbox.test' })).reason).toBe('domain_already_exists');
    expect(errorOf(await remove('sandbox.test')).reason).toBe('domain_not_allowed');
  });

  it('a name already in the workspace is rejected in any spelling, even concurrently', async () => {
    const responses = await Promise.all(['twice.test', 'TWICE.test.', 'Twice.Test'].map((name) => add({ name })));

    expect(responses.map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    for (const response of responses.filter(({ status }) => status === 422)) {
      expect(errorOf(response).reason).toBe('domain_already_exists');
    }
  });

  it('a name verified elsewhere can be claimed only with a published ownership record (chaos C3)', async () => {
    const { secret } = await world.workspace('free');
    const claimed = await verified('claimed.test');
    const added = await add({ name: 'claimed.test' }, { key: secret });
    expect([added.status, added.body.status]).toEqual([201, 'pending']);
    expect((await verify('claimed.test', { key: secret })).body.status).toBe('pending');
    const tokens = [claimed, added].map((response) =>
      recordsOf(response).find(({ purpose }) => purpose === 'ownership'),
    );

    publish(added, (record) => record.required);
    zone.set(
      '_postrider.claimed.test',
      'TXT',
      tokens.map((record) => record?.value ?? ''),
    );

    expect(errorOf(await verify('claimed.test', { key: secret })).reason).toBe('domain_claimed');
    expect((await get('claimed.test', { key: secret })).body).toMatchObject({
      status: 'pending',
      status_reason: 'Another workspace verified this domain.',
    });

    zone.set('_postrider.claimed.test', 'TXT', [tokens[1]?.value ?? '']);
    expect((await verify('claimed.test', { key: secret })).body.status).toBe('verified');
    expect((await get('claimed.test')).body).toMatchObject({ status: 'failed', can_send: false });
    await remove('claimed.test');
  });

  it('only one of two workspaces can verify the same name, even concurrently', async () => {
    const { secret } = await world.workspace('free');
    const [own, theirs] = [await add({ name: 'race.test' }), await add({ name: 'race.test' }, { key: secret })];
    const values = [own, theirs].map((response) => recordOf(response, '_postrider.race.test').value);
    zone.set('_postrider.race.test', 'TXT', values);
    await world.services.sql`
      update dkim_keys set selector = 'pr2' where domain_id = ${String(theirs.body.id)} and algorithm = 'rsa'`;
    publish(own, (record) => record.purpose === 'dkim');
    publish(await get('race.test', { key: secret }), (record) => record.fqdn.startsWith('pr2.'));

    const responses = await Promise.all([verify('race.test'), verify('race.test', { key: secret })]);

    expect(responses.map(({ status }) => status).sort()).toEqual([200, 422]);
  });
});

describe('a private key', () => {
  it('appears in no table, response or log line', async () => {
    const added = await add({ name: 'secret.test', dkim_ed25519: true });
    publish(added);
    const responses = [
      added,
      await verify('secret.test'),
      await get('secret.test'),
      await rest.call('GET', '/domains'),
    ];
    const { sql, encryption } = world.services;
    const keys = await sql<{ id: string; encrypted_private_key: Buffer }[]>`
      select id, encrypted_private_key from dkim_keys where domain_id = ${String(added.body.id)}`;
    expect(keys).toHaveLength(2);
    const needles = keys.flatMap((key) => {
      // The last octets of PKCS #8 are secret for both algorithms.
      const plain = encryption.decrypt(key.encrypted_private_key, `dkim ${key.id}`).subarray(-30);
      return [plain.toString('hex'), plain.toString('base64').slice(2, 38)];
    });
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE'`;
    const places = [JSON.stringify(world.logged), ...responses.map((response) => response.text)];
    for (const { name } of tables) {
      const schema = (await sql`select to_regclass(${`public.${name}`}) is not null as here`)[0]?.here
        ? 'public'
        : 'pgboss';
      const rows = await sql<{ text: string }[]>`select t::text as text from ${sql(`${schema}.${name}`)} t`;
      places.push(...rows.map((row) => row.text));
    }

    expect(places.length).toBeGreaterThan(50);
    for (const place of places) for (const needle of needles) expect(place).not.toContain(needle);
    for (const response of responses) expect(response.text).not.toContain('PRIVATE');
  });

  it('cannot be read by any id', async () => {
    expect(newId('dkim_key', 0)).toMatch(/^dkk_/);
    expect((await get('sandbox.test')).text).not.toContain('dkk_');
  });
});
