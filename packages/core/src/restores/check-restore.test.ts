import { connect } from '@postrider/db';
import { createDatabase } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterAll, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { createContext } from '../create-context.ts';
import { newId } from '../fields/ids.ts';
import { createHold, EVERYTHING, releaseHold } from '../holds/index.ts';
import { getMessage } from '../messages/index.ts';
import { invoke } from '../operation/operation.ts';
import { checkRestore } from './check-restore.ts';
import type { RecipientQuery } from './known-sent.ts';
import { readSentLog } from './sent-log.ts';
import { readReplica } from './sent-replica.ts';

const world = await openWorld();
const system = () => world.as(world.workspace_id);
const send = async (to: string | readonly string[], fields = {}) =>
  (await invoke(system(), sendMessage, { from: 'hello@sandbox.test', to, subject: 'Hi', text: 'Hi', ...fields })).id;
const stateOf = async (id: string) =>
  (await invoke(system(), getMessage, { id })).recipients.map(({ email, status }) => `${email} ${status}`).sort();

const lost = await createDatabase();
const lost_sql = connect(lost.url, { max: 1, application_name: 'postrider-test-lost' });
afterAll(async () => {
  await lost_sql.end();
  await lost.drop();
});

/** Copies the recipients of a message as the lost database has them. */
async function copyToLost(message_id: string, stateOf: (email: string) => string): Promise<void> {
  const rows = await world.services.sql<{ workspace_id: string; id: string; email: string; domain: string }[]>`
    select workspace_id, id, email, domain from recipients where message_id = ${message_id}`;
  for (const { workspace_id, id, email, domain } of rows)
    await lost_sql`
      insert into recipients (workspace_id, message_id, id, email, domain, kind, state, due_at)
      values (${workspace_id}, ${message_id}, ${id}, ${email}, ${domain}, 'to', ${stateOf(email)}, now())`;
}

it('a restore check holds the instance, reports email listed in a sent log, and closes it on request', async () => {
  const sent = await send('ada@example.com');
  const unsent = await send('bob@example.com');
  const shared = await send(['cyd@example.com', 'dan@example.com']);
  const vague = await send(['eve@example.com', 'fay@example.com']);
  const scheduled = await send('gil@example.com', {
    scheduled_at: new Date(world.clock.now() + 86_400_000).toISOString(),
  });
  const absent = newId('message', world.clock.now() + 1000);
  const log = [
    `status=sent message-id=<${sent}@sandbox.test> relay=mx.example.com:25`,
    `${shared}@sandbox.test,Cyd@Example.com,250 taken`,
    `status=sent message-id=<${vague}@sandbox.test>`,
    `message-id=<${scheduled}@sandbox.test> to=<gil@example.com> taken`,
    `message-id=<${absent}@sandbox.test> to=<hal@example.com>`,
    `a line about <${unsent}@sandbox.test>`,
    'a line about nothing',
  ];
  const sources = [await readSentLog('mail.log', log)];

  const report = await invoke(system(), checkRestore, { sources });

  expect(report).toMatchObject({
    hold: { scope: 'instance', status: 'active', created_by: { kind: 'system' } },
    live_workers: 0,
    open: { scheduled: 1, queued: 6, deferred: 0, sending: 0 },
    known_sent: { count: 3 },
    perhaps_sent: { count: 3 },
    unclear_lines: {
      count: 2,
      listed: [
        { log: 'mail.log', line_number: 5, line: expect.stringContaining(absent) },
        { log: 'mail.log', line_number: 6, line: `a line about <${unsent}@sandbox.test>` },
      ],
    },
    closed: 0,
    missing: { count: 1, listed: [absent] },
    missing_closed: { count: 0 },
  });
  expect(report.known_sent.listed).toContainEqual({ email_id: sent, email: 'ada@example.com', known_by: 'mail.log' });
  expect(await stateOf(sent)).toEqual(['ada@example.com queued']);

  const closed = await invoke(system(), checkRestore, { sources, close: true });

  expect(closed).toMatchObject({ hold: { id: report.hold.id }, closed: 3 });
  await invoke(system(), releaseHold, { hold_id: report.hold.id });
  await world.drain();
  expect(await stateOf(sent)).toEqual(['ada@example.com delivered']);
  expect(await stateOf(scheduled)).toEqual(['gil@example.com delivered']);
  expect(await stateOf(unsent)).toEqual(['bob@example.com delivered']);
  expect(world.smtp.messages.flatMap((mail) => mail.envelope_to).sort()).toEqual(
    ['bob', 'dan', 'eve', 'fay'].map((name) => `${name}@example.com`),
  );
});

it('fairness N8: only log lines that report an email as sent close it as delivered', async () => {
  await world.services.sql`delete from holds`;
  const names = ['deferred', 'bounced', 'own', 'rejected', 'unclear', 'retried', 'relayed', 'finished'];
  const ids = new Map<string, string>();
  for (const name of names) ids.set(name, await send(`${name}@example.com`));
  const messageIdOf = (name: string) => `<${ids.get(name)}@sandbox.test>`;
  const [finished] = await world.services.sql<{ id: string }[]>`
    select id from recipients where message_id = ${ids.get('finished') ?? ''}`;
  const own = (fields: object) => JSON.stringify({ level: 30, time: 1, ...fields });
  const log = [
    `message-id=${messageIdOf('deferred')} to=<deferred@example.com>, status=deferred (451 4.7.1 try again)`,
    `message-id=${messageIdOf('bounced')} to=<bounced@example.com>, status=bounced (550 5.1.1 no such user)`,
    own({ email_id: ids.get('own'), via: 'rest', msg: 'mail accepted' }),
    `NOQUEUE: reject: RCPT from host: 550 5.7.1 ${messageIdOf('rejected')} to=<rejected@example.com>`,
    `handing over ${messageIdOf('unclear')} to=<unclear@example.com>`,
    `message-id=${messageIdOf('retried')} to=<retried@example.com>, status=sent (250 2.0.0 ok)`,
    `message-id=${messageIdOf('retried')} to=<retried@example.com>, status=deferred (451 4.7.1 try again)`,
    `host postfix/cleanup[7]: 4A1B2C3D: message-id=${messageIdOf('relayed')}`,
    'host postfix/smtp[8]: 4A1B2C3D: to=<relayed@example.com>, relay=mx, dsn=2.0.0, status=sent (250 2.0.0 ok)',
    own({ email_id: ids.get('finished'), recipient_id: finished?.id, status: 'delivered', msg: 'mail finished' }),
  ];

  const check = await invoke(system(), checkRestore, { sources: [await readSentLog('mail.log', log)], close: true });
  await invoke(system(), releaseHold, { hold_id: check.hold.id });
  await world.drain();

  expect(check.known_sent.listed.map(({ email_id }) => email_id).sort()).toEqual(
    ['retried', 'relayed', 'finished'].map((name) => ids.get(name)).sort(),
  );
  expect(check).toMatchObject({ closed: 3, perhaps_sent: { count: 0 } });
  expect(check.unclear_lines).toEqual({ count: 1, listed: [{ log: 'mail.log', line_number: 5, line: log[4] }] });
  const arrivals = world.smtp.messages.flatMap(({ envelope_to }) => envelope_to);
  expect(names.filter((name) => arrivals.includes(`${name}@example.com`))).toEqual([
    'deferred',
    'bounced',
    'own',
    'rejected',
    'unclear',
  ]);
});

it('a restore check reads a database that was not lost, and closes email a worker was processing', async () => {
  const { sql } = world.services;
  await sql`delete from holds`;
  const id = await send('ada@example.com');
  await sql`
    update recipients set state = 'sending', lease = gen_random_uuid(), lease_until = clock_now() + interval '20 seconds'
    where message_id = ${id}`;
  const source = readReplica('the replica', sql);
  // Reads the same database, but reports this message as sent, as a database that was not lost would.
  const lookup = async (keys: readonly RecipientQuery[]) => keys.map((one) => (one.message_id === id ? 'sent' : null));
  const replica = { ...source, lookup };

  const report = await invoke(createContext(world.services, system().actor), checkRestore, {
    sources: [source, replica],
    close: true,
  });

  expect(report).toMatchObject({ open: { sending: 1 }, known_sent: { count: 1 }, closed: 1, missing: { count: 0 } });
  expect(await stateOf(id)).toEqual(['ada@example.com delivered']);
});

it('a restore check closes email delivered according to a replica, but no email closed without being sent', async () => {
  await world.services.sql`delete from holds`;
  const names = [
    'delivered',
    'complained',
    'returned',
    'bounced',
    'failed',
    'suppressed',
    'canceled',
    'sending',
    'queued',
  ];
  const id = await send(names.map((name) => `${name}@example.com`));
  await copyToLost(id, (email) => email.slice(0, email.indexOf('@')).replace('returned', 'bounced'));
  await lost_sql`
    insert into attempts (workspace_id, message_id, id, recipient_id, number, outcome, stage, target, phases_ms, started_at,
      finished_at)
    select workspace_id, message_id, gen_random_uuid(), id, 1,
      case when email like 'returned@%' then 'accepted' else 'rejected' end, 'data', 'relay', '{}', now(), now()
    from recipients where message_id = ${id} and state = 'bounced'`;

  const report = await invoke(system(), checkRestore, { sources: [readReplica('the replica', lost_sql)], close: true });

  const listedEmails = ({ listed }: { readonly listed: readonly { readonly email: string }[] }) =>
    listed.map(({ email }) => email.slice(0, email.indexOf('@'))).sort();
  expect(listedEmails(report.known_sent)).toEqual(['complained', 'delivered', 'returned']);
  expect(listedEmails(report.perhaps_sent)).toEqual(['sending']);
  expect(listedEmails(report.known_ended)).toEqual(['bounced', 'canceled', 'failed', 'suppressed']);
  expect(report).toMatchObject({ closed: 3, missing: { count: 0 } });
  expect(await stateOf(id)).toEqual(
    names
      .map(
        (name) =>
          `${name}@example.com ${['delivered', 'complained', 'returned'].includes(name) ? 'delivered' : 'queued'}`,
      )
      .sort(),
  );
});

it('a restore check reports missing email again, even if new email has since arrived', async () => {
  await world.services.sql`delete from holds`;
  const before = await send('old@example.com');
  await world.clock.advance(600_000);
  const [absent, gone] = [1, 2].map(() => newId('message', world.clock.now()));
  await world.clock.advance(600_000);
  const sources = [
    await readSentLog('mail.log', [
      ...[before, gone].map((id) => `<${id}@sandbox.test> sent`),
      `<${gone}@sandbox.test> to=<ada@example.com> status=deferred`,
      `<${gone}@sandbox.test> to=<ada@example.com> status=sent`,
      `<${absent}@sandbox.test> to=<ada@example.com> status=deferred`,
    ]),
  ];

  const first = await invoke(system(), checkRestore, { sources });
  await world.clock.advance(600_000);
  await send('new@example.com');
  const second = await invoke(system(), checkRestore, { sources });

  expect(first.missing).toEqual({ count: 1, listed: [absent] });
  expect(first.missing_closed).toEqual({ count: 1, listed: [gone] });
  expect([second.missing, second.missing_closed]).toEqual([first.missing, first.missing_closed]);
  expect(second.newest_mail_at).toBe(first.newest_mail_at);
  expect(first.newest_mail_at).not.toBeNull();
});

it('a restore check adopts the end time of an existing instance-wide hold', async () => {
  await world.services.sql`delete from holds`;
  const expires_at = new Date(world.clock.now() + 3_600_000).toISOString();
  const hold = await invoke(system(), createHold, {
    scope: 'instance',
    value: EVERYTHING,
    reason: 'A move',
    expires_at,
  });

  const report = await invoke(system(), checkRestore, { sources: [] });
  await world.clock.advance(7_200_000);
  const repeat = await invoke(system(), checkRestore, { sources: [] });

  expect(report.hold).toMatchObject({ id: hold.id, status: 'active', expires_at: null });
  expect(repeat.hold).toEqual(report.hold);
  const audited = await world.services.sql<{ diff: string }[]>`
    select diff::text as diff from audit_log where action = 'hold.made_endless' and target_id = ${hold.id}`;
  expect(audited.map(({ diff }) => JSON.parse(diff).expires_at)).toEqual([[expires_at, null]]);
});

it('a restore check creates a new hold if the last instance-wide hold has expired', async () => {
  await world.services.sql`delete from holds`;
  const expires_at = new Date(world.clock.now() + 3_600_000).toISOString();
  const existing = await invoke(system(), createHold, {
    scope: 'instance',
    value: EVERYTHING,
    reason: 'A move',
    expires_at,
  });
  await world.clock.advance(7_200_000);

  const { hold } = await invoke(system(), checkRestore, { sources: [] });

  expect(hold.id).not.toBe(existing.id);
  expect(hold).toMatchObject({ status: 'active', expires_at: null });
});
