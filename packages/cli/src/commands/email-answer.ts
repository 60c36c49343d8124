import { z } from 'zod';
import { plain } from '../terminal/terminal.ts';

const recipient = z.looseObject({
  email: z.string(),
  kind: z.string(),
  status: z.string(),
  attempts: z.number(),
  last_response: z.string().nullable(),
  waiting: z
    .looseObject({
      reason: z.string(),
      until: z.string().nullish(),
      hold: z.looseObject({ id: z.string(), reason: z.string() }).nullish(),
      policy: z
        .looseObject({
          kind: z.string(),
          destination: z.string().nullish(),
          messages_per_minute: z.number().nullish(),
        })
        .nullish(),
      since: z.string().nullish(),
      ahead: z.number().nullish(),
      eta_seconds: z.number().nullish(),
    })
    .nullish(),
});

/** The printed fields of a log entry; --json prints all of them. */
export const emailEntry = z.looseObject({
  id: z.string(),
  status: z.string(),
  from: z.string(),
  to: z.array(z.string()),
  subject: z.string(),
  created_at: z.string(),
  recipients: z.array(recipient),
});
export type EmailEntry = z.output<typeof emailEntry>;

export const emailDetail = emailEntry.extend({
  events: z.array(z.looseObject({ type: z.string(), created_at: z.string(), recipient_id: z.string().nullable() })),
});
export type EmailDetail = z.output<typeof emailDetail>;

export const emailPage = z.looseObject({
  data: z.array(emailEntry),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
});

export function entryLine(entry: EmailEntry): string {
  const others = entry.to.length > 1 ? ` and ${entry.to.length - 1} more` : '';
  const to = `${plain(entry.to[0] ?? '(blind copies)')}${others}`;
  return `${entry.created_at}  ${entry.id}  ${entry.status.padEnd(9)}  ${to}  ${plain(entry.subject)}`;
}
