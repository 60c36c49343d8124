import type { Outputs } from '../../../api/trpc.ts';
import { curlOf } from '../../../parts/calls/curl.ts';
import type { Email } from './email.ts';

/** Returns the request that sends the same email again, with a placeholder for the key. */
function requestOf(email: Email, content: Outputs['emails']['content']): Record<string, unknown> {
  const { html, text, headers } = content;
  return {
    from: email.from,
    to: email.to,
    ...(email.cc.length > 0 && { cc: email.cc }),
    ...(email.bcc.length > 0 && { bcc: email.bcc }),
    ...(email.reply_to !== null && { reply_to: email.reply_to }),
    subject: email.subject,
    ...(html !== null && { html }),
    ...(text !== null && { text }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(email.tags.length > 0 && { tags: email.tags }),
  };
}

export function asCurl(email: Email, content: Outputs['emails']['content']): string {
  return curlOf(requestOf(email, content));
}

/** GraphQL cannot send email, so the query reads the email instead. */
export function asGraphql({ id }: Email): string {
  return `query Email($id: ID!) {
  node(id: $id) {
    ... on Message {
      status subject from to createdAt deliveredAt
      recipients { nodes { address status attemptCount lastResponse waiting { __typename } } }
      attempts { nodes { number outcome mxHost smtpCode reply durationMs phases { phase ms } } }
    }
  }
}

${JSON.stringify({ id }, null, 2)}`;
}
