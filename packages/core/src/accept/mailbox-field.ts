import { type Mailbox, parseMailbox } from '@postrider/mail';
import { z } from 'zod';
import { issueFor } from '../operation/parse-input.ts';

const mailboxText = z.string().meta({
  description: 'One address: a@b.c or Name <a@b.c>.',
  examples: ['ada@example.com', 'Ada Lovelace <ada@example.com>'],
});

/** Parses one mailbox, as in from and reply_to. */
export function mailboxField(name: string) {
  return mailboxText.transform((text, context) => {
    const parsed = parseMailbox(text);
    if (parsed.ok) return parsed.mailbox;
    context.addIssue(issueFor('invalid_email', `${name}: ${parsed.message}`));
    return z.NEVER;
  });
}

/** Parses one or more mailboxes, as in to, cc and bcc; an error names the index. */
export function mailboxListField(name: string, max: number) {
  return z
    .union([mailboxText, z.array(mailboxText).meta({ maxItems: max })], {
      error: (issue) => mixedList(name, issue.input),
    })
    .transform((value, context) => {
      const texts = typeof value === 'string' ? [value] : value;
      if (texts.length > max) {
        context.addIssue(
          issueFor('too_many_recipients', `${name} has ${texts.length} addresses. The maximum is ${max}.`),
        );
        return z.NEVER;
      }
      const mailboxes: Mailbox[] = [];
      texts.forEach((text, index) => {
        const parsed = parseMailbox(text);
        if (parsed.ok) mailboxes.push(parsed.mailbox);
        else {
          const [param, path] = typeof value === 'string' ? [name, []] : [`${name}[${index}]`, [index]];
          context.addIssue(issueFor('invalid_email', `${param}: ${parsed.message}`, path));
        }
      });
      return mailboxes;
    });
}

function mixedList(name: string, input: unknown): string {
  return input === undefined ? `${name} is required.` : `${name} must be a string or an array of strings.`;
}
