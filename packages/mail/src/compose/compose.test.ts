import { outgoingMessages } from '@postrider/testing';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { describe, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../address/address.ts';
import { readMail } from '../capture/read-mail.ts';
import { compose, type OutgoingMessage } from './compose.ts';

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  return parsed.mailbox;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

function message(changes: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return {
    message_id: 'msg_01jabcdefghijklmnopqrstuvw@good.test',
    date: new Date('2026-03-01T09:05:07.123Z'),
    from: mailbox('Acme <no-reply@good.test>'),
    to: [mailbox('jane@example.test')],
    cc: [],
    reply_to: null,
    subject: 'Hello',
    html: null,
    text: 'Hello.\n',
    headers: {},
    attachments: [],
    ...changes,
  };
}

/** Checks the requirements for every message on the wire, and returns the lines. */
function wireLines(raw: Buffer): string[] {
  const text = raw.toString('latin1');
  expect(text).toMatch(/^[\t\r\n -~]*$/);
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(text.endsWith('\r\n')).toBe(true);
  const lines = text.split('\r\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998);
  return lines;
}

function headerLines(raw: Buffer): string[] {
  return wireLines(raw).slice(0, wireLines(raw).indexOf(''));
}

describe('a value written to a header', () => {
  it.each(['ends in a no-break space\u00a0', '  begins with spaces', 'holds\ta tab', 'ends with a tab\t', '\u2028'])(
    'arrives as it was sent: %j (chaos C6)',
    async (value) => {
      const raw = compose(
        message({ subject: value, headers: { 'X-Value': value }, from: { ...mailbox('a@good.test'), name: value } }),
      );

      const read = await readMail(raw);
      expect(read.subject).toBe(value);
      const subject = headerLines(raw).find((line) => line.startsWith('Subject: '));
      expect(headerLines(raw)).toContain(subject?.replace('Subject: ', 'X-Value: '));
      expect(read.from?.name?.trim()).toBe(value.trim());
    },
  );
});

describe('the content type of an attachment', () => {
  it.each([
    ['README.md', 'text/markdown'],
    ['report.PDF', 'application/pdf'],
    ['events.ndjson', 'application/x-ndjson'],
    ['config.yaml', 'application/yaml'],
    ['photo.heic', 'image/heic'],
    ['invite.ics', 'text/calendar'],
    ['backup.tgz', 'application/gzip'],
    ['constructor', 'application/octet-stream'],
    ['md', 'application/octet-stream'],
    ['a.b.unheard-of', 'application/octet-stream'],
  ])('is derived from the name %s as %s (newcomer N19)', (filename, type) => {
    const raw = compose(message({ attachments: [{ filename, content: base64('x') }] }));

    expect(wireLines(raw)).toContain(`Content-Type: ${type}`);
  });
});

describe('the bytes of an email', () => {
  it('match the expected output for text, HTML, an inline image and a file', () => {
    const raw = compose(
      message({
        cc: [mailbox('"Doe, Jo" <jo@example.test>'), mailbox('Zoë <zoe@bücher.test>')],
        reply_to: mailbox('help@good.test'),
        subject: 'Grüße 👋',
        text: 'a\n.\nFrom here\n',
        html: '<img src="cid:logo">',
        headers: { 'X-Tag': 'otp', 'List-Unsubscribe': '<https://good.test/u>' },
        attachments: [
          { filename: 'logo.png', content: base64('png'), content_id: '<logo>' },
          { filename: 'résumé.pdf', content: base64('pdf') },
        ],
      }),
    );

    const mark = 'msg_01jabcdefghijklmnopqrstuvw_good_test';
    expect(raw.toString().split('\r\n')).toEqual([
      'From: Acme <no-reply@good.test>',
      'To: jane@example.test',
      'Cc: "Doe, Jo" <jo@example.test>, =?UTF-8?Q?Zo=C3=AB?=',
      ' <zoe@xn--bcher-kva.test>',
      'Reply-To: help@good.test',
      'Subject: =?UTF-8?B?R3LDvMOfZSDwn5GL?=',
      'Date: Sun, 01 Mar 2026 09:05:07 +0000',
      'Message-ID: <msg_01jabcdefghijklmnopqrstuvw@good.test>',
      'X-Tag: otp',
      'List-Unsubscribe: <https://good.test/u>',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed;',
      ` boundary="=_mix_${mark}"`,
      '',
      `--=_mix_${mark}`,
      'Content-Type: multipart/alternative;',
      ` boundary="=_alt_${mark}"`,
      '',
      `--=_alt_${mark}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'a',
      '=2E',
      '=46rom here',
      '',
      `--=_alt_${mark}`,
      'Content-Type: multipart/related; type="text/html";',
      ` boundary="=_rel_${mark}"`,
      '',
      `--=_rel_${mark}`,
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      '<img src="cid:logo">',
      `--=_rel_${mark}`,
      'Content-Type: image/png',
      'Content-Transfer-Encoding: base64',
      'Content-ID: <logo>',
      'Content-Disposition: inline; filename="logo.png"',
      '',
      'cG5n',
      `--=_rel_${mark}--`,
      '',
      `--=_alt_${mark}--`,
      '',
      `--=_mix_${mark}`,
      'Content-Type: application/pdf',
      'Content-Transfer-Encoding: base64',
      "Content-Disposition: attachment; filename*=utf-8''r%C3%A9sum%C3%A9.pdf",
      '',
      'cGRm',
      `--=_mix_${mark}--`,
      '',
    ]);
  });

  it('are the same every time the email is composed', () => {
    const input = message({
      subject: 'ü'.repeat(500),
      html: '<p>ü</p>',
      attachments: [{ filename: 'a', content: base64('x') }],
    });

    expect(compose(input).equals(compose(input))).toBe(true);
  });
});

describe('composed headers', () => {
  it('keep a 2,000-character subject within lines of 998, and a long multi-word subject within lines of 76', async () => {
    const raws = ['x'.repeat(2000), 'word '.repeat(400).trim(), '用'.repeat(2000)].map((subject) => ({
      subject,
      raw: compose(message({ subject })),
    }));

    for (const { subject, raw } of raws) {
      wireLines(raw);
      expect((await readMail(raw)).subject).toBe(subject);
    }
    expect(Math.max(...headerLines(raws[1]?.raw ?? Buffer.from('')).map((line) => line.length))).toBeLessThanOrEqual(
      76,
    );
  });

  it.each([
    'family 👩‍👩‍👧‍👦 and flag 🏳️‍🌈',
    'שלום עולם \u202ertl\u202c',
    ' leading, trailing and  double spaces ',
    'tab\there',
    '=?UTF-8?Q?not_an_encoded_word?=',
    'a =?x y?= b',
    '',
    '用'.repeat(25),
    `${'a'.repeat(66)}é`,
  ])('contain the subject %j', async (subject) => {
    const raw = compose(message({ subject }));

    expect((await readMail(raw)).subject.trim()).toBe(subject.trim());
  });

  it('fold a 900-character token into lines of at most 998 without changing the token', async () => {
    const url = `<https://good.test/${'u'.repeat(880)}>`;
    const raw = compose(
      message({
        headers: {
          'X-Token': 't'.repeat(900),
          'List-Unsubscribe': `<mailto:u@good.test>, ${url}`,
          [`X-${'n'.repeat(74)}`]: 't'.repeat(940),
        },
      }),
    );

    const { headers } = await readMail(raw);
    wireLines(raw);
    expect(headers).toContainEqual(['X-Token', 't'.repeat(900)]);
    expect(headers).toContainEqual(['List-Unsubscribe', `<mailto:u@good.test>, ${url}`]);
    expect(headers).toContainEqual([`X-${'n'.repeat(74)}`, 't'.repeat(940)]);
  });

  it('encode values that are not ASCII, or too long for any line, as encoded-words', async () => {
    const headers = { 'X-Greeting': 'Grüße 👋', 'X-Endless': 'e'.repeat(3000), 'X-Lookalike': '=?utf-8?q?x?=' };
    const raw = compose(message({ headers }));

    wireLines(raw);
    expect((await readMail(raw)).headers).toEqual(expect.arrayContaining(Object.entries(headers)));
  });

  it('contain threading and list headers as given', () => {
    const lines = headerLines(
      compose(
        message({
          headers: {
            'In-Reply-To': '<a@good.test>',
            References: '<a@good.test> <b@good.test>',
            'List-Unsubscribe': '<https://good.test/u?q==?utf-8?Q?x?=>',
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          },
        }),
      ),
    );

    expect(lines).toEqual(
      expect.arrayContaining([
        'In-Reply-To: <a@good.test>',
        'References: <a@good.test> <b@good.test>',
        'List-Unsubscribe: <https://good.test/u?q==?utf-8?Q?x?=>',
        'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      ]),
    );
  });

  it('limit encoded-words to 75 characters and their lines to 76', () => {
    const lines = headerLines(
      compose(message({ subject: 'ä1 '.repeat(300), from: { ...mailbox('a@good.test'), name: 'Ünï '.repeat(100) } })),
    );

    for (const line of lines.filter((candidate) => candidate.includes('=?'))) {
      expect(line.length).toBeLessThanOrEqual(76);
      for (const word of line.match(/=\?[^ ]+\?=/g) ?? []) expect(word.length).toBeLessThanOrEqual(75);
    }
  });

  it('never mention blind copies, because compose accepts none', () => {
    expect(headerLines(compose(message())).join('\n')).not.toMatch(/bcc/i);
  });
});

describe('composed bodies', () => {
  it.each([
    ['lone dots', '.\n..\n\n.\n.leading\n'],
    ['CRLF around a dot', 'a\r\n.\r\nb\r\n'],
    ['lone carriage returns', 'a\rb\r\rc\n\rd\n'],
    ['a "From " line', 'From here\n>From there\nFrom\n'],
    ['a line of 5,000', `${'x'.repeat(5000)}\n`],
    ['blanks at the end of lines', 'a \nb\t\n \n'],
    ['equals signs', '=\n==\n=3D=_\n'],
    ['the boundary', '--=_alt_msg_01jabcdefghijklmnopqrstuvw_good_test--\n'],
    ['many scripts', 'Grüße 用户 привет 👋🏽\n'],
    ['cyrillic', `${'привет '.repeat(100)}\n`],
  ])('arrive unchanged: %s', async (_, body) => {
    const single = compose(message({ text: body }));
    const both = compose(message({ text: body, html: body }));

    const expected = body.replace(/\r\n?/g, '\n');
    wireLines(single);
    wireLines(both);
    expect((await readMail(single)).text).toBe(expected);
    const read = await readMail(both);
    expect([read.text, read.html]).toEqual([expected, expected]);
  });

  it('arrive unchanged in lines of at most 76, whatever precedes a line ending', async () => {
    const piece = fc.constantFrom(
      ' ',
      '\t',
      '\n',
      'a',
      'From ',
      '.',
      '=',
      'é',
      '€',
      '👋',
      'x'.repeat(36),
      'y'.repeat(74),
    );
    const body = fc
      .array(piece, { minLength: 1, maxLength: 40 })
      .map((pieces) => `é${pieces.join('')}${'z'.repeat(200)}\n`);
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const raw = compose(message({ text }));
        for (const line of wireLines(raw)) {
          expect(line.length).toBeLessThanOrEqual(76);
          expect(line).not.toMatch(/^(?:\.|From )|[ \t]$/);
        }
        expect((await readMail(raw)).text).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it('contain the text before the HTML', () => {
    const raw = compose(message({ text: 'TEXT', html: '<b>HTML</b>' })).toString();

    expect(raw).toContain('multipart/alternative');
    expect(raw.indexOf('TEXT')).toBeLessThan(raw.indexOf('<b>HTML'));
  });

  it('contain 5 MB of single-line HTML in folded lines', async () => {
    const html = '<p>Grüße</p>'.repeat(400_000);
    const raw = compose(message({ text: null, html }));

    wireLines(raw);
    expect((await readMail(raw)).html?.trimEnd() === html).toBe(true);
  });
});

describe('composed attachments', () => {
  it.each([
    ['multipart/mixed; boundary=x', 'application/octet-stream'],
    ['message/rfc822', 'application/octet-stream'],
    ['text/plain\r\nX-Evil: 1', 'application/octet-stream'],
    ['nonsense', 'application/octet-stream'],
    ['text/csv; charset=utf-8', 'text/csv'],
    [undefined, 'application/pdf'],
  ])('given as %j are sent as %s', async (content_type, expected) => {
    // Parsers guess from the name if there is no type, so only the attachment without a type gets a telling name.
    const filename = content_type === undefined ? 'report.pdf' : 'report';
    const raw = compose(message({ attachments: [{ filename, content: base64('x'), content_type }] }));

    const [attachment] = (await readMail(raw)).attachments;
    expect(attachment).toMatchObject({ filename, content_type: expected, size: 1 });
    expect(headerLines(raw).join('\n')).not.toContain('X-Evil');
  });

  it('are grouped with the HTML that displays them, or listed if there is no HTML', async () => {
    const attachments = [{ filename: 'l.png', content: base64('x'), content_id: 'logo' }];
    const withHtml = compose(message({ html: '<img src="cid:logo">', attachments }));
    const withoutHtml = compose(message({ attachments }));

    expect(withHtml.toString()).toContain('multipart/related');
    expect(withoutHtml.toString()).not.toContain('multipart/related');
    expect((await readMail(withHtml)).attachments[0]?.content_id).toBe('logo');
    expect((await readMail(withoutHtml)).attachments[0]?.filename).toBe('l.png');
  });
});

describe('every composed message', () => {
  it('survives a round trip through a mail parser', async () => {
    await fc.assert(
      fc.asyncProperty(outgoingMessages, async (input) => {
        const raw = compose(input);
        wireLines(raw);
        expect(compose(structuredClone(input)).equals(raw)).toBe(true);

        const read = await readMail(raw);
        const parsed = await simpleParser(raw, { keepCidLinks: true, skipTextLinks: true, skipTextToHtml: true });
        const people = (list: readonly Mailbox[]) => list.map(({ name, email }) => ({ name, email }));
        expect(read.subject).toBe(input.subject);
        expect(read.message_id).toBe(input.message_id);
        expect(read.date?.getTime()).toBe(Math.floor(input.date.getTime() / 1000) * 1000);
        expect([read.from]).toEqual(people([input.from]));
        expect(read.to).toEqual(people(input.to));
        expect(read.cc).toEqual(people(input.cc));
        expect(read.reply_to).toEqual(people(input.reply_to ? [input.reply_to] : []));
        expect(read.text).toBe(input.text?.replace(/\r\n?/g, '\n'));
        expect(read.html ?? '').toBe(input.html?.replace(/\r\n?/g, '\n'));
        for (const [name, value] of Object.entries(input.headers)) expect(read.headers).toContainEqual([name, value]);
        expect(parsed.attachments.map(({ filename, content }) => ({ filename, content }))).toEqual(
          input.attachments.map(({ filename, content }) => ({ filename, content: Buffer.from(content, 'base64') })),
        );
      }),
      { numRuns: 200 },
    );
  });
});
