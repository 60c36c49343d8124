import { once } from 'node:events';
import { connect } from 'node:net';
import { invoke } from '@postrider/core';
import { sendMessage } from '@postrider/core/accept';
import { getMessage } from '@postrider/core/messages';
import { type Listener, startListener } from '@postrider/inbound';
import { bringMail, complaintReport, deliveryReport, type SmtpVisitor, visitSmtp } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const HOSTILE = new URL('../../../packages/mail/test/hostile-thread.ts', import.meta.url);

const world = await openWorld({ RETURN_PATH_DOMAIN: 'bounces.example.org' });
let listener: Listener;
beforeEach(async () => {
  await world.services.sql`delete from suppressions`;
  listener = await startListener(world.services, 0);
});
afterEach(() => listener.stop());

const asWorkspace = () => world.as(world.workspace_id);

/** Sends a message and returns its ID and the envelope sender of the copy that its only recipient received. */
async function sent(to: string): Promise<{ id: string; return_path: string }> {
  const mail = { from: 'hello@sandbox.test', to, subject: 'Hello', text: 'Hi' };
  const { id } = await invoke(asWorkspace(), sendMessage, mail);
  await world.drain();
  const copy = await world.smtp.waitFor((one) => one.message_id?.includes(id) === true);
  return { id, return_path: copy.envelope_from };
}

function bring(to: string, raw: string, from = '') {
  return bringMail(listener.port, { from, to, raw });
}

function failure(address: string, status = '5.1.1', diagnostic = `550 ${status} User unknown`) {
  return deliveryReport({ address, action: 'failed', status, diagnostic });
}

const messageOf = (id: string) => invoke(asWorkspace(), getMessage, { id });
const typesOf = async (id: string) => (await messageOf(id)).events.map((event) => event.type);

async function suppressed() {
  return [
    ...(await world.services.sql<{ email: string; source: string; source_event_id: string }[]>`
      select email, source, source_event_id from suppressions order by email`),
  ];
}

/** Returns everything that a returned message could change. */
async function everything() {
  const { sql } = world.services;
  return {
    recipients: [...(await sql`select * from recipients order by id`)],
    messages: [...(await sql`select * from messages order by id`)],
    events: [...(await sql`select * from events order by id`)],
    suppressions: [...(await sql`select * from suppressions order by id`)],
  };
}

async function unchangedBy(act: () => Promise<unknown>): Promise<void> {
  const before = await everything();
  const messages = world.smtp.messages.length;
  await act();
  expect(await everything()).toEqual(before);
  // No reply was sent either.
  await world.drain();
  expect(world.smtp.messages).toHaveLength(messages);
}

describe('a bounce report', () => {
  it('marks a delivered recipient as bounced after a mailbox failure, and suppresses the address', async () => {
    const { id, return_path } = await sent('gone@example.com');

    const response = await bring(return_path, failure('gone@example.com'));

    expect(response.data).toMatch(/^250 /);
    const message = await messageOf(id);
    expect(message).toMatchObject({
      status: 'bounced',
      recipients: [{ status: 'bounced', last_response: '550 5.1.1 User unknown' }],
      last_event: { type: 'email.bounced' },
    });
    expect(message.events.at(-1)).toMatchObject({
      type: 'email.bounced',
      data: {
        category: 'mailbox',
        status: '5.1.1',
        response: '550 5.1.1 User unknown',
        bounce: { class: 'hard', category: 'mailbox', code: '5.1.1' },
      },
    });
    expect(await suppressed()).toEqual([
      { email: 'gone@example.com', source: 'bounce', source_event_id: message.events.at(-1)?.id },
    ]);
  });

  it('changes nothing when it arrives a second time', async () => {
    const { return_path } = await sent('twice@example.com');
    await bring(return_path, failure('twice@example.com'));

    await unchangedBy(async () => {
      const repeats = await Promise.all([1, 2, 3].map(() => bring(return_path, failure('twice@example.com'))));
      for (const { data } of repeats) expect(data).toMatch(/^250 /);
    });
  });

  it('produces one event even if it is received many times concurrently', async () => {
    const { id, return_path } = await sent('crowd@example.com');

    await Promise.all([1, 2, 3, 4, 5].map(() => bring(return_path, failure('crowd@example.com'))));

    expect(await typesOf(id)).toEqual(['email.queued', 'email.delivered', 'email.bounced']);
    expect(await suppressed()).toHaveLength(1);
  });

  it('is matched to its recipient even if the address is returned in capital letters', async () => {
    const { id, return_path } = await sent('loud@example.com');

    await bring(return_path.toUpperCase(), failure('loud@example.com'));

    expect((await messageOf(id)).status).toBe('bounced');
  });

  it.each([
    ['5.2.2', '552 5.2.2 Mailbox full', 'quota'],
    ['5.7.1', '550 5.7.1 Blocked by policy', 'reputation'],
    ['5.1.2', '550 5.1.2 Host unknown', 'domain'],
    ['5.2.1', '550 5.2.1 Mailbox disabled', 'mailbox'],
    ['5.1.7', '553 5.1.7 No such user', 'policy'],
    ['4.4.7', '451 4.4.7 Delivery time expired', 'network'],
    ['4.1.1', '450 4.1.1 User unknown', 'mailbox'],
    ['4.0.0', '550 5.1.1 User unknown', 'mailbox'],
  ])('records a bounce for status %s (%s), but suppresses no address', async (status, diagnostic, category) => {
    const { id, return_path } = await sent('kept@example.com');

    await bring(return_path, failure('kept@example.com', status, diagnostic));

    expect(await messageOf(id)).toMatchObject({ status: 'bounced', recipients: [{ status: 'bounced' }] });
    expect((await messageOf(id)).events.at(-1)?.data.category).toBe(category);
    expect(await suppressed()).toEqual([]);
  });

  it('records a bounce for a member of a mailing list, but suppresses no address', async () => {
    const { id, return_path } = await sent('list@example.com');
    const raw = failure('member@example.net').replace(
      /(Final-Recipient[\s\S]*?User unknown)/,
      '$1\n\nFinal-Recipient: rfc822; other@example.net\nAction: delivered\nStatus: 2.0.0',
    );

    await bring(return_path, raw);

    expect((await messageOf(id)).status).toBe('bounced');
    expect(await suppressed()).toEqual([]);
  });

  it('real R5: is evaluated only by the field group for our address, if there is one', async () => {
    const { id, return_path } = await sent('second@example.com');
    const raw = failure('first@example.com').replace(
      /(Final-Recipient[\s\S]*?User unknown)/,
      '$1\n\nFinal-Recipient: rfc822; second@example.com\nAction: relayed\nStatus: 2.0.0',
    );

    await unchangedBy(async () => expect((await bring(return_path, raw)).data).toMatch(/^250 /));

    expect((await messageOf(id)).status).toBe('delivered');
  });

  it('real R4, R9: counts as a soft bounce if its format is unknown, and suppresses no address', async () => {
    const { id, return_path } = await sent('vague@example.com');

    await bring(return_path, 'Subject: Sorry\n\nIt did not work.');

    expect((await messageOf(id)).events.at(-1)).toMatchObject({
      type: 'email.bounced',
      data: { bounce: { class: 'soft', category: 'other', code: null } },
    });
    expect(await suppressed()).toEqual([]);
  });

  it('is evaluated by its first part if it exceeds the size limit', async () => {
    const { id, return_path } = await sent('large@example.com');
    const line = `${'x'.repeat(76)}\n`;

    const response = await bring(return_path, failure('large@example.com') + line.repeat(40_000));

    expect(response.data).toMatch(/^250 /);
    expect((await messageOf(id)).status).toBe('bounced');
  });

  it('is deferred while the delivery is being recorded, and accepted afterward', async () => {
    const { id, return_path } = await sent('early@example.com');
    const { sql } = world.services;
    await sql`update recipients set state = 'sending' where message_id = ${id}`;

    expect((await bring(return_path, failure('early@example.com'))).data).toMatch(/^451 /);
    await sql`update recipients set state = 'delivered' where message_id = ${id}`;
    expect((await bring(return_path, failure('early@example.com'))).data).toMatch(/^250 /);

    expect((await messageOf(id)).status).toBe('bounced');
  });

  it.each(['deferred', 'queued', 'canceled', 'failed', 'complained'])(
    'does not change a recipient that is %s',
    async (state) => {
      const { id, return_path } = await sent('other@example.com');
      await world.services.sql`update recipients set state = ${state}, due_at = 'infinity' where message_id = ${id}`;

      await unchangedBy(async () => {
        expect((await bring(return_path, failure('other@example.com'))).data).toMatch(/^250 /);
      });
      await world.services.sql`update recipients set state = 'delivered' where message_id = ${id}`;
    },
  );
});

describe('a non-final report', () => {
  it('emits at most one event per hour for a delay, and changes nothing else (real R14)', async () => {
    const { id, return_path } = await sent('late@example.com');
    const raw = deliveryReport({ address: 'late@example.com', action: 'delayed', status: '4.4.1' });

    await bring(return_path, raw);
    await unchangedBy(() => bring(return_path, raw));

    const message = await messageOf(id);
    expect(message).toMatchObject({ status: 'delivered', last_event: { type: 'email.delivery_delayed' } });
    expect(message.events.at(-1)).toMatchObject({
      type: 'email.delivery_delayed',
      data: { response: '4.4.1', reported: true, recipient: { status: 'delivered' } },
    });
  });

  it.each(['relayed', 'delivered', 'expanded'])('changes nothing for the action %s', async (action) => {
    const { return_path } = await sent('slow@example.com');
    const raw = deliveryReport({ address: 'slow@example.com', action, status: '4.4.1' });

    await unchangedBy(async () => expect((await bring(return_path, raw)).data).toMatch(/^250 /));
  });
});

describe('a complaint', () => {
  it('marks a delivered recipient as complained and suppresses the address, but only once', async () => {
    const { id, return_path } = await sent('angry@example.com');

    const response = await bring(return_path, complaintReport('abuse'), 'complaints@example.com');

    expect(response.data).toMatch(/^250 /);
    const message = await messageOf(id);
    expect(message).toMatchObject({ status: 'complained', recipients: [{ status: 'complained' }] });
    expect(message.events.at(-1)).toMatchObject({ type: 'email.complained', data: { feedback_type: 'abuse' } });
    expect(await suppressed()).toEqual([
      { email: 'angry@example.com', source: 'complaint', source_event_id: message.events.at(-1)?.id },
    ]);
    await unchangedBy(() => bring(return_path, complaintReport('abuse')));
  });

  it.each(['not-spam', 'auth-failure', ''])('is not recorded for a report of type %j', async (type) => {
    const { return_path } = await sent('glad@example.com');

    await unchangedBy(async () => expect((await bring(return_path, complaintReport(type))).data).toMatch(/^250 /));
  });
});

describe('other email sent to a return address', () => {
  it.each([
    ['an out-of-office', 'Auto-Submitted: auto-replied\nSubject: Out of office\n\nI am away.', 'ada@example.com'],
    ['a reply of a person', 'Subject: Re: Hello\n\nThanks!', 'ada@example.com'],
    ['an out-of-office of the null sender', 'From: ada@example.com\nSubject: Out of office\n\nI am away.', ''],
    ['a question about a failure', 'Subject: Undeliverable mail?\n\n550 5.1.1 User unknown', 'ada@example.com'],
    ['an empty mail', '', ''],
  ])('is accepted and dropped without a reply: %s', async (_what, raw, from) => {
    const { return_path } = await sent('ada@example.com');

    await unchangedBy(async () => expect((await bring(return_path, raw, from)).data).toMatch(/^250 /));
  });
});

describe('the bounce listener', () => {
  it('rejects a wrong signature at RCPT, and counts the attempt', async () => {
    const { return_path } = await sent('ada@example.com');
    const [local = '', domain] = return_path.split('@');
    const other = local.endsWith('0') ? '1' : '0';

    await unchangedBy(async () => {
      const response = await bring(`${local.slice(0, -1)}${other}@${domain}`, failure('ada@example.com'));
      expect(response).toEqual({ rcpt: expect.stringMatching(/^550 /), data: null });
    });
    expect(world.logged.at(-1)).toMatchObject({ forged: 1 });
  });

  it('fairness C16: logs one line per minute for wrong signatures, regardless of their number', async () => {
    const { return_path } = await sent('ada@example.com');
    const [local = '', domain] = return_path.split('@');
    const other = local.endsWith('0') ? '1' : '0';
    const lines = () => world.logged.filter((entry) => 'forged' in entry).length;
    const before = lines();

    for (let count = 0; count < 20; count++)
      await bring(`${local.slice(0, -1)}${other}@${domain}`, failure('ada@example.com'));

    expect(lines() - before).toBeLessThanOrEqual(1);
  });

  it('fairness P16: accepts a connection from another network despite fifty idle ones from the first', async () => {
    const idle = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: listener.port, localAddress: '127.0.0.2' });
        const [banner] = await once(socket.setEncoding('latin1'), 'data');
        return { socket, banner: String(banner) };
      }),
    );

    expect(idle.filter(({ banner }) => banner.startsWith('220 '))).toHaveLength(10);
    const { return_path } = await sent('ada@example.com');
    expect((await bring(return_path, failure('ada@example.com'))).data).toMatch(/^250 /);
    for (const { socket } of idle) socket.destroy();
  });

  it("rejects one recipient's signature for another recipient", async () => {
    const [one, two] = [await sent('one@example.com'), await sent('two@example.com')];
    const signature = one.return_path.slice(one.return_path.indexOf('.'), one.return_path.indexOf('@'));
    const mixed = two.return_path.replace(/\.[0-9a-f]+@/, `${signature}@`);

    expect((await bring(mixed, failure('two@example.com'))).rcpt).toMatch(/^550 /);
  });

  it.each(['ada@example.com', 'postmaster@bounces.example.org', 'b+@bounces.example.org', 'b+x@example.org'])(
    'neither relays nor stores a message to %s',
    async (address) => {
      expect((await bring(address, 'Subject: x\n\nx')).rcpt).toMatch(/^550 /);
    },
  );

  it('defers a second recipient in one message to a separate transaction', async () => {
    const [one, two] = [await sent('one@example.com'), await sent('two@example.com')];
    const visitor = await visitSmtp(listener.port);
    await visitor.say('EHLO visitor.test');
    await visitor.say('MAIL FROM:<>');

    expect(await visitor.say(`RCPT TO:<${one.return_path}>`)).toMatch(/^250 /);
    expect(await visitor.say(`RCPT TO:<${two.return_path}>`)).toMatch(/^452 /);
    visitor.close();
  });

  it('accepts and drops a report about a deleted message', async () => {
    const { id, return_path } = await sent('late@example.com');
    const { sql } = world.services;
    for (const table of ['recipients', 'attempts', 'bodies'])
      await sql`delete from ${sql(table)} where message_id = ${id}`;
    await sql`delete from messages where id = ${id}`;

    await unchangedBy(async () =>
      expect((await bring(return_path, failure('late@example.com'))).data).toMatch(/^250 /),
    );
  });
});

describe('a return address during a failure', () => {
  it('responds with 451 while the database is failing, and 250 afterward', async () => {
    const { id, return_path } = await sent('fault@example.com');
    const { sql } = world.services;
    await sql`alter table suppressions rename to suppressions_away`;

    const rejected = await bring(return_path, failure('fault@example.com'));
    await sql`alter table suppressions_away rename to suppressions`;

    expect(rejected.data).toMatch(/^451 /);
    expect((await messageOf(id)).status).toBe('delivered');
    expect((await bring(return_path, failure('fault@example.com'))).data).toMatch(/^250 /);
    expect((await messageOf(id)).status).toBe('bounced');
  });

  it('recovers from a message that hangs its thread, while other messages are still processed', async () => {
    const { id, return_path } = await sent('brave@example.com');
    const tough = await startListener(world.services, 0, { thread: HOSTILE, deadline_ms: 4000 });
    try {
      let hung = false;
      const hostile = bringMail(tough.port, { from: '', to: return_path, raw: 'X-Hostile: hang\n\n' }).finally(() => {
        hung = true;
      });
      const other: SmtpVisitor = await visitSmtp(tough.port);

      expect(await other.say('EHLO visitor.test')).toMatch(/^250 /);
      expect(await other.say('MAIL FROM:<>')).toMatch(/^250 /);
      expect(await other.say('RCPT TO:<nobody@example.com>')).toMatch(/^550 /);
      expect((await messageOf(id)).status).toBe('delivered');
      expect(hung).toBe(false);
      other.close();
      const next = await bringMail(tough.port, { from: '', to: return_path, raw: failure('brave@example.com') });

      expect((await hostile).data).toMatch(/^250 /);
      expect(next.data).toMatch(/^250 /);
      expect(tough.reader.replaced()).toBe(1);
      expect((await messageOf(id)).status).toBe('bounced');
      expect(world.logged.some((line) => line.lost_threads === 1)).toBe(true);
    } finally {
      await tough.stop();
    }
  });
});
