import { parseMailbox } from '@postrider/mail';
import { z } from 'zod';
import { issueFor } from '../operation/parse-input.ts';

/** One address without a display name, with its domain in the canonical form in which recipients are stored. */
export const addressField = z
  .string()
  .meta({ description: 'One address, without a display name.', examples: ['ada@example.com'] })
  .transform((text, context) => {
    const parsed = parseMailbox(text);
    if (parsed.ok && parsed.mailbox.name === null) return parsed.mailbox.email;
    const message = parsed.ok ? 'Use only the address, such as a@example.com.' : parsed.message;
    context.addIssue(issueFor('invalid_email', `email: ${message}`));
    return z.NEVER;
  });
