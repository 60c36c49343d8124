import { formatMailbox, readMail } from '@postrider/mail';
import { outgoingMessages } from '@postrider/testing';
import { openWorld } from '@postrider/testing/open-world';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { sendMessage } from '../accept/index.ts';
import { invoke } from '../operation/operation.ts';

const world = await openWorld();
beforeAll(async () => {
  await world.domain('good.test');
});

const hidden = fc
  .uniqueArray(fc.stringMatching(/^[a-z]{12}$/), { maxLength: 2 })
  .map((names) => names.map((name) => `${name}@blind.test`));

describe('every sent message', () => {
  it('reaches every recipient signed, valid on the wire, and without any trace of blind copies', async () => {
    await fc.assert(
      fc.asyncProperty(outgoingMessages, hidden, async (message, bcc) => {
        const from = { name: message.from.name, email: 'hello@good.test' };
        const sent = await invoke(world.as(world.workspace_id), sendMessage, {
          from: formatMailbox(from),
          to: message.to.map(formatMailbox),
          cc: message.cc.map(formatMailbox),
          bcc,
          ...(message.reply_to && { reply_to: formatMailbox(message.reply_to) }),
          subject: message.subject,
          html: message.html,
          text: message.text,
          headers: message.headers,
          attachments: message.attachments,
        });
        await world.drain();

        const copies = world.smtp.messages.filter((mail) => mail.message_id === `<${sent.id}@good.test>`);
        const people = [...message.to, ...message.cc].map(({ email }) => email);
        expect(copies.map((mail) => mail.envelope_to.join()).sort()).toEqual([...new Set([...people, ...bcc])].sort());
        const [first] = copies;
        if (!first) throw new Error('nothing arrived');
        expect(copies.every((mail) => mail.raw.equals(first.raw))).toBe(true);

        const lines = first.raw.toString('latin1').split('\r\n');
        expect(lines.filter((line) => line.length > 998 || /[\r\n]/.test(line))).toEqual([]);
        for (const address of bcc) expect(first.raw.includes(address)).toBe(false);
        expect(await world.signatures(first)).toContain('pass rsa-sha256 good.test');

        const read = await readMail(first.raw);
        const parsed = await world.smtp.parsed(first);
        expect(read.subject).toBe(message.subject);
        expect([read.from]).toEqual([from]);
        expect(read.text).toBe(message.text?.replace(/\r\n?/g, '\n'));
        expect(read.html ?? '').toBe(message.html?.replace(/\r\n?/g, '\n'));
        for (const [name, value] of Object.entries(message.headers)) expect(read.headers).toContainEqual([name, value]);
        expect(parsed.attachments.map(({ filename, content }) => ({ filename, content }))).toEqual(
          message.attachments.map(({ filename, content }) => ({ filename, content: Buffer.from(content, 'base64') })),
        );
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});
