import type { FeedbackProvider } from './provider.ts';
import { brevo } from './providers/brevo.ts';
import { generic } from './providers/generic.ts';
import { mailgun } from './providers/mailgun.ts';
import { postmark } from './providers/postmark.ts';
import { resend } from './providers/resend.ts';
import { sendgrid } from './providers/sendgrid.ts';
import { ses } from './providers/ses.ts';

export const feedbackProviders = {
  generic,
  ses,
  postmark,
  sendgrid,
  mailgun,
  resend,
  brevo,
} as const satisfies Record<string, FeedbackProvider>;
export type ProviderName = keyof typeof feedbackProviders;
// The cast is safe because the keys of the table are its names.
export const providerNames = Object.keys(feedbackProviders) as [ProviderName, ...ProviderName[]];
