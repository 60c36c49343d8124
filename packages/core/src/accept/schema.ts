import { headerProblem, holdsControl } from '@postrider/mail';
import { z } from 'zod';
import { absentable, absentableOr } from '../fields/absentable.ts';
import { scalarText } from '../fields/scalar-text.ts';
import { timestampField } from '../fields/timestamp-field.ts';
import type { Reason } from '../operation/errors.ts';
import { issueFor } from '../operation/parse-input.ts';
import { refuseMisplaced } from '../operation/unexpected-names.ts';
import { priorityField } from '../priorities/index.ts';
import { attachmentSchema, decodedLength } from './attachment-field.ts';
import { mailboxField, mailboxListField } from './mailbox-field.ts';

const MAX_TO = 50;
// Above the cap of every plan.
const MAX_COPIES = 1000;
const MAX_TAGS = 5;
const MAX_METADATA = 20;
const MAX_HEADERS = 50;
const MAX_HEADER_BYTES = 32 * 1024;
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const MAX_TAG_LENGTH = 128;
const NOT_PRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** The errors of sendSchema's own rules. */
export const contentReasons: readonly Reason[] = [
  'misplaced_field',
  'invalid_email',
  'too_many_recipients',
  'no_content',
  'too_many_tags',
  'invalid_tag',
  'invalid_header',
  'reserved_header',
  'invalid_timestamp',
];

const subject = z
  .string()
  .max(5000)
  .refine((text) => !holdsControl(text), 'must not contain line breaks or control characters other than TAB')
  .meta({ description: 'Without line breaks or control characters other than TAB.' });

const headers = z
  .record(z.string(), scalarText)
  .superRefine((pairs, context) => {
    const entries = Object.entries(pairs);
    if (entries.length > MAX_HEADERS) {
      context.addIssue(
        issueFor('invalid_header', `headers has ${entries.length} entries. The maximum is ${MAX_HEADERS}.`),
      );
      return;
    }
    const bytes = entries.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
    if (bytes > MAX_HEADER_BYTES) context.addIssue(issueFor('invalid_header', 'headers is larger than 32 kB.'));
    const names = new Set<string>();
    for (const [name, value] of entries) {
      const plain = name.toLowerCase();
      if (names.has(plain)) context.addIssue(issueFor('invalid_header', `${name} is set twice. Keep one.`, [name]));
      names.add(plain);
      const problem = headerProblem(name, value);
      if (problem)
        context.addIssue(
          issueFor(problem.kind === 'reserved' ? 'reserved_header' : 'invalid_header', problem.message, [name]),
        );
    }
  })
  .meta({
    maxProperties: MAX_HEADERS,
    examples: [{ 'List-Unsubscribe': '<https://example.com/unsubscribe>' }],
  });

const tags = z
  .array(z.string().meta({ minLength: 1, maxLength: MAX_TAG_LENGTH }))
  .superRefine((value, context) => {
    if (value.length > MAX_TAGS) {
      context.addIssue(issueFor('too_many_tags', `tags has ${value.length} entries. The maximum is ${MAX_TAGS}.`));
      return;
    }
    value.forEach((tag, index) => {
      const problem = tagProblem(tag);
      if (problem !== null) context.addIssue(issueFor('invalid_tag', `tags[${index}] ${problem}.`, [index]));
    });
  })
  .meta({
    maxItems: MAX_TAGS,
    examples: [['receipt'], ['Spring sale 2030', 'orders/paid']],
  });

/** Returns the problem with a tag, or null. Length is counted in code points, as in JSON Schema. */
function tagProblem(tag: string): string | null {
  if (tag === '') return 'must not be empty';
  if (tag.length > MAX_TAG_LENGTH && [...tag].length > MAX_TAG_LENGTH)
    return `must be at most ${MAX_TAG_LENGTH} characters long`;
  return NOT_PRINTABLE.test(tag) ? 'must not contain line breaks or other control characters' : null;
}

const metadata = z
  .record(
    z.string().min(1).max(64),
    scalarText.refine((text) => text.length <= 500, 'must be at most 500 characters long'),
  )
  .refine((value) => Object.keys(value).length <= MAX_METADATA, `has more than ${MAX_METADATA} pairs`)
  .meta({
    maxProperties: MAX_METADATA,
    examples: [{ order: '1815' }],
  });

const plainExample = {
  from: 'Engine News <news@example.com>',
  to: 'ada@example.net',
  subject: 'Your receipt',
  text: 'Thank you for your order.',
};
const fullExample = {
  ...plainExample,
  to: ['Ada Lovelace <ada@example.net>', 'charles@example.net'],
  cc: ['archive@example.com'],
  html: '<p>Thank you for your order.</p>',
  reply_to: 'help@example.com',
  headers: { 'X-Order': '1815' },
  tags: ['receipt'],
  metadata: { order: '1815' },
  attachments: [{ filename: 'receipt.txt', content: 'SGVsbG8=', content_type: 'text/plain' }],
};

/** Whether the content is retained once no recipient is open. */
export const retains = ['default', 'none'] as const;
export type Retain = (typeof retains)[number];

export const retainField = z.enum(retains).meta({
  id: 'Retain',
  description:
    'none: html, text and attachments are deleted within a minute of the last attempt; the log, events and ' +
    'attempts are kept.',
});

/** Description of every scheduled_at field. */
export const SCHEDULE =
  'ISO 8601, UTC if there is no offset, up to 366 days ahead. A time up to 60 seconds in the past means now.';

const SCHEDULED_AT = 'is not a field; use scheduled_at';
const NO_TEMPLATES = 'is not a field; templates are not supported, so render the email and send it as html or text';

/** Field names used by other services. Silently ignoring them would send a message other than the one requested. */
export const misplacedInSend = {
  dry_run: 'dry_run is a query parameter: POST /v1/email/send?dry_run=true.',
  send_at: `send_at ${SCHEDULED_AT}.`,
  schedule: `schedule ${SCHEDULED_AT}.`,
  idempotency_key: 'idempotency_key is a header: Idempotency-Key.',
  template: `template ${NO_TEMPLATES}.`,
  template_id: `template_id ${NO_TEMPLATES}.`,
} as const;

const sendFields = z.object({
  from: mailboxField('from').meta({
    description: 'The sender, a@b.c or Name <a@b.c>. The workspace must have verified its domain.',
  }),
  to: mailboxListField('to', MAX_TO)
    .refine((list) => list.length > 0, {
      message: 'to is empty. Add at least one recipient.',
      params: { reason: 'missing_field' },
    })
    .meta({
      description: `Up to ${MAX_TO} addresses, each a@b.c or Name <a@b.c>. The plan limits the total across to, cc and bcc.`,
    }),
  subject,
  html: absentable(z.string()).meta({ description: 'At least one of html and text must not be empty.' }),
  text: absentable(z.string()).meta({ description: 'Derived from html by default.' }),
  cc: absentableOr(mailboxListField('cc', MAX_COPIES), []).meta({
    description: 'Addresses for the Cc header, each a@b.c or Name <a@b.c>.',
  }),
  bcc: absentableOr(mailboxListField('bcc', MAX_COPIES), []).meta({ description: 'Not added to the headers.' }),
  reply_to: absentable(mailboxField('reply_to')).meta({
    description: 'The address for replies, a@b.c or Name <a@b.c>.',
  }),
  headers: absentableOr(headers, {}).meta({
    description: 'Custom headers. Headers that Postrider sets, such as Date or Content-Type, are rejected.',
  }),
  tags: absentableOr(tags, []).meta({
    description: 'Labels for filtering the log. Any printable text, case-sensitive.',
  }),
  metadata: absentableOr(metadata, {}).meta({
    description: 'Your own key-value pairs, returned as text in the log and in events.',
  }),
  attachments: absentableOr(z.array(attachmentSchema).max(100), []).meta({
    description: 'At most 10 MiB decoded, including html and text.',
  }),
  scheduled_at: absentable(timestampField('scheduled_at', true)).meta({ description: SCHEDULE }),
  priority: absentableOr(priorityField, 'normal' as const).meta({
    description: 'Priority among the emails of the workspace that wait for a destination.',
  }),
  retain: absentableOr(retainField, 'default' as const).meta({
    description: 'none: the content is deleted within a minute of the last attempt.',
  }),
});

/** The body of a send request. A null field counts as absent. */
export const sendSchema = refuseMisplaced(
  sendFields
    .refine((message) => hasContent(message.html) || hasContent(message.text), {
      message: 'Give html or text, or both; at least one must not be empty.',
      params: { reason: 'no_content' },
      path: ['html'],
      // Also runs when other fields are invalid, so that one response lists every mistake.
      when: ({ value }) => typeof value === 'object' && value !== null && !Array.isArray(value),
    })
    .refine((message) => messageBytes(message) <= MAX_MESSAGE_BYTES, {
      message: 'html, text and attachments together are larger than 10 MiB.',
      params: { reason: 'body_too_large' },
      path: ['attachments'],
    })
    .meta({ id: 'SendRequest', examples: [plainExample, fullExample] }),
  misplacedInSend,
);
export type SendInput = z.output<typeof sendSchema>;

/** Returns whether a body has content. A body of the wrong type counts as content here; it is rejected separately. */
function hasContent(body: unknown): boolean {
  return body !== undefined && body !== null && body !== '';
}

interface Bodies {
  readonly html?: string | undefined;
  readonly text?: string | undefined;
  readonly attachments: readonly { readonly content: string }[];
}

export function messageBytes(message: Bodies): number {
  const bodies = Buffer.byteLength(message.html ?? '') + Buffer.byteLength(message.text ?? '');
  return message.attachments.reduce((sum, attachment) => sum + decodedLength(attachment.content), bodies);
}
