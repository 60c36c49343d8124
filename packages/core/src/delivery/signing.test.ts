import { createEncryption, createServices, invoke } from '@postrider/core';
import { insertProvenDomain } from '@postrider/core/domains';
import { bothPairs, type ReceivedMessage, testPairs } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import { beforeAll, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { getMessage } from '../messages/index.ts';
import { claimDeliveries } from './index.ts';

const world = await openWorld();

beforeAll(async () => {
  const { sql, encryption } = world.services;
  const domain = { workspace_id: world.workspace_id, name: 'good.test', sandbox: false };
  await sql.begin((tx) => insertProvenDomain(tx, encryption, domain, bothPairs, world.clock.now()));
});

const BOTH = (domain: string) => [`pass rsa-sha256 ${domain}`, `pass ed25519-sha256 ${domain}`];

async function send(input: { from: string; to: string | string[]; [field: string]: unknown }): Promise<string> {
  const { id } = await invoke(world.as(world.workspace_id), sendMessage, { subject: 'Hello', text: 'Hi', ...input });
  return id;
}

const copiesOf = (id: string): ReceivedMessage[] => world.smtp.messages.filter((mail) => mail.message_id?.includes(id));

it('every copy is signed with the From domain’s key, or with both if the domain has two', async () => {
  const ids = [
    await send({ from: 'a@good.test', to: ['a@example.com', 'b@example.com'], bcc: 'c@example.com' }),
    await send({ from: 'Zoë <a@sandbox.test>', to: 'd@example.com', html: '<p>  Grüße \t</p>\n\n', subject: '👋' }),
  ];

  await world.drain();

  for (const [index, domain] of ['good.test', 'sandbox.test'].entries()) {
    const copies = copiesOf(ids[index] ?? '');
    expect(copies).toHaveLength(index === 0 ? 3 : 1);
    const expected = index === 0 ? BOTH(domain) : [`pass rsa-sha256 ${domain}`];
    for (const copy of copies) expect(await world.signatures(copy)).toEqual(expected);
  }
});

it('List-Unsubscribe and all other headers set by the sender are signed', async () => {
  const headers = {
    'List-Unsubscribe': '<https://good.test/u>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
  const id = await send({ from: 'a@good.test', to: 'e@example.com', headers: { ...headers, 'X-Tag': 'otp' } });

  await world.drain();

  const [copy] = copiesOf(id);
  if (!copy) throw new Error('nothing arrived');
  expect(await world.signatures(copy)).toEqual(BOTH('good.test'));
  for (const changed of ['good.test/u', 'One-Click', 'otp']) {
    const raw = Buffer.from(copy.raw.toString('latin1').replace(changed, 'changed'), 'latin1');
    expect((await world.signatures({ raw })).join()).not.toContain('pass');
  }
});

it('a deferred message is retried with the same bytes', async () => {
  const recipients: string[] = [];
  world.smtp.script(({ stage, to, nth }) => {
    if (to !== 'again@example.com' || stage !== 'data' || nth > 1) return { kind: 'accept' };
    return { kind: 'drop', at: 'after_dot' };
  });
  const id = await send({ from: 'a@good.test', to: 'again@example.com' });

  await world.drain();
  await world.clock.advance(120_000);
  await world.drain();

  for (const copy of copiesOf(id)) recipients.push(copy.raw.toString('latin1'));
  expect(recipients).toHaveLength(2);
  expect(recipients[1]).toBe(recipients[0]);
});

it('a message without a signing key is not sent, and the reason is reported', async () => {
  const id = await send({ from: 'a@good.test', to: 'nokey@example.com' });
  const ids = await takeKeysAway('good.test');

  await world.drain();

  expect(copiesOf(id)).toEqual([]);
  expect(await recipientOf(id)).toMatchObject({
    state: 'deferred',
    last_response:
      'the email could not be signed for good.test: the domain is not verified any more, or has no key; repair its records, then POST /v1/domains/good.test/verify',
  });
  const { attempts, recipients } = await invoke(world.as(world.workspace_id), getMessage, { id });
  expect(attempts).toMatchObject([{ outcome: 'deferred', category: 'signing', target: '', stage: 'connect' }]);
  expect(recipients).toMatchObject([
    { waiting: { reason: 'retry_backoff', last_reply: expect.stringContaining('could not be signed for good.test') } },
  ]);

  await world.services.sql`update domains set signing_key_ids = ${ids}::uuid[] where name = 'good.test'`;
  await world.clock.advance(120_000);
  await world.drain();
  expect(await recipientOf(id)).toMatchObject({ state: 'delivered' });
  expect(await Promise.all(copiesOf(id).map(world.signatures))).toEqual([BOTH('good.test')]);
});

it('a message whose signing key cannot be decrypted is not sent until decryption works', async () => {
  await world.services.sql.begin((tx) =>
    insertProvenDomain(
      tx,
      createEncryption('x'.repeat(64)),
      { workspace_id: world.workspace_id, name: 'encrypted.test', sandbox: false },
      testPairs,
      world.clock.now(),
    ),
  );
  const id = await send({ from: 'a@encrypted.test', to: 'encrypted@example.com' });

  await world.drain();

  expect(copiesOf(id)).toEqual([]);
  const { state, last_response } = await recipientOf(id);
  expect([state, last_response]).toEqual(['deferred', expect.stringContaining('SECRET_KEY_PREVIOUS')]);
});

it('a signing key encrypted with the previous secret key is decrypted', async () => {
  const id = await send({ from: 'a@good.test', to: 'rotated@example.com' });
  const { config, secret_key } = world.services;
  const rotated = createServices({
    ...world.services,
    config: { ...config, SECRET_KEY_PREVIOUS: secret_key },
    secret_key: 'n'.repeat(64),
  });

  const claimed = await claimDeliveries(rotated, await rotated.jobs.fetch('delivery.attempt', 10));
  const raws = await Promise.all(claimed.map(({ content }) => content.raw()));

  expect(claimed.map(({ delivery }) => delivery.message_id)).toEqual([id]);
  expect(await Promise.all(raws.map((raw) => world.signatures({ raw })))).toEqual([BOTH('good.test')]);
});

it('a domain’s return path is used once its record has been found', async () => {
  const path = 'bounces.good.test';
  await world.services.sql`update domains set return_path = ${path} where name = 'good.test'`;
  const before = await send({ from: 'a@good.test', to: 'before@example.com' });
  await world.drain();
  await world.services.sql`update domains set return_path_ready = true where name = 'good.test'`;
  const after = await send({ from: 'a@good.test', to: 'after@example.com' });
  await world.drain();

  const domains = [before, after].map((id) => copiesOf(id)[0]?.envelope_from.split('@')[1]);
  expect(domains).toEqual([expect.not.stringContaining(path), path]);
});

async function takeKeysAway(name: string): Promise<string[]> {
  const [row] = await world.services.sql<{ ids: string[] }[]>`
    with before as (select signing_key_ids from domains where name = ${name})
    update domains d set signing_key_ids = '{}' from before where d.name = ${name}
    returning before.signing_key_ids as ids`;
  return row?.ids ?? [];
}

async function recipientOf(message_id: string): Promise<{ state: string; last_response: string | null }> {
  const [row] = await world.services.sql<{ state: string; last_response: string | null }[]>`
    select state, last_response from recipients where message_id = ${message_id}`;
  if (!row) throw new Error('no such message');
  return row;
}
