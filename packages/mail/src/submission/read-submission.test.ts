import { describe, expect, it } from 'vitest';
import { readSubmission } from './read-submission.ts';

const people = ['From: Shop <a@good.test>', 'To: ada@example.com', 'Subject: S'];
const read = (lines: readonly string[], recipients: readonly string[] = ['ada@example.com']) =>
  readSubmission(Buffer.from(lines.join('\r\n'), 'latin1'), recipients);

/** Builds a multipart body; each part consists of its header lines and a body. */
function multipart(kind: string, parts: readonly (readonly string[])[], boundary = `b-${kind}`): string[] {
  return [
    `Content-Type: multipart/${kind}; boundary="${boundary}"`,
    '',
    ...parts.flatMap((part) => [`--${boundary}`, ...part]),
    `--${boundary}--`,
    '',
  ];
}
const text = (body: string) => ['Content-Type: text/plain; charset=utf-8', '', body];
const html = (body: string) => ['Content-Type: text/html; charset=utf-8', '', body];
const file = (type: string, ...fields: string[]) => [
  `Content-Type: ${type}`,
  'Content-Disposition: attachment; filename="f.bin"',
  ...fields,
  '',
  'x',
];

async function fieldsOf(lines: readonly string[], recipients?: readonly string[]) {
  const submission = await read([...people, ...lines], recipients);
  return submission.kind === 'fields' ? submission.fields : { refused: submission.why };
}

async function reasonOf(lines: readonly string[], recipients?: readonly string[]) {
  const submission = await read([...people, ...lines], recipients);
  return submission.kind === 'refused' ? submission.why : JSON.stringify(submission.fields);
}

describe('an email that can be expressed in API fields', () => {
  it('has its text and HTML, wherever the alternatives occur in the structure', async () => {
    const body = multipart('alternative', [text('Hi'), multipart('related', [html('<p>Hi</p>')])]);

    expect(await fieldsOf(multipart('mixed', [body]))).toMatchObject({ text: 'Hi', html: '<p>Hi</p>' });
  });

  it('has no text if it is HTML-only, so text is generated from the HTML', async () => {
    expect(await fieldsOf(html('<p>Hi</p>'))).toEqual({
      from: 'Shop <a@good.test>',
      to: ['ada@example.com'],
      subject: 'S',
      html: '<p>Hi</p>',
    });
  });

  it('keeps an attachment’s parameters and declared type', async () => {
    const parts = [
      text('Hi'),
      file('text/plain; charset=iso-8859-1; name="f.bin"'),
      file('text/calendar; method=REQUEST; charset="utf-8"'),
      ['Content-Type: application/octet-stream', 'Content-Disposition: attachment; filename=f.pdf', '', 'x'],
    ];

    const { attachments } = (await fieldsOf(multipart('mixed', parts))) as { attachments: { content_type: string }[] };

    expect(attachments.map(({ content_type }) => content_type)).toEqual([
      'text/plain; charset=iso-8859-1',
      'text/calendar; method=REQUEST; charset=utf-8',
      'application/octet-stream',
    ]);
  });

  it('displays an image referenced in its HTML, even outside a multipart/related', async () => {
    const parts = [
      html('<img src="cid:logo%40shop">'),
      file('image/png', 'Content-ID: <logo@shop>'),
      file('image/png', 'Content-ID: <unused@shop>'),
    ];

    const { attachments } = (await fieldsOf(multipart('mixed', parts))) as { attachments: object[] };

    expect(attachments[0]).toHaveProperty('content_id', 'logo@shop');
    expect(attachments[1]).not.toHaveProperty('content_id');
  });

  it('may end with blank text, such as after an attachment', async () => {
    const parts = [text('Hi'), file('application/pdf'), text('\r\n')];

    expect(await fieldsOf(multipart('mixed', parts))).toMatchObject({ text: 'Hi' });
  });

  it('may use a charset other than UTF-8', async () => {
    expect(await fieldsOf(['Content-Type: text/plain; charset=iso-8859-15', '', '5 \xA4'])).toMatchObject({
      text: '5 €',
    });
  });

  it('may have a Unicode domain that is written in ASCII in the envelope', async () => {
    const headers = ['From: a@good.test', `To: ada@${Buffer.from('bücher').toString('latin1')}.example`, 'Subject: S'];

    expect(await read([...headers, '', 'Hi'], ['ada@xn--bcher-kva.example'])).toMatchObject({ kind: 'fields' });
  });

  it('combines the tags from all X-Tags headers', async () => {
    expect(await fieldsOf(['X-Tags: receipt, shop', 'X-Tags: spring,', '', 'Hi'])).toMatchObject({
      tags: ['receipt', 'shop', 'spring'],
    });
  });

  it('treats recipients not listed in any header field as blind copies', async () => {
    expect(await fieldsOf(['', 'Hi'], ['ADA@example.com', 'eve@example.com'])).toMatchObject({
      to: ['ada@example.com'],
      bcc: ['eve@example.com'],
    });
  });
});

describe('an email that the API fields cannot express', () => {
  it.each([
    ['a signature below another part', multipart('mixed', [multipart('signed', [text('Hi')])]), 'multipart/signed'],
    ['encryption below', multipart('mixed', [multipart('encrypted', [text('Hi')])]), 'multipart/encrypted'],
    ['S/MIME', file('application/x-pkcs7-mime'), 'application/x-pkcs7-mime'],
    ['an attached mail', multipart('mixed', [text('Hi'), file('message/rfc822')]), 'message/rfc822'],
    ['an attached mail of SMTPUTF8', multipart('mixed', [text('Hi'), file('message/global')]), 'message/global'],
    ['a report', multipart('report', [text('Hi')]), 'multipart/report'],
    ['a calendar', multipart('alternative', [text('Hi'), ['Content-Type: text/calendar', '', 'B']]), 'text/calendar'],
    [
      'a calendar among parts',
      multipart('mixed', [text('Hi'), ['Content-Type: text/calendar', '', 'B']]),
      'text/calendar',
    ],
    ['AMP', multipart('alternative', [text('Hi'), ['Content-Type: text/x-amp-html', '', 'B']]), 'text/x-amp-html'],
    ['an alternative that is a file', multipart('alternative', [text('Hi'), file('image/png')]), 'image/png'],
  ])('is rejected for an unsupported type: %s', async (_, lines, type) => {
    expect(await reasonOf(lines)).toMatch(
      new RegExp(`^(?:a part|an alternative) of type ${type.replace('.', '\\.')}.*cannot be carried unchanged`),
    );
  });

  it.each([
    ['two texts', multipart('mixed', [text('Hi'), file('image/png'), text('Footer')]), '2 bodies of type text/plain'],
    ['text and HTML that are no alternatives', multipart('mixed', [text('Hi'), html('<p>')]), 'are not alternatives'],
    ['a charset that is unknown', ['Content-Type: text/plain; charset=x-none', '', 'Hi'], 'charset x-none'],
    ['bytes that are not UTF-8', ['Content-Type: text/plain', '', 'Gr\xFC\xDFe'], 'use UTF-8'],
    ['a field that objects have', ['__proto__: a', '', 'Hi'], '__proto__ cannot be kept'],
    ['two keys', ['Idempotency-Key: a', 'Idempotency-Key: b', '', 'Hi'], 'idempotency-key is set twice'],
    ['two times', ['X-Scheduled-At: a', 'X-Scheduled-At: b', '', 'Hi'], 'x-scheduled-at is set twice'],
    ['two X-Metadata', ['X-Metadata: {}', 'X-Metadata: {}', '', 'Hi'], 'x-metadata is set twice'],
    ['an address that is none', ['Cc: Bob', '', 'Hi'], '"Bob" in To or Cc is not a valid address'],
    ['two addresses to answer', ['Reply-To: b@good.test, c@good.test', '', 'Hi'], 'Reply-To has two addresses'],
    ['another Sender', ['Sender: b@good.test', '', 'Hi'], 'Sender differs from From'],
  ])('is rejected for %s', async (_, lines, reason) => {
    expect(await reasonOf(lines)).toContain(reason);
  });
});
